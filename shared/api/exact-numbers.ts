import { OperatingError } from '../model/errors.ts'
import { isObject } from '../model/json.ts'
import { child, entry } from '../model/schema/field-error.ts'

/**
 * Numbers are doubles here, and integers of 64 bits are more than doubles keep. What would come back as another number
 * is refused; fractions are doubles in Kubernetes too.
 */

/**
 * Throws BAD_REQUEST for JSON with a number that cannot be kept, naming its path. The text is known to be JSON of
 * little depth.
 */
export function refuseInexact(text: string): void {
  if (mayBeInexact.test(text)) keepExactly(parseWithSource(text, markInexact))
}

/** Of most bodies this is all that the check costs: a number of so many digits, or so high an exponent, is rare. */
const mayBeInexact = /[\s:[,]-?(?:\d{16}|[\d.]+[eE]\+?\d{3})/

type Reviver = (key: string, value: unknown, context: { readonly source: string }) => unknown
// oxlint-disable-next-line no-restricted-properties -- only numbers are looked at
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown

/** Stands in a parsed body for a number that cannot be kept. */
class Inexact {
  readonly written: string

  constructor(written: string) {
    this.written = written
  }
}

function markInexact(_key: string, value: unknown, { source }: { readonly source: string }): unknown {
  return typeof value === 'number' ? exactly(value, source) : value
}

function exactly(value: number, written: string): number | Inexact {
  const isKept = Number.isFinite(value) && (!/^-?\d+$/.test(written) || String(value) === written)
  return isKept || Number.isSafeInteger(value) ? value : new Inexact(written)
}

/** For the YAML parser, which is asked for integers as bigints: they become numbers where they can. */
export function exactNumber(_key: unknown, value: unknown): unknown {
  return typeof value === 'bigint' || typeof value === 'number' ? exactly(Number(value), String(value)) : value
}

/** The value, if all its numbers were kept. Throws BAD_REQUEST. */
export function keepExactly<Value>(value: Value): Value {
  return keepNumbers(value, { path: '', name: '', belowSchema: undefined }) as Value
}

/** A place in a body. To read its whole path at each takes time by the length of all paths. */
interface Place {
  readonly path: string
  readonly name: string
  /** Of a place in the schema of a definition: how many steps below it. */
  readonly belowSchema: number | undefined
}

function keepNumbers(value: unknown, place: Place): unknown {
  if (value instanceof Inexact) return isBound(place) ? Number(value.written) : refuse(place.path)
  if (Array.isArray(value)) return value.map((item, i) => keepNumbers(item, stepTo(place, entry(place.path, i), '')))
  if (!isObject(value)) return value
  const below = (name: string): Place => stepTo(place, child(place.path, name), name)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, keepNumbers(field, below(name))]))
}

function stepTo({ belowSchema: above }: Place, path: string, name: string): Place {
  if (above !== undefined) return { path, name, belowSchema: above + 1 }
  return { path, name, belowSchema: isSchema(name, path) ? 0 : undefined }
}

function isSchema(name: string, path: string): boolean {
  return name === 'schema' && path.length < schemaPathMax && schemaPath.test(path)
}

const schemaPathMax = 40
const schemaPath = /^spec\.versions\[\d+\]\.schema$/

/**
 * In the schema of a definition, which has doubles for them in Kubernetes too: the bounds of 64 bits are often written
 * there.
 */
function isBound({ name, belowSchema = 0 }: Place): boolean {
  return belowSchema > 1 && bounds.has(name)
}

const bounds: ReadonlySet<string> = new Set(['minimum', 'maximum', 'multipleOf'])

/** The number is not told: it may be a Secret's. */
function refuse(field: string): never {
  const message = 'it is a number that cannot be kept exactly; write it as a string'
  throw new OperatingError('BAD_REQUEST', `${field}: ${message}`, {
    details: { causes: [{ reason: 'FieldValueInvalid', field, message }] },
  })
}
