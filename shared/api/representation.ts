import { OperatingError } from '../model/errors.ts'
import type { HttpRequest } from '../ports/http-handler.ts'
import { acceptedRanges, type MediaRange } from './media-ranges.ts'
import { flag, textParameter } from './query.ts'

/**
 * The forms in which a client may ask for objects: as they are, their metadata alone, or as a table of printer columns.
 */
export type Representation =
  | { readonly as: 'object' }
  | { readonly as: 'metadata'; readonly version: MetaVersion }
  | { readonly as: 'table'; readonly version: MetaVersion; readonly include: IncludeObject }

export type MetaVersion = 'v1' | 'v1beta1'
/** How much of its object a row of a table carries. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

/** The form that the Accept header wants most of those that are served. Throws NOT_ACCEPTABLE if there is none. */
export function representationOf(request: HttpRequest): Representation {
  const accept = request.header('accept')
  if (accept === undefined || accept === '' || accept === 'application/json') return asObject
  for (const range of acceptedRanges(request)) {
    const served = representation(range, request.query)
    if (served !== undefined) return served
  }
  throw notAcceptable()
}

const asObject: Representation = { as: 'object' }

function representation({ type, parameters }: MediaRange, query: URLSearchParams): Representation | undefined {
  if (type === 'application/yaml') return flag(query, 'watch') ? undefined : asObject
  if (!jsonTypes.includes(type)) return undefined
  const { as, g: group, v: version } = parameters
  if (as === undefined) return asObject
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as === 'Table') return { as: 'table', version, include: includeObject(query) }
  return as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList' ? { as: 'metadata', version } : undefined
}

/** What JSON is an answer to. */
export const jsonTypes: readonly string[] = ['application/json', '*/*', 'application/*']

function includeObject(query: URLSearchParams): IncludeObject {
  const value = textParameter(query, 'includeObject') ?? 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  throw new OperatingError(
    'BAD_REQUEST',
    `unrecognized includeObject value: ${JSON.stringify(value)}; use None, Metadata or Object`,
  )
}

/** NOT_ACCEPTABLE in Kubernetes' words. */
function notAcceptable(): OperatingError {
  return new OperatingError(
    'NOT_ACCEPTABLE',
    'only the following media types are accepted: application/json, application/yaml',
  )
}
