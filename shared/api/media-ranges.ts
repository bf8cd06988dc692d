import type { HttpRequest } from '../ports/http-handler.ts'

/** One range of an Accept header. */
export interface MediaRange {
  readonly type: string
  readonly parameters: Readonly<Record<string, string | undefined>>
}

/**
 * The ranges that a request accepts, the one that it wants most first: by weight, and then what is named before what is
 * meant by a star. Source: kubernetes, `ParseAccept` of goautoneg.
 */
export function acceptedRanges(request: HttpRequest): readonly MediaRange[] {
  const ranges = (request.header('accept') ?? '').split(',').map(readRange)
  if (ranges.length === 1) return ranges
  return ranges.toSorted((one, other) => (comesFirst(one, other) ? -1 : comesFirst(other, one) ? 1 : 0))
}

interface WeighedRange extends MediaRange {
  readonly weight: number
}

function readRange(text: string): WeighedRange {
  const [name = '', ...rest] = text.split(';')
  const { q, ...parameters } = Object.fromEntries(
    rest.map((parameter) => parameter.split('=', 2).map((part) => part.trim())),
  ) as Record<string, string | undefined>
  const type = name.trim().toLowerCase()
  return { type: type === '*' ? '*/*' : type, parameters, weight: q === undefined ? 1 : Number(q) || 0 }
}

function comesFirst(one: WeighedRange, other: WeighedRange): boolean {
  const isNamed = (end: string): boolean => !one.type.includes(end) && other.type.includes(end)
  return one.weight > other.weight || isNamed('*/') || isNamed('/*')
}
