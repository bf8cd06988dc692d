import type { JsonObject } from '../../../shared/index.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { HookServers } from '../hook-servers.ts'
import type { Effect, Outside } from '../outside.ts'
import type { Entity, Registry } from '../registry.ts'
import type { SeenTable, TableWrite } from '../plane.ts'
import type { RunListener } from '../runs.ts'
import type { KindName, Scenario, Step } from '../scenario.ts'
import type { AcceptedWrite, AnsweredStep, Users } from '../users.ts'
import { beginMs, type World } from '../world.ts'
import { movingMs } from './moving.ts'

/**
 * What tries to catch the engine breaking a promise. Safety is looked at as things happen, liveness once the trouble is
 * over.
 */
export interface Checker extends RunListener {
  write?(write: TableWrite): void
  effect?(effect: Effect): void
  /** An entity was made in the registry. */
  made?(entity: Entity, by: string): void
  /** A process runs by reconcilers that it has loaded again. */
  reloaded?(): void
  accepted?(change: AcceptedWrite): void
  answered?(answer: AnsweredStep): void
  /** What has not come to rest yet, and must when nothing goes wrong any more. */
  unmet?(): readonly string[]
}

/** What checkers look at, and whom they tell. */
export interface Scene {
  readonly world: World
  readonly scenario: Scenario
  readonly table: SeenTable
  readonly outside: Outside
  readonly registry: Registry
  readonly hooks: HookServers
  readonly users: Users
  /** When the trouble ended. */
  calmSinceMs(): number | undefined
  /** Nobody is left who could act after the end of his turn, and all objects were asked to run once more since. */
  isRunAgain(): boolean
  /** A promise is broken. */
  readonly report: (violation: string) => void
}

/** Seeds in which a worker may act after its turn is over. */
export function isFenceTried({ climate }: Scenario): boolean {
  return climate.zombies || climate.visibilityShare < 1
}

/** What was done after the end of a turn may stand until the next run, as docs/decisions/0018 says. */
export function isExcused({ scenario, isRunAgain }: Scene): boolean {
  return isFenceTried(scenario) && !isRunAgain()
}

/** Nothing goes wrong in this seed that would excuse a delay or a second run. */
export function isClear({ climate, local, absent, steps }: Scenario): boolean {
  // One process is all there is, and ends with each deployment, and with each run that ends it.
  const isEnding = climate.deploying || absent !== undefined || steps.some(({ mood }) => mood === 'crash')
  if (local !== undefined && isEnding) return false
  const { throttle, unknown, crash, pause, hotPartition, skewMsMax, streamRepeats, redeliver, invokeThrottle } = climate
  const { fail, lostAnswer, unsure, lie, rateLimit, lagMs } = climate.outside
  const faults = [
    throttle,
    unknown,
    crash,
    pause,
    skewMsMax,
    streamRepeats,
    redeliver,
    invokeThrottle,
    climate.tickTrouble,
  ]
  return (
    [...faults, fail, lostAnswer, unsure, lie, rateLimit, lagMs].every((strength) => strength === 0) && !hotPartition
  )
}

/** Nothing goes wrong, and there is room for all: here promises about time are told. */
export function isRoomy(scenario: Scenario): boolean {
  const { scanMax, inFlightMax, concurrency, page } = scenario.climate
  const hasRoom = scanMax > 1_000 && inFlightMax > 1_000 && concurrency >= 3 && page > 100
  return isClear(scenario) && !isFenceTried(scenario) && hasRoom
}

/** On one machine who may not run yet stands in the queue, and nothing in the object says so. */
export function isLinedUp({ local, limits = {} }: Scenario, kind: string): boolean {
  return local !== undefined && limits[kind as KindName] !== undefined
}

/** Those of its name that are gone are run ahead of it. */
export function isSeenOff(
  { steps }: Scenario,
  { kind, name }: { readonly kind: string; readonly name: string },
): boolean {
  return (
    (kind === 'Witness' || kind === 'Tenant') &&
    steps.some((step) => step.kind === kind && step.name === name && removing.includes(step.act))
  )
}

const removing: readonly Step['act'][] = ['delete', 'recreate']

export function isPoisoned({ steps }: Scenario): boolean {
  return steps.some(({ mood }) => mood === 'crash' || mood === 'hang' || mood === 'spin')
}

/**
 * How long it takes until a change of this time runs, at most: the stream's lag, a run that is under way (three calls
 * outside, ten to the table), and its own start. Where batches or workers are few, others are served first.
 */
export function promptMs(scenario: Scenario, nowMs = beginMs): number {
  const { climate, steps } = scenario
  const { streamLagMsMax, streamBatch, latencyMsMax, outside, concurrency } = climate
  const runMs = 6 * outside.latencyMsMax + 40 * latencyMsMax
  const turns = concurrency >= 10 ? 2 : 2 + steps.length / concurrency
  const relayMs = streamBatch >= 100 ? 2 * streamLagMsMax : (2 + steps.length) * (streamLagMsMax + 500)
  const ownMs = 2_000 + relayMs + turns * runMs
  return ownMs + movingMs(scenario, nowMs, ownMs)
}

export function specOf({ object }: StoredObject): JsonObject {
  return object.spec ?? {}
}

/** Whether a Gadget's spec is what its type says: one that is not was observed without anything being done. */
export function fitsType(spec: object): boolean {
  return 'value' in spec && typeof spec.value === 'number'
}

export function named({ object }: StoredObject): string {
  return `${object.kind} ${object.metadata.name}`
}

/** All objects of these kinds. */
export function objectsOf({ items }: SeenTable, ...kinds: readonly string[]): readonly StoredObject[] {
  return [...items.values()].filter(({ object }) => kinds.includes(object.kind))
}

/** Objects that never come to rest, by their own wish. */
export function isRestless(stored: StoredObject): boolean {
  // What is outside is looked at once a minute.
  if (stored.object.kind === 'Parcel' || stored.object.kind === 'Deed') return true
  return ['hurry', 'poll', 'nap', 'fail', 'crash', 'hang', 'spin'].includes(String(specOf(stored)['mood']))
}

export function isPoison(stored: StoredObject): boolean {
  return ['crash', 'hang'].includes(String(specOf(stored)['mood']))
}
