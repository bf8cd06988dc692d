import { createPrometheusTelemetry } from '../adapters/local/prometheus-telemetry.ts'
import { createDynamodbChangeFeed } from '../adapters/aws/dynamodb/dynamodb-change-feed.ts'
import { createDynamodbCheckpoint } from '../adapters/aws/dynamodb/dynamodb-checkpoint.ts'
import { createDynamodbInHand } from '../adapters/aws/dynamodb/dynamodb-in-hand.ts'
import { createDynamodbIndex } from '../adapters/aws/dynamodb/dynamodb-index.ts'
import { createDynamodbNetted } from '../adapters/aws/dynamodb/dynamodb-netted.ts'
import { createDynamodbReservations } from '../adapters/aws/dynamodb/dynamodb-reservations.ts'
import { createDynamodbStore } from '../adapters/aws/dynamodb/dynamodb-store.ts'
import { changeOf } from '../adapters/aws/dynamodb/dynamodb-stream.ts'
import { deliveryOf, type LoopDelivery } from '../adapters/aws/sqs/sqs-message.ts'
import { createDeadLetters } from '../engine/loops/dead-letter.ts'
import { withDirectWake } from '../engine/wake/direct-wake.ts'
import type { Controller } from '../reconciler/controller.ts'
import { wheelSlot } from '../model/wheel.ts'
import type { Checkpoint } from '../ports/checkpoint.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { tellDefinitionWrites } from '../resources/definition-writes.ts'
import { createSeededRandom } from '../testing/seeded-random.ts'
import type { Delivery, WorkQueue } from '../ports/work-queue.ts'
import { createAwsApi } from '../runtime/aws/api.ts'
import { createDeadLetterBatch } from '../runtime/aws/dead-letters.ts'
import { createReconcileBatch } from '../runtime/aws/reconcile.ts'
import { openAwsQueues, type AwsQueues } from '../runtime/aws/queues.ts'
import { createRelayBatch } from '../runtime/aws/relay.ts'
import { workersOf } from '../runtime/aws/send-window.ts'
import { createTick, type Tick } from '../runtime/aws/resync.ts'
import { apiKindsMaxAgeMs, createAwsServices, type QueueServices, type TablePorts } from '../runtime/aws/services.ts'
import { pagesOf, type LocalCore, type LocalCoreOptions } from '../runtime/local/core.ts'
import type { OpenTestEngine, TestEngine } from '../testing/test-engine.ts'
import { bufferOf, startDynalite, testClient, type TestStreamRecord, type Transport } from './dynalite.ts'
import { mapQueue, type QueueMapping, type QueueRecord } from './queue-mapping.ts'
import { createTestSqs, type TestQueue, type TestSqs } from './test-sqs.ts'

/**
 * The engine as it is on AWS, for `createTestEnv({ engine: awsEngine })`, on the virtual clock of the environment:
 * DynamoDB's adapters on dynalite, its stream, and the batches of relay, reconcile, dead letters and tick that the
 * functions run.
 *
 * The queues are SQS in this process (`test-sqs.ts`), since no emulator of SQS has a virtual clock: the adapter of SQS
 * and the SDK's own client over the rules of FIFO queues (`fifo-queue.ts`), set up as `infra` does it for isolated
 * Controllers: one queue for each, one for the engine's own loops, one for dead letters, each with its event source
 * mapping. What a queue or a stream holds outlives a crash, and what a process had in hand comes again when its
 * visibility timeout ends, as it does there.
 *
 * What is not as it is there: all functions share a process and its knowledge of kinds, the stream has one shard, and a
 * function that ignores its end is not ended.
 */
export const awsEngine: OpenTestEngine = openAwsEngine

async function openAwsEngine(clock: Clock): Promise<TestEngine> {
  const dynalite = await startDynalite('setpoint')
  const traffic = watched(dynalite.transport)
  const options = { client: testClient(traffic.transport), table: 'setpoint', clock, random: createSeededRandom(1) }
  const checkpoint = (name: string) => createDynamodbCheckpoint({ ...options, name })
  const stream: TestStreamRecord[] = []
  const sqs = createTestSqs(clock)
  const isQuiet = (): boolean => traffic.isQuiet() && sqs.isQuiet()
  const state: Durable = { stream, position: 0, grown: Promise.withResolvers(), sqs, isQuiet }
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
    isQuiet,
  }
}

/** What is left when a process dies. */
interface Durable {
  readonly stream: readonly TestStreamRecord[]
  /** How far the relay got. */
  position: number
  grown: PromiseWithResolvers<void>
  readonly sqs: TestSqs
  /** No request is under way, and none has just been. */
  isQuiet(): boolean
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
  const { clock, logger, controllers, ports } = options
  const telemetry = createPrometheusTelemetry()
  const boundary = { clock, retire: () => {}, ...(options.webhooks && { webhooks: options.webhooks }) }
  const boundaryOf = () => ({ ...boundary, random: lateOnTheWheel(options.random) })
  const checkpointOf = (name: string): Checkpoint => (name === 'access' ? checkpoint(name) : ports.turned)
  const { mappings, queues } = openQueues(options, state.sqs, checkpoint)
  const common = {
    ports: { ...ports, reserve, listNetted, inHand, checkpoint: checkpointOf },
    controllers,
    ...(options.kinds && { kinds: options.kinds }),
    logger,
    telemetry,
  }
  const { retryBudget } = options
  const services = createAwsServices({ ...common, boundary: boundaryOf(), retryBudget, kindsMaxAgeMs: 300_000 })
  const apiServices = createAwsServices({
    ...common,
    boundary: boundaryOf(),
    kindsMaxAgeMs: apiKindsMaxAgeMs,
    wrapStore: (store) =>
      tellDefinitionWrites(
        withDirectWake(store, { controllers, ...queues, clock, logger }),
        services.catalog.invalidate,
      ),
  })
  const outside = { ...(options.roles && { roles: options.roles }), ...(options.vault && { vault: options.vault }) }
  const engine = { ...services, ...queues, ...outside }
  const stop = new AbortController()
  const tick = createTick(engine)
  const ticked = tick()
  await Promise.race([ticked, untilQuiet(state.isQuiet)])
  const running = [
    serveStream(engine, state, stop.signal),
    serveTicks({ ...engine, tick, ticked, everyMs: Math.max(60_000, options.tickMs ?? 0) }, stop.signal),
    ...mappings(engine).map((mapping) => mapQueue(mapping, stop.signal)),
  ]
  return {
    api: createAwsApi(apiServices, options.authenticate, { pages: pagesOf(telemetry, controllers) }),
    resources: apiServices.resources,
    catalog: apiServices.catalog,
    ended: Promise.all(running),
    stop: async () => {
      stop.abort()
      grow(state)
      await Promise.race([Promise.all(running), clock.sleep(0)])
    },
  }
}

interface OpenedQueues {
  readonly queues: AwsQueues
  /** What hands the queues' messages to the functions. */
  mappings(engine: QueueServices): readonly QueueMapping[]
}

/** As `infra` makes them. */
function openQueues(
  { clock, random, controllers, wrapQueue = (queue) => queue }: LocalCoreOptions,
  sqs: TestSqs,
  checkpoint: (name: string) => Checkpoint,
): OpenedQueues {
  const dead = sqs.openQueue({ name: 'dead-letters.fifo', visibilityMs: 180_000 })
  const open = ({ name, timeoutMs }: Worker): TestQueue =>
    sqs.openQueue({ name: `${name}.fifo`, visibilityMs: 6 * timeoutMs, redrive: { maxReceiveCount, to: dead } })
  const workers = [systemWorker, ...controllers.map(workerOf)].map((worker) => ({ ...worker, queue: open(worker) }))
  const urls = Object.fromEntries(workers.map(({ name, queue }) => [name, queue.url]))
  const environment = { SETPOINT_QUEUES: JSON.stringify(urls) }
  const queues = openAwsQueues({ environment, sqs: sqs.settings, clock, random }, controllers, checkpoint)
  const wrapped = new Map<string, WorkQueue>()
  const queueOf: AwsQueues['queueOf'] = ({ name }) => {
    const queue = wrapped.get(name) ?? wrapQueue(queues.queueOf({ name }), name)
    wrapped.set(name, queue)
    return queue
  }
  return {
    queues: { ...queues, queueOf },
    mappings: (engine) => [
      ...workers.map(({ queue, concurrency, timeoutMs }): QueueMapping => {
        const reconcile = createReconcileBatch(engine)
        const invoke = (records: readonly QueueRecord[]) =>
          reconcileRecords(records, (all) => reconcile(all, timeoutMs))
        return { queue, ...workersOf(concurrency), invoke, remove: (done) => removeRecords(done, queueOf) }
      }),
      {
        queue: dead,
        batchSize: 10,
        invocations: 5,
        invoke: createDeadLetterBatch(() => createDeadLetters(engine), engine.logger),
        remove: async (done) => {
          for (const { receiptHandle } of done) dead.messages.delete(receiptHandle)
        },
      },
    ],
  }
}

/** As infra has it (infra/constructs/work-queue.ts). */
const maxReceiveCount = 10

/** A function that reconciles, and how long it may take. */
interface Worker {
  readonly name: string
  readonly timeoutMs: number
  readonly concurrency: number
}

const systemWorker: Worker = { name: 'system', timeoutMs: 75_000, concurrency: 10 }

function workerOf({ name, timeoutMs, concurrency }: Controller): Worker {
  return { name, timeoutMs: timeoutMs + 15_000, concurrency }
}

/** What Lambda does, by the port of the queue: tests look at it there, and make it fail. */
async function removeRecords(done: readonly QueueRecord[], queueOf: AwsQueues['queueOf']): Promise<void> {
  for (const [name, some] of Map.groupBy(done.map(deliveryOf), ({ loop }) => loop))
    await queueOf({ name }).settle(some.map(({ delivery }) => delivery))
}

async function reconcileRecords(
  records: readonly QueueRecord[],
  reconcile: (all: readonly LoopDelivery[]) => Promise<readonly Delivery[]>,
): Promise<readonly string[]> {
  const all = records.map((record) => ({ id: record.messageId, said: deliveryOf(record) }))
  const kept = await reconcile(all.map(({ said }) => said))
  return all.flatMap(({ id, said }) => (kept.includes(said.delivery) ? id : []))
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
 * Resolves when a tick has nothing more to do but to wait: where a restart finds much to sweep, it does so until the
 * queues have room, by a clock that nobody moves while a process starts.
 */
async function untilQuiet(isQuiet: () => boolean): Promise<void> {
  for (let quietTurns = 0; quietTurns < 10; quietTurns = isQuiet() ? quietTurns + 1 : 0)
    await new Promise((resolve) => setTimeout(resolve, 1))
}

/**
 * A minute apart, or more for tests of days: the next one makes up for what was missed, as for a tick that never came.
 */
async function serveTicks({ clock, logger, tick, ticked, everyMs }: Ticking, signal: AbortSignal): Promise<void> {
  const tell = (error: unknown): void => logger.error('tick failed', { error: String(error) })
  await ticked.catch(tell)
  for (await clock.sleep(everyMs, signal); !signal.aborted; await clock.sleep(everyMs, signal)) await tick().catch(tell)
}

interface Ticking extends QueueServices {
  readonly tick: Tick
  /** The first one, which has begun. */
  readonly ticked: Promise<void>
  readonly everyMs: number
}
