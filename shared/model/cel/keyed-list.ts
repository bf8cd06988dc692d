import { bytesToBase64 } from '../base64.ts'
import type { Meter } from './meter.ts'
import { CelDuration, CelFailure, keyName, Timestamp, ValueMap, type Value } from './value.ts'

/**
 * Lists of type `set` and `map`. Where they are compared the order of their items does not count, and `+` adds what
 * they lack. Source: apiserver, `cel/common/values.go`.
 */

/** What tells the items of a list apart: all of their value in a set, some fields in a map. */
export interface Topology {
  /** By their names in expressions. Left out: a set. */
  readonly keys?: readonly string[]
}

const topologies = new WeakMap<readonly Value[], Topology>()

export function withTopology(list: readonly Value[], topology: Topology): readonly Value[] {
  topologies.set(list, topology)
  return list
}

/** Undefined for a list whose order counts. */
export function topologyOf(list: readonly Value[]): Topology | undefined {
  return topologies.get(list)
}

/** A text that two items share exactly if nothing tells them apart; of what is no scalar there is none. */
export function itemName(item: Value, { keys }: Topology, meter: Meter): string | undefined {
  if (keys === undefined) return scalarName(item, meter)
  const names = keys.map((key) => scalarName(item instanceof ValueMap ? item.get(key) : undefined, meter))
  return names.includes(undefined) ? undefined : JSON.stringify(names)
}

function scalarName(value: Value | CelFailure | undefined, meter: Meter): string | undefined {
  if (value === undefined) return 'none'
  meter.spend(2)
  if (typeof value === 'string' || value instanceof Uint8Array) meter.spend(value.length >> 3)
  if (typeof value === 'number') return `n${value}`
  if (value instanceof Uint8Array) return `x${bytesToBase64(value)}`
  if (value instanceof Timestamp || value instanceof CelDuration) return `t${value.ns}`
  return value instanceof CelFailure ? undefined : keyName(value)
}
