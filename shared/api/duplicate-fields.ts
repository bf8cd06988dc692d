import { isObject, type Json } from '../model/json.ts'
import { isName, pathOfSteps, scanJson, type JsonPlace } from './json-scan.ts'

const faults = new WeakMap<object, readonly string[]>()

/** Remembers with a body what is wrong with its text, and harms nothing. */
export function noteFaults(body: Json, found: readonly string[]): void {
  if (found.length > 0 && typeof body === 'object' && body !== null) faults.set(body, found)
}

export function faultsOf(body: object): readonly string[] {
  return faults.get(body) ?? none
}

/** Remembers with a body what its text says twice. */
export function noteDuplicates(text: string, body: Json): void {
  const found = findDuplicateFields(text, body)
  if (found.length > 0)
    noteFaults(
      body,
      found.map((field) => `duplicate field "${field}"`),
    )
}

/**
 * Fields that a JSON text names twice in one object, by their paths: JSON.parse keeps the last of them without a word.
 * Most texts cost a count: as many names as fields, and there is none twice.
 */
function findDuplicateFields(text: string, value: unknown): readonly string[] {
  return countNames(text) === countFields(value) ? none : scan(text)
}

const none: readonly string[] = []
/** As many as a reply has room for. */
const duplicatesMax = 100

/** No fewer than there are: a text may hold what looks like a name. */
function countNames(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) if (isName(text, at + 1)) count++
  return count
}

function countFields(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countFields(item), 0)
  if (!isObject(value)) return 0
  let count = 0
  for (const name in value) count += 1 + countFields(value[name])
  return count
}

function scan(text: string): readonly string[] {
  const found = new Set<string>()
  const names = new WeakMap<JsonPlace, Set<string | number>>()
  // Of many names most are in the object that the name ahead of them is in.
  let last: { readonly place: JsonPlace; readonly names: Set<string | number> } | undefined
  const namesAt = (place: JsonPlace): Set<string | number> => {
    if (last?.place === place) return last.names
    const known = names.get(place) ?? new Set()
    names.set(place, known)
    last = { place, names: known }
    return known
  }
  scanJson(text, {
    name: (places) => {
      const place = places.at(-1)
      if (place === undefined) return
      const before = namesAt(place)
      const { size } = before
      before.add(place.step())
      if (before.size === size && found.size < duplicatesMax) found.add(pathOfSteps(places.map((one) => one.step())))
    },
  })
  return [...found]
}
