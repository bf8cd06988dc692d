/** The values of CEL. Whole numbers are bigints, and others numbers. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | CelDuration
  | Optional
  | TypeValue
  | ValueMap
  | Opaque
  | readonly Value[]

/** What an expression comes to where there is no value. It is no exception: `||` and `&&` may pass over it. */
export class CelFailure {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

export type Result = Value | CelFailure

export class Uint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** Nanoseconds since 1970. */
export class Timestamp {
  readonly ns: bigint

  constructor(ns: bigint) {
    this.ns = ns
  }
}

export class CelDuration {
  readonly ns: bigint

  constructor(ns: bigint) {
    this.ns = ns
  }
}

export class Optional {
  readonly value: Value | undefined

  constructor(value: Value | undefined) {
    this.value = value
  }
}

export class TypeValue {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Objects too: their keys are the names of the fields that they have. */
export abstract class ValueMap {
  abstract readonly size: number
  abstract get(key: Value): Result | undefined

  /** To `has()`. */
  has(key: Value): boolean {
    return this.get(key) !== undefined
  }

  abstract keys(): readonly Value[]

  /** Fields that expressions do not see. They count where whole objects are compared. */
  get hidden(): ValueMap | undefined {
    return undefined
  }
}

/** A value of a library: a quantity, a URL, an address. */
export abstract class Opaque {
  abstract readonly type: string
  abstract equals(other: Opaque): boolean
}

/** What was built in an expression. */
export class BuiltMap extends ValueMap {
  readonly #entries: ReadonlyMap<string, readonly [Value, Value]>

  constructor(entries: ReadonlyMap<string, readonly [Value, Value]>) {
    super()
    this.#entries = entries
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Value): Value | undefined {
    const name = keyName(key)
    return name === undefined ? undefined : this.#entries.get(name)?.[1]
  }

  keys(): readonly Value[] {
    return [...this.#entries.values()].map(([key]) => key)
  }
}

/** An object that was made in an expression. */
export class BuiltObject extends BuiltMap {
  readonly type: string

  constructor(type: string, fields: ReadonlyMap<string, Value>) {
    super(new Map([...fields].map(([name, value]) => [`s${name}`, [name, value]])))
    this.type = type
  }
}

/** Equal keys have the same name; undefined for what is no key. */
export function keyName(key: Value): string | undefined {
  if (typeof key === 'string') return `s${key}`
  if (typeof key === 'boolean') return `b${key}`
  if (typeof key === 'bigint') return `n${key}`
  if (key instanceof Uint) return `n${key.value}`
  return typeof key === 'number' && Number.isInteger(key) ? `n${BigInt(key)}` : undefined
}
