import {
  createControlLoops,
  createControlRelay,
  sweptBy,
  type ControlLoop,
  type ControlLoopsOptions,
} from '../../shared/engine/control-loops.ts'
import type { Controller } from '../../shared/engine/controller.ts'
import { createPrometheusTelemetry } from '../../shared/adapters/local/prometheus-telemetry.ts'
import { createEventRecorder } from '../../shared/engine/event-recorder.ts'
import { sweepTimers, sweepWheel, type SweepOptions } from '../../shared/engine/sweep.ts'
import { processBatch } from '../../shared/engine/worker.ts'
import { keyText, type ObjectKey } from '../../shared/model/object-key.ts'
import type { StoredObject } from '../../shared/model/stored-object.ts'
import type { Logger } from '../../shared/ports/logger.ts'
import type { WorkQueue } from '../../shared/ports/work-queue.ts'
import { createResources } from '../../shared/resources/create-resources.ts'
import type { Resources } from '../../shared/resources/resources.ts'
import { createKindCatalog } from '../../shared/resources/store-kind-catalog.ts'
import { createLife, through, type Life, type Weather } from './life.ts'
import { createSimQueue, type SimQueue } from './sim-queue.ts'
import { createSimTable, type SimTable } from './sim-table.ts'
import type { World } from './world.ts'

/** How the functions of this seed behave. Small limits and rough weather come from the seed. */
export interface Climate {
  readonly weather: Weather
  /** The longest a call takes. */
  readonly latencyMsMax: number
  /** Records of one stream batch. */
  readonly streamBatch: number
  /** A record is told again so often. */
  readonly streamRepeats: number
  readonly streamLagMsMax: number
  readonly indexLagMsMax: number
  /** Messages of one batch. */
  readonly queueBatch: number
  /** Functions that run at once, per queue. */
  readonly concurrency: number
  /** A tick is missed, doubled or late so often. */
  readonly tickTrouble: number
}

export interface Plane {
  readonly table: SimTable
  /** The verbs as one request's function has them: a life of their own. */
  request(name: string): { readonly resources: Resources; readonly life: Life }
  /** Messages in all queues. */
  depth(): number
  /** Faults are off at first. */
  trouble(isOn: boolean): void
  stop(): void
}

export interface PlaneOptions {
  readonly world: World
  readonly climate: Climate
  /** The reconcilers as one life runs them. */
  readonly controllers: (life: Life) => readonly Controller[]
  readonly onWrite: (before: StoredObject | undefined, after: StoredObject) => void
}

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => silent }

/** The control plane as it stands on AWS: every piece of work a function invocation with a life of its own. */
export function startPlane({ world, climate, controllers, onWrite }: PlaneOptions): Plane {
  const table = createSimTable({ world, ...climate, onWrite })
  const catalog = createKindCatalog({ store: table.store, clock: world, maxAgeMs: 600_000 })
  let isCalm = true
  let stopped = false
  let lives = 0
  const weather = (): Weather => (isCalm ? { throttle: 0, unknown: 0, crash: 0 } : climate.weather)
  const wrap = <Port extends object>(life: Life, name: string, port: Port, writes: readonly string[] = []): Port =>
    through(port, name, { world, life, weather, writes })

  function servicesOf(life: Life): ControlLoopsOptions {
    const store = wrap(life, 'store', table.store, ['create', 'replace', 'remove'])
    const random = world.random
    const resources = createResources({ store, clock: world, random })
    return {
      store,
      index: wrap(life, 'index', table.index),
      resources,
      catalog,
      clock: world,
      random,
      logger: silent,
      telemetry: createPrometheusTelemetry(),
      events: createEventRecorder({ resources, clock: world, logger: silent }),
      controllers: controllers(life),
    }
  }

  const born = (name: string): Life => createLife(`${name}#${++lives}`)
  const shape = createControlLoops(servicesOf(born('shape')))
  const queues = new Map(
    shape.map(({ name, timeoutMs }) => [name, createSimQueue({ world, name, visibilityMs: 6 * timeoutMs })]),
  )
  const queueOf =
    (life: Life) =>
    ({ name }: { readonly name: string }): WorkQueue =>
      wrap(life, `queue:${name}`, queues.get(name) as WorkQueue)

  /** The event source mapping of a queue: polls, and gives each batch to a function. */
  async function serveQueue({ name, timeoutMs }: ControlLoop): Promise<void> {
    let running = 0
    let freed = Promise.withResolvers<void>()
    const queue = queues.get(name) as SimQueue
    const oneEnds = (): Promise<void> => {
      freed = Promise.withResolvers()
      return freed.promise
    }
    while (!stopped) {
      await queue.ready()
      await world.latency()
      if (running >= climate.concurrency) await oneEnds()
      const deliveries = await queue.receive(climate.queueBatch, new AbortController().signal)
      if (deliveries.length === 0) continue
      running++
      const life = born(name)
      const options = servicesOf(life)
      const loop = createControlLoops(options).find((one) => one.name === name) as ControlLoop
      const work = processBatch(
        deliveries,
        { queue: queueOf(life)({ name }), run: loop.run, logger: silent, concurrency: 10 },
        life.signal,
      )
      void invoke(life, work, timeoutMs + 5_000).finally(() => {
        running--
        freed.resolve()
      })
    }
  }

  /** A function ends when its work does, when it dies, or when its time is up. */
  async function invoke(life: Life, work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
    const over = new AbortController()
    const timer = world.sleep(timeoutMs, over.signal).then(() => 'late' as const)
    const ended = await life.live(
      Promise.race([
        work.then(
          () => 'ended' as const,
          () => 'failed' as const,
        ),
        timer,
      ]),
    )
    over.abort('ended')
    if (ended !== 'ended') life.kill()
    return ended === 'ended'
  }

  /** One shard of the stream: batches in order, again until they succeed, and now and then again after that. */
  async function serveShard(shard: number, shards: number): Promise<void> {
    let position = 0
    while (!stopped) {
      await table.grown(position)
      await world.latency()
      const due = dueRecords(shard, shards, position)
      if (due.length === 0) {
        position = nextPosition(shard, shards, position)
        continue
      }
      const life = born(`relay${shard}`)
      const relay = createControlRelay(servicesOf(life), queueOf(life))
      const isRelayed = await invoke(life, relay(due.map(({ record }) => record.change)), 60_000)
      const repeat = !isCalm && world.chance(climate.streamRepeats)
      if (isRelayed && !repeat) position = (due.at(-1)?.at ?? position) + 1
    }
  }

  function dueRecords(shard: number, shards: number, position: number) {
    const due = []
    for (let at = position; at < table.stream.length && due.length < climate.streamBatch; at++) {
      const record = table.stream[at]
      if (record === undefined || shardOf(keyText(record.key), shards) !== shard) continue
      if (record.visibleAtMs > world.nowMs()) break
      due.push({ at, record })
    }
    return due
  }

  /** Past the records of other shards; at a record of this one whose time has not come, time has to pass. */
  function nextPosition(shard: number, shards: number, position: number): number {
    let at = position
    while (at < table.stream.length && shardOf(keyText(table.stream[at]?.key as ObjectKey), shards) !== shard) at++
    return at
  }

  /** The schedule's minute tick, with what EventBridge may make of it. */
  async function serveTicks(): Promise<void> {
    let turnedMs = world.nowMs()
    while (!stopped) {
      const isTroubled = !isCalm && world.chance(climate.tickTrouble)
      await world.sleep(60_000 + (isTroubled ? Math.floor(world.random.next() * 90_000) : 0))
      const life = born('tick')
      const services = servicesOf(life)
      const swept: SweepOptions = {
        ...services,
        queueOf: queueOf(life),
        controllers: sweptBy(shape),
      }
      const nowMs = world.nowMs()
      const from = turnedMs
      const work = sweepTimers(swept, nowMs + 60_000).then(() => sweepWheel(swept, from, nowMs))
      if (await invoke(life, work, 60_000)) turnedMs = nowMs
    }
  }

  for (const loop of shape) void serveQueue(loop)
  for (let shard = 0; shard < shardCount; shard++) void serveShard(shard, shardCount)
  void serveTicks()

  return {
    table,
    request: (name) => {
      const life = born(name)
      return { resources: servicesOf(life).resources, life }
    },
    depth: () => [...queues.values()].reduce((sum, queue) => sum + queue.depth(), 0),
    trouble: (isOn) => {
      isCalm = !isOn
    },
    stop: () => {
      stopped = true
    },
  }
}

const shardCount = 2

function shardOf(text: string, shards: number): number {
  let sum = 0
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0
  return sum % shards
}
