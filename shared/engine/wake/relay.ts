import { keyOf, keyText, type ObjectKey } from '../../model/object-key.ts'
import type { Hold } from '../../model/engine-state.ts'
import { absentIfDamaged } from '../../model/damage.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectIndex } from '../../ports/object-index.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { WakeUp, WorkQueue } from '../../ports/work-queue.ts'
import { createAdvice } from '../insight/advice.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { fanOutMax, fanOutName, spread } from './fan-out.ts'
import { guardController } from './guard-controller.ts'
import { createReferences, type Noted } from './references.ts'
import { recordKey } from '../state/removed-record.ts'
import { routesOf, type Route } from './routes.ts'
import { wakeUpOf, type Target } from './wake-up.ts'

/**
 * From changes to wake-ups. A wake-up carries the key only; and if its object's message is held back for a wait, the
 * hold is ended, so that a change waits for no backoff.
 */
export interface RelayOptions {
  readonly controllers: readonly Controller[]
  readonly queueOf: (controller: { readonly name: string }) => WorkQueue
  readonly store: ObjectStore
  readonly index: ObjectIndex
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry: Telemetry
  /**
   * Routes of the engine's own controllers, whose keys follow other rules: nobody's change waits behind them, however
   * many.
   */
  readonly builtIn?: readonly Route[]
}

/** Sends the wake-ups of changes, in their order; resolves when all of them are in the queues. */
export type Relay = (changes: readonly Change[]) => Promise<void>

export function createRelay({ queueOf, store, index, clock, builtIn = [], ...options }: RelayOptions): Relay {
  const controllers = options.controllers.map((controller) => guardController(controller, options.logger))
  const routes = [...controllers.flatMap((controller) => routesOf(controller, index)), ...builtIn]
  const references = createReferences(controllers, { store, index })
  const advices = new Map(
    controllers.map(({ name }) => [name, createAdvice(name, { ...options, nowMs: () => clock.nowMs() })]),
  )

  return async (changes) => {
    const objects = [...Map.groupBy(changes, ({ stored }) => keyText(keyOf(stored.object))).values()]
    // All of them, ahead of the first question who refers to an object: another of the changes may have made that so.
    const notes: Notes = new Map()
    await Promise.all(objects.map((some) => noteInOrder(some, notes)))
    const sends = (await Promise.all(objects.map((some) => tellInOrder(some, notes)))).flat()
    await sendAll(sends, { store, queueOf })
    // What the earlier ones of an object dropped the last one did, too, or it refers to it again.
    const last = objects.flatMap((some) => some.flatMap((change) => notes.get(change) ?? []).at(-1) ?? [])
    await Promise.all(last.map((note) => note.forget()))
  }

  /** What the changes of one object say of references. Most say nothing, which is known at once. */
  async function noteInOrder(changes: readonly Change[], notes: Notes): Promise<void> {
    for (const change of changes) {
      const noting = references.note(change)
      if (noting !== undefined) notes.set(change, await noting)
    }
  }

  /** The changes of one object, one after the other. Those of others do not wait for them. */
  async function tellInOrder(changes: readonly Change[], notes: Notes): Promise<readonly Send[]> {
    const sends: Send[] = []
    for (const change of changes) {
      const dropped = notes.get(change)?.dropped ?? none
      for (const route of routes) {
        const asked = route.targets(change, dropped)
        // Most routes know at once, and most that it wakes nobody.
        const targets = unique(asked instanceof Promise ? await asked : asked)
        if (targets.length === 0) continue
        const isPaced = targets.length > fanOutMax && !builtIn.includes(route)
        sends.push(...(isPaced ? paceRoute(route, targets, change) : direct(route, targets, change)))
      }
    }
    return sends
  }

  function direct(
    { name, debounceMs, isNeverHeld }: Route,
    targets: readonly Target[],
    change: Change,
  ): readonly Send[] {
    const later = debounceMs > 0 ? { notBeforeMs: clock.nowMs() + debounceMs } : {}
    return targets.map((target) => {
      const wakeUp = { ...wakeUpOf(target, change), ...later }
      return isNeverHeld === true ? { name, wakeUp } : { name, wakeUp, wakes: target }
    })
  }

  function paceRoute(route: Route, targets: readonly Target[], change: Change): readonly Send[] {
    if (targets.length > manyTargets) advices.get(route.name)?.('FanOut', `${targets.length} objects`)
    const wakeUps = spread(
      targets.map((target) => wakeUpOf(target, change)),
      clock.nowMs(),
      controllers.find(({ name }) => name === route.name)?.controllerLimit,
    )
    return wakeUps.map((wakeUp) => ({ name: fanOutName(route), wakeUp }))
  }
}

/**
 * One queue that is away keeps back no wake-up of the others. Rejects for it, and all are sent again with those that it
 * did not take.
 */
async function sendAll(sends: readonly Send[], ports: Pick<RelayOptions, 'store' | 'queueOf'>): Promise<void> {
  const byQueue = Map.groupBy(sends, ({ name }) => name)
  const sent = await Promise.allSettled(
    Array.from(byQueue, async ([name, all]) => {
      await ports.queueOf({ name }).send(all.map(({ wakeUp }) => wakeUp))
      // Only now: whoever is woken alone would go back to sleep, and the wake-up would wait behind it.
      await endHolds(all, ports)
    }),
  )
  const failed = sent.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** Ends the holds of those that are woken now. */
async function endHolds(
  sends: readonly Send[],
  { store, queueOf }: Pick<RelayOptions, 'store' | 'queueOf'>,
): Promise<void> {
  const woken = new Map<string, Woken>()
  for (const { name, wakeUp, wakes } of sends) {
    if (wakes === undefined) continue
    const id = `${name} ${keyText(wakes.key)}`
    const one = woken.get(id) ?? { name, key: wakes.key, atMs: Infinity, states: [] }
    woken.set(id, one)
    one.atMs = Math.min(one.atMs, wakeUp.notBeforeMs ?? 0)
    one.states.push(wakes.stored)
  }
  /** An object that was removed, the next of its name, and their record may each have left a hold. */
  const holdsOf = async ({ key, states }: Woken): Promise<readonly Hold[]> => {
    const told = states.flatMap((stored) => stored?.engine.hold ?? [])
    if (!states.includes(undefined)) return told
    // What was told may have ended since, and be followed by another.
    const read = (at: ObjectKey): Promise<StoredObject | undefined> => absentIfDamaged(() => store.get(at))
    const { hold } = ((await read(key)) ?? (await read(recordKey(key))))?.engine ?? {}
    return hold === undefined ? told : [...told, hold]
  }
  await Promise.all(
    Array.from(woken.values(), async (one) => {
      // What has to wait longer itself can wait behind it.
      const ended = (await holdsOf(one)).filter(({ untilMs }) => untilMs > one.atMs)
      const handles = new Set(ended.map(({ handle }) => handle))
      for (const handle of handles) await queueOf(one).wake(handle)
    }),
  )
}

/** A key that is woken, and the states of its objects that were told; one of `undefined` is to be read. */
interface Woken {
  readonly name: string
  readonly key: ObjectKey
  atMs: number
  readonly states: (StoredObject | undefined)[]
}

/** From here on one change that wakes so many is told of. */
const manyTargets = 1_000

type Notes = Map<Change, Noted>

const none: readonly ObjectKey[] = []

interface Send {
  /** The queue. */
  readonly name: string
  readonly wakeUp: WakeUp
  /** Whose hold it ends. */
  readonly wakes?: Target
}

function unique(targets: readonly Target[]): readonly Target[] {
  return targets.length < 2 ? targets : [...new Map(targets.map((target) => [keyText(target.key), target])).values()]
}
