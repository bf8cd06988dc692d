import type { Json, JsonObject } from '../json.ts'
import { ValueMap, type Result, type Value } from './value.ts'

/** JSON without a schema as expressions see it: whole numbers are ints, and an object is a map of its fields. */
export function readUntyped(json: Json | undefined): Value {
  if (json === undefined || json === null) return null
  if (typeof json === 'number') return Number.isSafeInteger(json) ? BigInt(json) : json
  if (typeof json !== 'object') return json
  return Array.isArray(json) ? json.map(readUntyped) : new UntypedMap(json)
}

/** A map whose values are read when they are asked for, each once. */
abstract class ReadOnceMap extends ValueMap {
  readonly #known = new Map<string, Result>()

  protected abstract read(name: string): Result | undefined
  abstract override keys(): readonly string[]

  get size(): number {
    return this.keys().length
  }

  get(key: Value): Result | undefined {
    if (typeof key !== 'string') return undefined
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const value = this.read(key)
    if (value !== undefined) this.#known.set(key, value)
    return value
  }
}

export class UntypedMap extends ReadOnceMap {
  readonly #json: JsonObject
  #keys: readonly string[] | undefined

  /** With a part of its keys, if they are named. */
  constructor(json: JsonObject, keys?: readonly string[]) {
    super()
    this.#json = json
    this.#keys = keys
  }

  protected read(name: string): Result | undefined {
    return Object.hasOwn(this.#json, name) && this.#json[name] !== undefined ? readUntyped(this.#json[name]) : undefined
  }

  keys(): readonly string[] {
    this.#keys ??= Object.keys(this.#json).filter((name) => this.#json[name] !== undefined)
    return this.#keys
  }
}

/** A map whose values are computed. */
export class LazyMap extends ReadOnceMap {
  readonly #compute: ReadonlyMap<string, () => Result>

  constructor(compute: ReadonlyMap<string, () => Result>) {
    super()
    this.#compute = compute
  }

  protected read(name: string): Result | undefined {
    return this.#compute.get(name)?.()
  }

  keys(): readonly string[] {
    return [...this.#compute.keys()]
  }
}
