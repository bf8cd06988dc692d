import { itemName, topologyOf, type Topology } from './keyed-list.ts'
import type { Meter } from './meter.ts'
import type { Type } from './type.ts'
import { CelDuration, Opaque, Optional, Timestamp, TypeValue, Uint, ValueMap, CelFailure, type Value } from './value.ts'

/** Whether two values are the same to CEL: numbers by their worth, whatever their type. */
export function isSame(a: Value, b: Value, meter: Meter): boolean {
  meter.spend(2)
  if (typeof a === 'string') return isSameText(a, b, meter)
  if (a === b) return true
  const number = numberOf(a)
  if (number !== undefined) return isSameNumber(number, numberOf(b))
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && isSameList(a, b, meter)
  if (a instanceof ValueMap) return b instanceof ValueMap && isSameMap(a, b, meter)
  if (a instanceof Timestamp) return b instanceof Timestamp && a.ns === b.ns
  if (a instanceof CelDuration) return b instanceof CelDuration && a.ns === b.ns
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name
  if (a instanceof Opaque) return b instanceof Opaque && a.type === b.type && a.equals(b)
  if (a instanceof Optional) return b instanceof Optional && isSameOptional(a, b, meter)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && isSameBytes(a, b, meter)
  return false
}

function isSameText(a: string, b: Value, meter: Meter): boolean {
  if (typeof b !== 'string' || a.length !== b.length) return false
  meter.spend(a.length >> 3)
  return a === b
}

function isSameBytes(a: Uint8Array, b: Uint8Array, meter: Meter): boolean {
  if (a.length !== b.length) return false
  meter.spend(a.length >> 3)
  return compareBytes(a, b) === 0
}

function isSameOptional({ value: a }: Optional, { value: b }: Optional, meter: Meter): boolean {
  return a === undefined || b === undefined ? a === b : isSame(a, b, meter)
}

function isSameList(a: readonly Value[], b: readonly Value[], meter: Meter): boolean {
  if (a.length !== b.length) return false
  if (a.every((item, i) => isSame(item, b[i] ?? null, meter))) return true
  const topology = topologyOf(a)
  return topology !== undefined && isSameInAnyOrder(new Places(topology, a, meter), b, meter)
}

function isSameInAnyOrder(places: Places, items: readonly Value[], meter: Meter): boolean {
  return items.every((item) => {
    const place = places.find(item)
    return place !== undefined && isSame(places.items[place] as Value, item, meter)
  })
}

/** The items of a list of type `set` or `map`, each of them once, and where they are. */
export class Places {
  readonly items: Value[] = []
  readonly #byName = new Map<string, number>()
  readonly #topology: Topology
  readonly #meter: Meter

  constructor(topology: Topology, items: readonly Value[], meter: Meter) {
    this.#topology = topology
    this.#meter = meter
    for (const item of items) this.put(item)
  }

  /** The place of an item that nothing tells apart from this one. */
  find(item: Value): number | undefined {
    return this.#placeOf(item, this.#nameOf(item))
  }

  #placeOf(item: Value, name: string | undefined): number | undefined {
    if (name !== undefined) return this.#byName.get(name)
    const place = this.items.findIndex((one) => isSame(one, item, this.#meter))
    return place < 0 ? undefined : place
  }

  /** It takes the place of the one that it is not told apart from. */
  put(item: Value): void {
    const name = this.#nameOf(item)
    const place = this.#placeOf(item, name) ?? this.items.length
    this.items[place] = item
    if (name !== undefined) this.#byName.set(name, place)
  }

  #nameOf(item: Value): string | undefined {
    return itemName(item, this.#topology, this.#meter)
  }
}

function isSameMap(a: ValueMap, b: ValueMap, meter: Meter): boolean {
  if (a.size !== b.size) return false
  meter.spend(a.size)
  const isSeenSame = a.keys().every((key) => {
    const [one, other] = [a.get(key), b.get(key)]
    if (one === undefined || other === undefined || one instanceof CelFailure || other instanceof CelFailure)
      return false
    return isSame(one, other, meter)
  })
  return isSeenSame && isSameHidden(a.hidden, b.hidden, meter)
}

function isSameHidden(a: ValueMap | undefined, b: ValueMap | undefined, meter: Meter): boolean {
  return a === undefined || a.size === 0 || (b !== undefined && isSame(a, b, meter))
}

/** The worth of a number of any type. */
export function numberOf(value: Value | undefined): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  return value instanceof Uint ? value.value : undefined
}

function isSameNumber(a: number | bigint, b: number | bigint | undefined): boolean {
  return b !== undefined && compareNumbers(a, b) === 0
}

/** Below zero if the first is less; NaN if there is no order. Beside a double a whole number is one, as in cel-go. */
export function compareNumbers(a: number | bigint, b: number | bigint): number {
  const [x, y] = typeof a === typeof b ? [a, b] : [Number(a), Number(b)]
  return x < y ? -1 : x > y ? 1 : x === y ? 0 : Number.NaN
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Texts in the order of their code points, unlike JavaScript's. */
export function compareTexts(a: string, b: string): number {
  if (a === b) return 0
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) {
      const [isHighX, isHighY] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff]
      return isHighX === isHighY ? x - y : isHighX ? 1 : -1
    }
  }
  return a.length - b.length
}

/** The kind of type that a value is of, when it runs. */
export function kindOf(value: Value): Type['kind'] {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
    default:
      return kindOfObject(value)
  }
}

function kindOfObject(value: Value): Type['kind'] {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (value instanceof ValueMap) return 'map'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Timestamp) return 'timestamp'
  if (value instanceof CelDuration) return 'duration'
  if (value instanceof Optional) return 'optional'
  return value instanceof TypeValue ? 'type' : 'opaque'
}

/** The name of a value's type, as `type()` and errors have it. */
export function typeNameOf(value: Value): string {
  if (value instanceof Opaque) return value.type
  const kind = kindOf(value)
  if (kind === 'null') return 'null_type'
  if (kind === 'timestamp') return 'google.protobuf.Timestamp'
  return kind === 'duration' ? 'google.protobuf.Duration' : kind === 'optional' ? 'optional_type' : kind
}
