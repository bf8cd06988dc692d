import { equal, isObject, type Json, type JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { nanosPerOne, parseQuantity } from '../model/quantity.ts'
import { withMemory } from '../model/engine-state.ts'
import type { StoredObject } from '../model/stored-object.ts'
import { parseTimestamp } from '../model/time.ts'

/**
 * What a quota knows of its use. An object is reserved in `status.used` before it is written, so that there are never
 * more than may be; and until the reservation is old, the quota notes how many were made for objects of which second,
 * so that a count, which may have missed one that is still being written, leaves room for it.
 */

/** Objects to be made, or made: of which second (`creationTimestamp`), and by which names they count. */
export interface Counted {
  readonly atS: number
  readonly names: readonly string[]
}

/** The second by which an object is counted. */
export function secondOf({ metadata }: ApiObject): number {
  return Math.floor((parseTimestamp(metadata.creationTimestamp) ?? 0) / 1_000)
}

/**
 * An object is written within half a minute of its reservation, or never: its function or its process is gone by then.
 * A count takes a minute at most.
 */
export const youngS = 120

/** Counts of objects that are there, by name. */
export interface Count {
  readonly total: number
  /** Of the young ones, by their second. */
  readonly bySecond: ReadonlyMap<number, number>
}

export interface Reserved<Wanted> {
  /** The quota with the reservations; the same if there are none. */
  readonly next: StoredObject
  /** Who may not, with why. */
  readonly refused: ReadonlyMap<Wanted, string>
}

/** Reserves for as many as there is room for, in their order. */
export function reserve<Wanted extends Counted>(
  quota: StoredObject,
  all: readonly Wanted[],
  nowS: number,
): Reserved<Wanted> {
  const known = namesIn(quota.object)
  const { limits, used } = ledgerOf(quota.object)
  const reserved = youngOnes(reservedIn(quota), nowS)
  const refused = new Map<Wanted, string>()
  let count = 0
  for (const wanted of all) {
    const names = wanted.names.filter((name) => known.has(name))
    const exceeded = names.filter((name) => (used.get(name) ?? 0) + 1 > (limits.get(name)?.most ?? Infinity))
    if (exceeded.length > 0) {
      refused.set(wanted, refusalText(quota.object.metadata.name, exceeded, { limits, used }))
      continue
    }
    for (const name of names) {
      used.set(name, (used.get(name) ?? 0) + 1)
      add(reserved, wanted.atS, name, 1)
    }
    count += names.length
  }
  return { next: count === 0 ? quota : rewritten(quota, used, reserved), refused }
}

/**
 * Takes back what was reserved for objects that were not made, or are removed. Undefined if one of them is older than
 * its reservation is known: then only a count tells.
 */
export function release(quota: StoredObject, { atS, names }: Counted, nowS: number): StoredObject | undefined {
  const known = names.filter((name) => namesIn(quota.object).has(name))
  if (known.length === 0) return quota
  const reserved = youngOnes(reservedIn(quota), nowS)
  if (known.some((name) => (reserved.get(atS)?.get(name) ?? 0) === 0)) return undefined
  const { used } = ledgerOf(quota.object)
  for (const name of known) {
    add(reserved, atS, name, -1)
    const left = (used.get(name) ?? 0) - 1
    used.set(name, Math.max(0, left))
  }
  return rewritten(quota, used, reserved)
}

/** Asks for a count, if nobody has. */
export function askForCount(quota: StoredObject, nowMs: number): StoredObject {
  return quota.engine.wakeAtMs === undefined ? { ...quota, engine: { ...quota.engine, wakeAtMs: nowMs } } : quota
}

/**
 * The quota as a count begins. Whoever asks from then on asks for another one, since this one may have passed what is
 * removed meanwhile.
 */
export function withoutQuestion(quota: StoredObject): StoredObject {
  const { wakeAtMs, ...engine } = quota.engine
  return wakeAtMs === undefined ? quota : { ...quota, engine }
}

export interface Recounted {
  readonly next: StoredObject
  /** Something may still be written, or never, or be gone already: another count will tell. */
  readonly isOpen: boolean
}

/**
 * The quota with what was counted, from `begun` on. Of a young second there are at most as many as were reserved for
 * it, or counted. Who asked for a count meanwhile asks still.
 */
export function withCounts(
  newest: StoredObject,
  begun: StoredObject,
  { counts, nowS }: { readonly counts: ReadonlyMap<string, Count>; readonly nowS: number },
): Recounted {
  const reserved = youngOnes(reservedIn(newest), nowS)
  const isWritten = newest.object.metadata.resourceVersion !== begun.object.metadata.resourceVersion
  const limits = limitsIn(newest.object, 'spec')
  const used = new Map<string, number>()
  let isOpen = false
  for (const name of limits.keys()) {
    const { total, bySecond } = counts.get(name) ?? { total: 0, bySecond: new Map<number, number>() }
    const reservedOf = (second: number): number => reserved.get(second)?.get(name) ?? 0
    let more = 0
    for (const second of reserved.keys()) more += Math.max(0, reservedOf(second) - (bySecond.get(second) ?? 0))
    used.set(name, total + more)
    // What was counted may have been removed and taken off since.
    isOpen ||= more > 0 || (isWritten && [...bySecond].some(([second, found]) => found > reservedOf(second)))
  }
  const { hold: _, ...engine } = newest.engine
  const object = withStatus(newest.object, limits, used)
  const counted = { object: equal(object, newest.object) ? newest.object : object, engine }
  return { next: withReserved(counted, reserved), isOpen }
}

interface Limit {
  /** As it was written. */
  readonly text: string
  readonly most: number
}

/** What holds (`status`), or is to hold (`spec`) from the next count on. */
function limitsIn(quota: ApiObject, part: 'spec' | 'status'): ReadonlyMap<string, Limit> {
  const within = quota[part]
  const hard = isObject(within) && isObject(within['hard']) ? within['hard'] : {}
  return new Map(Object.entries(hard).map(([name, value]) => [name, limitOf(String(value))]))
}

function limitOf(text: string): Limit {
  return { text, most: Number((parseQuantity(text) ?? 0n) / nanosPerOne) }
}

/** Names that it limits, or is about to. */
export function namesIn(quota: ApiObject): ReadonlySet<string> {
  return new Set([...limitsIn(quota, 'spec').keys(), ...limitsIn(quota, 'status').keys()])
}

interface Ledger {
  readonly limits: ReadonlyMap<string, Limit>
  readonly used: Map<string, number>
}

function ledgerOf(quota: ApiObject): Ledger {
  const used = isObject(quota.status) && isObject(quota.status['used']) ? quota.status['used'] : {}
  return {
    limits: limitsIn(quota, 'status'),
    used: new Map(Object.entries(used).map(([name, value]) => [name, limitOf(String(value)).most])),
  }
}

/** In Kubernetes' words. */
function refusalText(quota: string, exceeded: readonly string[], { limits, used }: Ledger): string {
  const names = exceeded.toSorted()
  const list = (amount: (name: string) => string | number): string =>
    names.map((name) => `${name}=${amount(name)}`).join(',')
  return [
    `exceeded quota: ${quota}`,
    `requested: ${list(() => 1)}`,
    `used: ${list((name) => used.get(name) ?? 0)}`,
    `limited: ${list((name) => limits.get(name)?.text ?? '')}`,
  ].join(', ')
}

function withStatus(
  quota: ApiObject,
  limits: ReadonlyMap<string, Limit>,
  used: ReadonlyMap<string, number>,
): ApiObject {
  const hard = Object.fromEntries([...limits].map(([name, { text }]) => [name, text]))
  const amounts = Object.fromEntries([...used].map(([name, amount]) => [name, String(amount)]))
  return { ...quota, status: { ...quota.status, hard, used: amounts } }
}

function rewritten(quota: StoredObject, used: ReadonlyMap<string, number>, reserved: Reservations): StoredObject {
  const { limits } = ledgerOf(quota.object)
  const shown = new Map([...used].filter(([name]) => limits.has(name)))
  const object = limits.size === 0 ? quota.object : withStatus(quota.object, limits, shown)
  return withReserved({ ...quota, object }, reserved)
}

/** How many were reserved, by second and name. */
type Reservations = Map<number, Map<string, number>>

const note = 'reserved'

function reservedIn({ engine }: StoredObject): Reservations {
  const noted = engine.memory?.notes?.[note]
  const bySecond = isObject(noted) ? Object.entries(noted) : []
  return new Map(bySecond.map(([second, names]) => [Number(second), new Map(Object.entries(names as Amounts))]))
}

type Amounts = Readonly<Record<string, number>>

function youngOnes(reserved: Reservations, nowS: number): Reservations {
  return new Map([...reserved].filter(([second]) => isYoung(second, nowS)))
}

/** Whether a reservation for an object of this second may still be open. */
export function isYoung(second: number, nowS: number): boolean {
  return second > nowS - youngS
}

function add(reserved: Reservations, atS: number, name: string, amount: number): void {
  const names = reserved.get(atS) ?? new Map<string, number>()
  reserved.set(atS, names)
  const sum = (names.get(name) ?? 0) + amount
  if (sum > 0) names.set(name, sum)
  else names.delete(name)
  if (names.size === 0) reserved.delete(atS)
}

function withReserved(quota: StoredObject, reserved: Reservations): StoredObject {
  const bySecond: Record<string, Json> = {}
  for (const [second, names] of reserved) bySecond[String(second)] = Object.fromEntries(names) satisfies JsonObject
  const notes = reserved.size === 0 ? undefined : { [note]: bySecond }
  return { ...quota, engine: withMemory(quota.engine, { notes }) }
}
