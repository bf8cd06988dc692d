import { digest } from '../../model/digest.ts'
import { DefinitionError } from '../../model/errors.ts'
import type { KindName } from '../../ports/object-index.ts'
import type { WorkQueue } from '../../ports/work-queue.ts'
import { eventKind } from '../../resources/built-in-kinds.ts'
import { resourceQuotaKind } from '../../resources/quota-kind.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { dropDamaged } from './drop-damaged.ts'
import { createGarbageCollector, garbageCollectorName, garbageRoute } from './garbage-collector.ts'
import { contentRoutes, createContentRunner } from './namespace-content.ts'
import { createEventExpiry, definitionController, type LifecycleOptions } from './lifecycles.ts'
import { accountRoute, namespaceController } from './namespaces.ts'
import { createQuotaUsage, quotaRoutes, quotaUsageName } from './quota-usage.ts'
import { createFanOut, fanOutName } from '../wake/fan-out.ts'
import { guardController } from '../wake/guard-controller.ts'
import { isOfKind } from '../../reconciler/kind.ts'
import type { ControllerLimit } from '../../reconciler/rate-limit.ts'
import { createReconcileKey } from '../turn/reconcile-key.ts'
import type { EngineOptions } from '../turn/engine-options.ts'
import { behindOverruns } from '../turn/overruns.ts'
import type { TurnRunner } from '../state/turn.ts'
import { createNoteStored, type NoteStored } from '../wake/references.ts'
import { createRelay, type Relay } from '../wake/relay.ts'
import { removedKindOf } from '../../model/removed-kind.ts'
import { createRemovedRoute } from './removed/route.ts'
import { createAllEventsRunner } from './removed/runner.ts'
import type { SweptController, Watching } from '../wake/sweep.ts'

/** Everything that runs keys: one queue and one runner each. */
export interface ControlLoop {
  /** Names the queue. */
  readonly name: string
  /** Whose timers and resync it is for; the garbage collector and fan-out have none of their own. */
  readonly kind?: KindName
  /** The kind of the records of what was removed, whose timers are its own too. */
  readonly removedKind?: KindName
  readonly resyncMs: number
  readonly concurrency: number
  readonly timeoutMs: number
  readonly controllerLimit?: ControllerLimit | undefined
  /** What wakes it beside its own objects. */
  readonly watching?: Watching
  readonly run: TurnRunner
}

export interface ControlLoopsOptions extends EngineOptions, Pick<LifecycleOptions, 'definitionGraceMs'> {
  readonly controllers: readonly Controller[]
  /** By then every process knows of a quota that another one made. Default 0: at once. */
  readonly quotaLagMs?: number
}

/**
 * The users' controllers and the engine's own. Throws a TypeError if two are for one kind: an object has one engine
 * state.
 */
export function createControlLoops(options: ControlLoopsOptions): readonly ControlLoop[] {
  const { store, index, resources, catalog, clock, logger } = options
  const loops: readonly ControlLoop[] = [
    ...allControllers(options).map((controller) => loopOf(controller, options)),
    ...options.controllers.filter(fansOut).map((controller) => ({
      name: fanOutName(controller),
      resyncMs: 0,
      concurrency: 10,
      timeoutMs: 60_000,
      run: createFanOut(store),
    })),
    {
      name: garbageCollectorName,
      resyncMs: 0,
      concurrency: 10,
      timeoutMs: 60_000,
      run: createContentRunner(options, createGarbageCollector({ store, index, resources, catalog })),
    },
    {
      name: eventExpiryName,
      kind: eventKind,
      resyncMs: 0,
      concurrency: 4,
      timeoutMs: 60_000,
      run: createEventExpiry({ store, resources, clock }),
    },
    {
      name: quotaUsageName,
      resyncMs: 0,
      concurrency: 4,
      timeoutMs: 60_000,
      run: createQuotaUsage({ store, catalog, clock, lagMs: options.quotaLagMs ?? 0 }),
    },
  ]
  return loops.map((loop) => ({ ...loop, run: dropDamaged(loop.run, logger) }))
}

/** Their names, for who runs none of them: what runs keys is not in its bundle. */
export function controlLoopNames(options: ControlLoopsOptions): readonly string[] {
  const controllers = allControllers(options).map(({ name }) => name)
  return [...controllers, ...options.controllers.filter(fansOut).map(fanOutName), ...engineLoops]
}

const eventExpiryName = 'event-expiry'
const engineLoops = [garbageCollectorName, eventExpiryName, quotaUsageName]

/** The relay for the same controllers. */
export function createControlRelay(
  options: ControlLoopsOptions,
  queueOf: (loop: { readonly name: string }) => WorkQueue,
): Relay {
  return createRelay({
    controllers: allControllers(options),
    queueOf,
    store: options.store,
    index: options.index,
    clock: options.clock,
    logger: options.logger,
    telemetry: options.telemetry,
    builtIn: [
      garbageRoute(options.index),
      ...contentRoutes(garbageCollectorName, options),
      ...quotaRoutes(),
      accountRoute,
      ...options.controllers.filter(seesAll).map((controller) => createRemovedRoute(controller, options)),
    ],
  })
}

/** Notes references for the same controllers. */
export function createControlNotes(options: ControlLoopsOptions): NoteStored {
  const controllers = allControllers(options).map((controller) => guardController(controller, options.logger))
  return createNoteStored(controllers, options)
}

function loopOf(controller: Controller, options: ControlLoopsOptions): ControlLoop {
  const loop = { ...controller, ...(fansOut(controller) && { watching: watchingOf(controller) }) }
  const createRunner = seesAll(controller) ? createAllEventsRunner : createReconcileKey
  const run = behindOverruns(createRunner(controller, options), options)
  return seesAll(controller) ? { ...loop, removedKind: removedKindOf(controller.kind), run } : { ...loop, run }
}

/** A function that calls others looks the same when those are changed: nobody can tell that. */
function watchingOf({ kind, references, maps }: Controller): Watching {
  const texts = [...references, ...maps].map((watch) => `${watch.kind.group}/${watch.kind.kind} ${watch.source}`)
  const kinds = [...(references.length > 0 ? [kind] : []), ...maps.map((map) => map.kind)]
  return {
    id: digest(`${references.length}\n${texts.join('\n')}`),
    kinds: kinds.filter((one, i) => kinds.findIndex(isOfKind(one)) === i),
  }
}

function seesAll({ onRemoved }: Controller): boolean {
  return onRemoved === 'reconcile'
}

/** Whose timers and resync a sweep looks for. */
export function sweptControllersOf(loops: readonly ControlLoop[]): readonly SweptController[] {
  return loops.flatMap(({ name, kind, resyncMs, watching, removedKind: records }) => [
    ...(kind === undefined ? [] : [{ name, kind, resyncMs, ...(watching && { watching }) }]),
    ...(kind === undefined || records === undefined
      ? []
      : [{ name, kind: records, resyncMs, wakes: { group: kind.group, kind: kind.kind } }]),
  ])
}

/**
 * Garbage that nobody was told of is found within a day: a child whose owners went, an owner that waits for a child
 * that is gone, or blocks it no more. What is wrong in a quota is found within an hour.
 */
export function garbageSwept(kinds: readonly KindName[]): readonly SweptController[] {
  const quotas = { name: quotaUsageName, kind: resourceQuotaKind, resyncMs: hourMs }
  return [...kinds.map((kind) => ({ name: garbageCollectorName, kind, resyncMs: dayMs })), quotas]
}

const hourMs = 60 * 60_000

const dayMs = 24 * 60 * 60_000

function fansOut({ references, maps }: Controller): boolean {
  return references.length + maps.length > 0
}

/** The users' controllers and the engine's own. */
export function allControllers(
  options: Pick<ControlLoopsOptions, 'controllers' | 'resources' | 'catalog'>,
): readonly Controller[] {
  const all = [...options.controllers, namespaceController(options), definitionController(options)]
  for (const [kind, same] of Map.groupBy(all, (controller) => `${controller.kind.kind}.${controller.kind.group}`)) {
    if (same.length > 1)
      throw new DefinitionError(
        `${same.map(({ name }) => name).join(' and ')} are both for ${kind}: a kind has one controller`,
      )
  }
  return all
}
