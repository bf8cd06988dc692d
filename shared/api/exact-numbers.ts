import { OperatingError } from '../model/errors.ts'
import { isObject } from '../model/json.ts'
import { pathOfSteps, scanJson, type JsonStep } from './json-scan.ts'

/**
 * Numbers are doubles here, and integers of 64 bits are more than doubles keep. What would come back as another number
 * is refused; fractions are doubles in Kubernetes too.
 */

/**
 * Throws BAD_REQUEST for JSON with a number that cannot be kept, naming its path. The text is known to be JSON of
 * little depth.
 */
export function refuseInexact(text: string): void {
  if (!mayBeInexact.test(text)) return
  scanJson(text, {
    number: (from, to, places) => {
      if (to - from < inexactMin || isKept(text.slice(from, to))) return
      const steps = places.map((place) => place.step())
      if (!isBound(steps)) refuse(steps)
    },
  })
}

/** Of most bodies this is all that the check costs: a number of so many digits, or so high an exponent, is rare. */
const mayBeInexact = /(?:^|[\s:[,])-?(?:\d{16}|[\d.]+[eE]\+?\d{3})/
/** The shortest is 1e309. */
const inexactMin = 5

/** Stands in a parsed body for a number that cannot be kept. */
class Inexact {
  readonly written: string

  constructor(written: string) {
    this.written = written
  }
}

function isKept(written: string, value = Number(written)): boolean {
  const isSame = Number.isFinite(value) && (!/^-?\d+$/.test(written) || String(value) === written)
  return isSame || Number.isSafeInteger(value)
}

/** For the YAML parser, which is asked for integers as bigints: they become numbers where they can. */
export function exactNumber(_key: unknown, value: unknown): unknown {
  if (typeof value !== 'bigint' && typeof value !== 'number') return value
  const [number, written] = [Number(value), String(value)]
  return isKept(written, number) ? number : new Inexact(written)
}

/** The value, if all its numbers were kept. Throws BAD_REQUEST. */
export function keepExactly<Value>(value: Value): Value {
  return keepNumbers(value, []) as Value
}

/** `steps` is as it was when this returns. */
function keepNumbers(value: unknown, steps: JsonStep[]): unknown {
  if (value instanceof Inexact) return isBound(steps) ? Number(value.written) : refuse(steps)
  const keepAt = (step: JsonStep, below: unknown): unknown => {
    steps.push(step)
    const kept = keepNumbers(below, steps)
    steps.pop()
    return kept
  }
  if (Array.isArray(value)) return value.map((item, i) => keepAt(i, item))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, keepAt(name, field)]))
}

/**
 * In the schema of a definition, which has doubles for them in Kubernetes too: the bounds of 64 bits are often written
 * there.
 */
function isBound(steps: readonly JsonStep[]): boolean {
  const [spec, versions, number, schema] = steps
  const isInSchema = spec === 'spec' && versions === 'versions' && typeof number === 'number' && schema === 'schema'
  return isInSchema && steps.length > 5 && bounds.has(steps.at(-1))
}

const bounds: ReadonlySet<unknown> = new Set(['minimum', 'maximum', 'multipleOf'])

/** The number is not told: it may be a Secret's. */
function refuse(steps: readonly JsonStep[]): never {
  const field = pathOfSteps(steps)
  const message = 'it is a number that cannot be kept exactly; write it as a string'
  throw new OperatingError('BAD_REQUEST', `${field || 'the body'}: ${message}`, {
    details: { causes: [{ reason: 'FieldValueInvalid', field, message }] },
  })
}
