import type { Json, JsonObject } from '../json.ts'
import { ValueMap, type Result, type Value } from './value.ts'

/** JSON without a schema as expressions see it: whole numbers are ints, and an object is a map of its fields. */
export function readUntyped(json: Json | undefined): Value {
  if (json === undefined || json === null) return null
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json
  if (typeof json !== 'object') return json
  return Array.isArray(json) ? json.map(readUntyped) : new UntypedMap(json)
}

/** Each field is read once. */
class UntypedMap extends ValueMap {
  readonly #json: JsonObject
  readonly #known = new Map<string, Value>()

  constructor(json: JsonObject) {
    super()
    this.#json = json
  }

  get size(): number {
    return this.keys().length
  }

  get(key: Value): Result | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#json, key) || this.#json[key] === undefined) return undefined
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const value = readUntyped(this.#json[key])
    this.#known.set(key, value)
    return value
  }

  keys(): readonly string[] {
    return Object.keys(this.#json).filter((name) => this.#json[name] !== undefined)
  }
}

/** A map whose values are computed when they are asked for, each once. */
export class LazyMap extends ValueMap {
  readonly #compute: ReadonlyMap<string, () => Result>
  readonly #known = new Map<string, Result>()

  constructor(compute: ReadonlyMap<string, () => Result>) {
    super()
    this.#compute = compute
  }

  get size(): number {
    return this.#compute.size
  }

  get(key: Value): Result | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const value = this.#compute.get(key)?.()
    if (value !== undefined) this.#known.set(key, value)
    return value
  }

  keys(): readonly string[] {
    return [...this.#compute.keys()]
  }
}
