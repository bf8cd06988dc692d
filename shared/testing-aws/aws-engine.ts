import { createLocalWorkQueue, type LocalWorkQueue } from '../adapters/local/queue/local-work-queue.ts'
import { createPrometheusTelemetry } from '../adapters/local/prometheus-telemetry.ts'
import { createDynamodbChangeFeed } from '../adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createDynamodbCheckpoint } from '../adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { createDynamodbInHand } from '../adapters/aws/dynamodb/dynamodb-in-hand.ts'
import { createDynamodbIndex } from '../adapters/aws/dynamodb/dynamodb-index.ts'
import { createDynamodbNetted } from '../adapters/aws/dynamodb/dynamodb-netted.ts'
import { createDynamodbReservations } from '../adapters/aws/dynamodb/dynamodb-reservations.ts'
import { createDynamodbStore } from '../adapters/aws/dynamodb/dynamodb-store.ts'
import { changeOf } from '../adapters/aws/dynamodb/dynamodb-stream.ts'
import { createControlLoops, type ControlLoop } from '../engine/loops/control-loops.ts'
import { createSharedRetryBudget } from '../engine/limits/retry-budget.ts'
import { wheelSlot } from '../model/wheel.ts'
import type { Checkpoint } from '../ports/checkpoint.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { createSeededRandom } from '../testing/seeded-random.ts'
import type { Delivery, WorkQueue } from '../ports/work-queue.ts'
import { createAwsApi } from '../runtime/aws/api.ts'
import { createReconcileBatch, reserveMs } from '../runtime/aws/reconcile.ts'
import type { QueueCapacity } from '../runtime/aws/queues.ts'
import { createRelayBatch } from '../runtime/aws/relay.ts'
import { createTick, type Tick } from '../runtime/aws/resync.ts'
import { createAwsServices, type QueueServices, type TablePorts } from '../runtime/aws/services.ts'
import { pagesOf, type LocalCore, type LocalCoreOptions } from '../runtime/local/core.ts'
import type { OpenTestEngine, TestEngine } from '../testing/test-engine.ts'
import { bufferOf, startDynalite, testClient, type TestStreamRecord, type Transport } from './dynalite.ts'

/**
 * The engine as it is on AWS, for `createTestEnv({ engine: awsEngine })`, on the virtual clock of the environment:
 * DynamoDB's adapters on dynalite, its stream, the batches of relay, reconcile and tick that the functions run, and
 * queues with the rules of SQS FIFO in this process, since no emulator of SQS has a virtual clock. What a queue or a
 * stream holds outlives a crash, as it does there.
 */
export const awsEngine: OpenTestEngine = openAwsEngine

async function openAwsEngine(clock: Clock): Promise<TestEngine> {
  const dynalite = await startDynalite('setpoint')
  const traffic = watched(dynalite.transport)
  const options = { client: testClient(traffic.transport), table: 'setpoint', clock, random: createSeededRandom(1) }
  const checkpoint = (name: string) => createDynamodbCheckpoint({ ...options, name })
  const stream: TestStreamRecord[] = []
  const state: Durable = { stream, position: 0, grown: Promise.withResolvers(), queues: new Map(), inHand: new Map() }
  dynalite.onRecord((record) => {
    stream.push(record)
    grow(state)
  })
  return {
    ports: {
      store: createDynamodbStore(options),
      index: createDynamodbIndex(options),
      feed: createDynamodbChangeFeed(options),
      relayed: checkpoint('relayed'),
      turned: checkpoint('turned'),
      introduced: checkpoint('introduced'),
      close: () => void dynalite.close(),
    },
    start: (given) => {
      const others = {
        reserve: createDynamodbReservations(options),
        listNetted: createDynamodbNetted(options),
        inHand: createDynamodbInHand(options),
        checkpoint,
      }
      return startAwsCore(given, others, state)
    },
    isQuiet: traffic.isQuiet,
  }
}

/** What is left when a process dies. */
interface Durable {
  readonly stream: readonly TestStreamRecord[]
  /** How far the relay got. */
  position: number
  grown: PromiseWithResolvers<void>
  readonly queues: Map<string, LocalWorkQueue>
  /** What the functions that live have in hand, by queue. */
  readonly inHand: Map<string, Set<Delivery>>
}

/** Wakes who waits for the stream to go on. */
function grow(state: Durable): void {
  const { grown } = state
  state.grown = Promise.withResolvers()
  grown.resolve()
}

/** A record comes out of the stream a few milliseconds of real time after its write. */
const streamMs = 12

function watched(transport: Transport): { readonly transport: Transport; isQuiet(): boolean } {
  let running = 0
  let wroteMs = 0
  return {
    isQuiet: () => running === 0 && performance.now() - wroteMs > streamMs,
    transport: {
      handle: async (request) => {
        running++
        try {
          return await transport.handle(request)
        } finally {
          running--
          const body = bufferOf(request.body).toString()
          if (
            /(Put|Update|Delete)/.test(request.headers['x-amz-target'] ?? '') &&
            !/"(checkpoint|reservations|in-hand)#/.test(body)
          )
            wroteMs = performance.now()
        }
      },
    },
  }
}

/**
 * The first objects sit where the wheel's hand passes last, more than nine hours after a test's virtual time begins:
 * which uid an object gets is chance, and tests of other things rely on no resync coming in between, as it does not by
 * the chance of the local engine.
 */
function lateOnTheWheel(random: Random): Random {
  let left = 40
  const isLate = (uid: string): boolean => wheelSlot(uid) >= 1_800 && wheelSlot(uid) < 2_160
  return {
    next: random.next,
    uuid: () => {
      let uid = random.uuid()
      if (left-- > 0) while (!isLate(uid)) uid = random.uuid()
      return uid
    },
  }
}

async function startAwsCore(
  options: LocalCoreOptions,
  { reserve, listNetted, inHand, checkpoint }: Pick<TablePorts, 'reserve' | 'listNetted' | 'inHand' | 'checkpoint'>,
  state: Durable,
): Promise<LocalCore> {
  const { clock, logger, controllers, ports, wrapQueue = (queue) => queue } = options
  const random = lateOnTheWheel(options.random)
  const telemetry = createPrometheusTelemetry()
  const boundary = { clock, random, retire: () => {}, ...(options.webhooks && { webhooks: options.webhooks }) }
  const checkpointOf = (name: string): Checkpoint => (name === 'access' ? checkpoint(name) : ports.turned)
  const tablePorts = { ...ports, reserve, listNetted, inHand, checkpoint: checkpointOf }
  const services = createAwsServices({
    boundary,
    ports: tablePorts,
    controllers,
    kindsMaxAgeMs: 300_000,
    logger,
    telemetry,
  })
  const loops = createControlLoops(services)
  for (const { name, timeoutMs } of loops)
    if (!state.queues.has(name))
      state.queues.set(name, createLocalWorkQueue({ clock, random, visibilityMs: 6 * (timeoutMs + 15_000) }))
  await giveBack(state)
  const wrapped = new Map([...state.queues].map(([name, queue]) => [name, wrapQueue(queue, name)]))
  const queueOf = ({ name }: { readonly name: string }): WorkQueue => wrapped.get(name) as WorkQueue
  const budget = options.retryBudget && { retryBudget: createSharedRetryBudget(options.retryBudget, reserve) }
  const outside = { ...(options.roles && { roles: options.roles }), ...(options.vault && { vault: options.vault }) }
  const capacityOf = ({ name }: { readonly name: string }): QueueCapacity => ({ queue: name, concurrency: 10 })
  const engine: QueueServices = { ...services, queueOf, capacityOf, ...budget, ...outside }
  const stop = new AbortController()
  const tick = createTick({ ...engine, depthOf: async ({ name }) => state.queues.get(name)?.depth() ?? 0 })
  await tick()
  const running = [
    serveStream(engine, state, stop.signal),
    serveTicks(tick, { ...engine, everyMs: Math.max(60_000, options.tickMs ?? 0) }, stop.signal),
    ...loops.map((loop) => serveQueue(loop, { engine, state, signal: stop.signal })),
  ]
  return {
    api: createAwsApi(services, options.authenticate, { pages: pagesOf(telemetry, controllers) }),
    resources: services.resources,
    catalog: services.catalog,
    ended: Promise.all(running),
    stop: async () => {
      stop.abort()
      grow(state)
      await Promise.race([Promise.all(running), clock.sleep(0)])
    },
  }
}

/**
 * What a dead process had in hand comes again when its visibility timeout ends. Here it ends with the process: time is
 * no matter then.
 */
async function giveBack({ queues, inHand }: Durable): Promise<void> {
  for (const [name, deliveries] of inHand) await queues.get(name)?.hold([...deliveries], 0)
  inHand.clear()
}

async function serveStream(engine: QueueServices, state: Durable, signal: AbortSignal): Promise<void> {
  const relay = createRelayBatch({ ...engine, publish: async () => {} })
  while (!signal.aborted) {
    const batch = state.stream.slice(state.position, state.position + 100)
    if (batch.length === 0) await state.grown.promise
    const failed = await relay(batch.map((record, i) => ({ id: String(i), change: () => changeOf(record) })))
    state.position += failed === undefined ? batch.length : Number(failed)
    if (failed !== undefined) await engine.clock.sleep(1_000, signal)
  }
}

/**
 * A minute apart, or more for tests of days: the next one makes up for what was missed, as for a tick that never came.
 */
async function serveTicks(tick: Tick, { clock, logger, everyMs }: Ticking, signal: AbortSignal): Promise<void> {
  for (await clock.sleep(everyMs, signal); !signal.aborted; await clock.sleep(everyMs, signal))
    await tick().catch((error: unknown) => logger.error('tick failed', { error: String(error) }))
}

interface Ticking extends QueueServices {
  readonly everyMs: number
}

interface Serving {
  readonly engine: QueueServices
  readonly state: Durable
  readonly signal: AbortSignal
}

/** The event source mapping: batches of ten, as many keys at once as the controller may run. */
async function serveQueue(loop: ControlLoop, { engine, state, signal }: Serving): Promise<void> {
  const queue = engine.queueOf(loop)
  const reconcile = createReconcileBatch(engine)
  const inHand = new Set<Delivery>()
  state.inHand.set(loop.name, inHand)
  let running = 0
  let freed = Promise.withResolvers<void>()

  async function hand(deliveries: readonly Delivery[]): Promise<void> {
    const batch = deliveries.map((delivery) => ({ loop: loop.name, delivery }))
    const kept = await reconcile(batch, loop.timeoutMs + reserveMs + 10_000)
    const done = deliveries.filter((delivery) => !kept.includes(delivery))
    if (done.length > 0) await queue.settle(done)
    for (const delivery of deliveries) inHand.delete(delivery)
    running -= deliveries.length
    freed.resolve()
  }

  while (!signal.aborted) {
    const max = Math.min(10, loop.concurrency - running)
    const deliveries = max > 0 ? await queue.receive(max, signal) : []
    running += deliveries.length
    for (const delivery of deliveries) inHand.add(delivery)
    if (deliveries.length > 0) void hand(deliveries)
    if (running < loop.concurrency) continue
    freed = Promise.withResolvers()
    await freed.promise
  }
}
