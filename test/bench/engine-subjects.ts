import { createLocalWorkQueue } from '../../shared/adapters/local/queue/local-work-queue.ts'
import { createPrometheusTelemetry } from '../../shared/adapters/local/prometheus-telemetry.ts'
import { systemClock as clock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom as random } from '../../shared/adapters/node/system-random.ts'
import type { Controller } from '../../shared/reconciler/controller.ts'
import { createEventRecorder } from '../../shared/engine/insight/event-recorder.ts'
import { createReconcileKey } from '../../shared/engine/turn/reconcile-key.ts'
import type { EngineOptions } from '../../shared/engine/turn/engine-options.ts'
import type { TurnRunner } from '../../shared/engine/state/turn.ts'
import { createLoopMetrics } from '../../shared/engine/insight/loop-metrics.ts'
import { work } from '../../shared/engine/loops/worker.ts'
import { defineReconciler, done } from '../../shared/index.ts'
import { keyOf, keyText, type ObjectKey } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { Logger } from '../../shared/ports/logger.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import type { WorkQueue } from '../../shared/ports/work-queue.ts'
import { createResources } from '../../shared/resources/create-resources.ts'
import { createKindCatalog } from '../../shared/resources/store-kind-catalog.ts'
import { installBasics } from '../../shared/engine/loops/install-basics.ts'
import { openLocalPorts } from '../../shared/runtime/local/ports.ts'
import { Gadget, gadgetText } from './gadget.ts'

/**
 * What the engine costs for each reconcile: subjects that run so many keys to the end, each with a function that does
 * nothing.
 */
export interface Subject {
  readonly name: string
  /** Runs this many keys, one wake-up each. */
  run(count: number): Promise<void>
}

/** So many that none runs a hundred times: that would be a hot loop, and put off. */
const keyCount = 10_000
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent }

/** The least there is to a reconcile: a queue of distinct keys, and an async function called with each. */
export function bareSubject(): Subject {
  const waiting = new Map<string, number>()
  const reconcile = async (_key: string): Promise<void> => {}
  return {
    name: 'bare: an async function through a Map',
    run: async (count) => {
      for (let sent = 0; sent < count;) {
        for (let i = 0; i < keyCount && sent < count; i++, sent++) waiting.set(`bench/Gadget/default/g${i}`, sent)
        for (const key of waiting.keys()) {
          waiting.delete(key)
          await reconcile(key)
        }
      }
    },
  }
}

export function queueSubject(): Subject {
  return throughWorker('queue and worker alone', async (turn) => turn.settle())
}

/** Objects at rest: the function says done, and nothing has to be written. */
export async function quietSubject(): Promise<Subject> {
  return reconciling({ name: 'reconcile that finds nothing to do', revision: () => 1, writes: false })
}

/** The status differs each time, and is written. */
export async function writingSubject(): Promise<Subject> {
  let revision = 1
  return reconciling({ name: 'reconcile that writes a status', revision: () => ++revision, writes: true })
}

interface Reconciling {
  readonly name: string
  /** What the status says. */
  readonly revision: () => number
  readonly writes: boolean
}

async function reconciling({ name, revision, writes }: Reconciling): Promise<Subject> {
  const engine = await inMemoryEngine()
  let runs = 0
  const controller = gadgets(() => {
    runs++
    return revision()
  })
  const subject = throughWorker(name, metered(controller, engine))
  await engine.makeGadgets()
  await subject.run(keyCount)
  return {
    name,
    run: async (count) => {
      const before = { runs, written: engine.written() }
      await subject.run(count)
      const written = engine.written() - before.written
      if (runs - before.runs !== count || written !== (writes ? count : 0))
        throw new Error(`${name}: ${runs - before.runs} runs and ${written} writes of ${count}`)
    },
  }
}

function gadgets(revision: () => number): Controller {
  return defineReconciler(Gadget, {
    concurrency: 10,
    reconcile: async ({ spec }) => done({ status: { revision: revision(), openPorts: spec.ports.length } }),
  })
}

/** The runner with all that measures it, as the local engine has it. */
function metered(controller: Controller, engine: EngineOptions): TurnRunner {
  const { name, concurrency } = controller
  return createLoopMetrics({ name, concurrency, telemetry: engine.telemetry, clock }).runner(
    createReconcileKey(controller, engine),
  )
}

const keyOfGadget = (i: number): ObjectKey => ({
  group: Gadget.group,
  kind: Gadget.kind,
  namespace: 'default',
  name: `g${i % keyCount}`,
})

/** Sends the wake-ups of all keys, round after round, and waits until each round has run. */
function throughWorker(name: string, run: TurnRunner): Subject {
  const queue: WorkQueue = createLocalWorkQueue({ clock, random, visibilityMs: 600_000 })
  const { signal } = new AbortController()
  let left = 0
  let over = (): void => {}
  const counted: TurnRunner = async (turn, aborted) => {
    await run(turn, aborted)
    if (--left === 0) over()
  }
  void work({ queue, run: counted, logger: silent, concurrency: 10 }, { stop: signal, abandon: signal })
  let ids = 0
  return {
    name,
    run: async (count) => {
      for (let sent = 0; sent < count; sent += keyCount) {
        const size = Math.min(keyCount, count - sent)
        left = size
        const finished = new Promise<void>((resolve) => {
          over = resolve
        })
        await queue.send(
          Array.from({ length: size }, (_, i) => ({
            key: keyOfGadget(i),
            origin: 'change' as const,
            dedupId: String(++ids),
            lane: 'urgent' as const,
            reason: 'bench',
          })),
        )
        await finished
      }
    },
  }
}

interface InMemoryEngine extends EngineOptions {
  makeGadgets(): Promise<void>
  /** How many writes there were of gadgets. */
  written(): number
}

/** The engine over ports that are Maps. What is read once, such as kinds, comes from a SQLite database in memory. */
async function inMemoryEngine(): Promise<InMemoryEngine> {
  const ports = openLocalPorts(':memory:', clock)
  const { store, items, written } = inMemoryStore(ports.store)
  const catalog = createKindCatalog({ store, clock, maxAgeMs: Infinity })
  const resources = createResources({ store, clock, random })
  await installBasics({ resources, catalog, controllers: [gadgets(() => 1)] })
  const kind = await catalog.byKind(Gadget.group, Gadget.kind)
  if (kind === undefined) throw new Error('the kind is not served')
  return {
    ...ports,
    store,
    resources,
    catalog,
    clock,
    random,
    logger: silent,
    telemetry: createPrometheusTelemetry(),
    events: createEventRecorder({ resources, clock, logger: silent }),
    written,
    makeGadgets: async () => {
      for (let i = 0; i < keyCount; i++) {
        const { head, tail } = gadgetText(`g${i}`, i)
        await resources.create(kind, JSON.parse(`${head}1${tail}`), { manager: 'bench' })
      }
      for (const [key, { object }] of items) items.set(key, { object, engine: {} })
    },
  }
}

function inMemoryStore(rest: ObjectStore): {
  readonly store: ObjectStore
  readonly items: Map<string, StoredObject>
  readonly written: () => number
} {
  const items = new Map<string, StoredObject>()
  const first = 1_000_000
  let version = first
  const numbered = ({ object, engine }: StoredObject): StoredObject => {
    const metadata = { ...object.metadata, resourceVersion: String(++version) }
    const stored = { object: { ...object, metadata }, engine }
    items.set(keyText(keyOf(object)), stored)
    return stored
  }
  const isGadget = ({ kind }: ObjectKey): boolean => kind === Gadget.kind
  return {
    items,
    written: () => version - first,
    store: {
      ...rest,
      get: async (key) => (isGadget(key) ? items.get(keyText(key)) : rest.get(key)),
      create: async (stored) => (isGadget(keyOf(stored.object)) ? numbered(stored) : rest.create(stored)),
      replace: async (stored, touched) =>
        isGadget(keyOf(stored.object)) ? numbered(stored) : rest.replace(stored, touched),
    },
  }
}
