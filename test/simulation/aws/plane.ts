import type { LoopDelivery } from '../../../shared/adapters/aws/sqs/sqs-message.ts'
import { withDirectWake } from '../../../shared/engine/wake/direct-wake.ts'
import { createApi } from '../../../shared/api/api.ts'
import { createControlLoops, sweptControllersOf, type ControlLoop } from '../../../shared/engine/loops/control-loops.ts'
import type { Controller } from '../../../shared/reconciler/controller.ts'
import type { Kind } from '../../../shared/reconciler/kind.ts'
import { createDeadLetters } from '../../../shared/engine/loops/dead-letter.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import { keyOf, type ObjectKey } from '../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { Checkpoint } from '../../../shared/ports/checkpoint.ts'
import type { Change, ChangeFeed } from '../../../shared/ports/change-feed.ts'
import type { HttpHandler } from '../../../shared/ports/http-handler.ts'
import type { WakeUp, WorkQueue } from '../../../shared/ports/work-queue.ts'
import type { Seeing } from '../../../shared/runtime/aws/boundary.ts'
import { createArrivedBatch, createReconcileBatch, type ReconcileBatch } from '../../../shared/runtime/aws/reconcile.ts'
import { completeIntroduction } from '../../../shared/engine/wake/aws-introduction.ts'
import { createRelayBatch, type RelayBatch } from '../../../shared/runtime/aws/relay.ts'
import type { AwsQueues, QueueCapacity } from '../../../shared/runtime/aws/queues.ts'
import { createTick, type Tick } from '../../../shared/runtime/aws/resync.ts'
import { apiKindsMaxAgeMs, createAwsServices, type QueueServices } from '../../../shared/runtime/aws/services.ts'
import { clearSky, type Climate } from '../climate.ts'
import { through, type Life, type Network } from '../life.ts'
import { placedIn } from '../placed.ts'
import { simToken, type Plane, type PlaneOptions } from '../plane.ts'
import type { Absence, Scenario } from '../scenario.ts'
import { silent } from '../silent.ts'
import { beginMs, below, type World } from '../world.ts'
import { createAwsClients } from './clients.ts'
import { createStages } from './deployments.ts'
import { basicItems } from './first-items.ts'
import { createFunctions } from './functions.ts'
import { arnOf, createQueueStack, queueAt, type QueueStack } from './queue-stack.ts'
import { createSimFeed, type SimFeed } from './sim-feed.ts'
import { createSimQueue, type SimQueue } from './sim-queue.ts'
import { referenceIndex } from './sim-references.ts'
import { shardOf, type SimShard } from './sim-stream.ts'
import { createSimTable, type SimTable } from './sim-table.ts'

export interface AwsPlane extends Plane {
  readonly table: SimTable
}

/** The control plane as it stands on AWS: every piece of work is an invocation of a function. */
export function startAwsPlane(options: PlaneOptions): AwsPlane {
  const { world, scenario } = options
  const { climate, absent } = scenario
  let weather = climate
  const now = (): Climate => weather
  const network: Network = {
    world,
    random: world.random.fork('network'),
    climate: now,
    isCalm: () => weather !== climate,
  }
  const feed = scenario.watch && createSimFeed({ world, trouble: scenario.watch, network, page: climate.page })
  const table = createSimTable({ world, climate, feed, onWrite: options.onWrite })
  const stageOf = scenario.queues && createStages(world, scenario.seed, scenario.queues)
  const deployment = stageOf ?? (() => deploymentAt(world, scenario.absent))
  const functions = createFunctions({ world, climate: now, deployment })
  const queues = new Map<string, SimQueue>()
  const dead = new Set<WakeUp>()
  const forgetting = world.random.fork('forgetting')
  const tellOf = createTelling(world, () => (weather === climate ? (scenario.hardRecords ?? 0) : 0))
  const queueNamed = (loop: string): SimQueue => queues.get(loop) ?? (queues.get('system') as SimQueue)

  const services = functions.sharing((life) =>
    createServices(life, {
      ...options,
      table,
      feed,
      network,
      now,
      queueNamed,
      queues,
      stack: () => (life.name.startsWith('shape') ? undefined : stack),
    }),
  )
  const users = options.controllers(functions.birth('shape'), network)
  const shape = createControlLoops(services(functions.birth('shape')))
  const isUsers = ({ name }: { readonly name: string }): boolean => users.some((controller) => controller.name === name)
  const timeoutOf = (name: string): number => shape.find((loop) => loop.name === name)?.timeoutMs ?? 0
  const stack =
    scenario.queues &&
    createQueueStack({
      world,
      seed: scenario.seed,
      trouble: scenario.queues,
      controllers: users,
      queues,
      create: (name, controller) => createQueue(name, timeoutOf(controller)),
      serve: (queue, name, controller) =>
        void serveQueue(name, queue, { name: controller, timeoutMs: timeoutOf(controller) }),
    })
  for (const loop of stack === undefined ? shape.filter(isUsers) : []) openQueue(loop)
  openQueue({ name: 'system', timeoutMs: Math.max(...shape.filter((loop) => !isUsers(loop)).map(longest)) })
  if (stack !== undefined) void table.checkpoint('queues').save(stack.plan)
  // All that is there has been looked at long ago.
  void table.checkpoint('resync').save(introduced(shape, world.nowMs()))

  function openQueue({ name, timeoutMs }: Worker): void {
    const queue = createQueue(name, timeoutMs)
    queues.set(name, queue)
    void serveQueue(name, queue, { name, timeoutMs })
  }

  function createQueue(name: string, timeoutMs: number): SimQueue {
    return createSimQueue({
      world,
      name,
      visibilityMs: () => Math.max(1, visibilityTimes * timeoutMs * now().visibilityShare),
      climate: now,
      onDead: (loop, wakeUp) => void bury(loop, wakeUp),
    })
  }

  /**
   * The event source mapping of a queue: polls, gives each batch to a function, and deletes what that did not report.
   */
  async function serveQueue(name: string, queue: SimQueue, worker: Worker): Promise<void> {
    const random = world.random.fork(`mapping ${name}`)
    const slots = createSlots(climate.concurrency)
    for (;;) {
      await queue.ready()
      await slots.free()
      const batch = queue.receive(climate.queueBatch)
      if (batch.length === 0) {
        await world.sleep(pollMs)
        continue
      }
      if (now().invokeThrottle > random.next()) {
        world.fault('invocation throttled')
        continue
      }
      slots.take()
      void serveBatch(name, queue, { batch, worker }).finally(() => slots.give())
      await world.sleep(below(random, 5))
    }
  }

  async function serveBatch(name: string, queue: SimQueue, { batch, worker }: Batch): Promise<void> {
    const timeMs = worker.timeoutMs + overheadMs
    const kept = await functions.invoke(`reconcile ${worker.name}`, timeMs, (life) =>
      services(life).reconcile(batch, timeMs, name),
    )
    if (kept !== undefined) queue.remove(handlesWithout(batch, kept))
  }

  /** The consumer of the dead-letter queues. */
  async function bury(loop: string, wakeUp: WakeUp): Promise<void> {
    dead.add(wakeUp)
    for (;;) {
      const isDone = await functions.invoke('deadletter', 60_000, (life) => services(life).bury(loop, wakeUp))
      if (isDone === true) return void dead.delete(wakeUp)
      await world.sleep(360_000)
    }
  }

  /**
   * The mapping of one shard of the stream: batches in order; from the first record that was not relayed on they come
   * again, in halves, and a record that always fails is set aside. Now and then a batch comes once more.
   */
  async function serveShard(shard: SimShard): Promise<void> {
    const random = world.random.fork(`shard ${table.stream.shards.indexOf(shard)}`)
    let most = climate.streamBatch
    let tries = 0
    for (;;) {
      await shard.readable()
      const batch = shard.read(most)
      const records = batch.map((change, i) => ({ id: String(i), change: () => tellOf(change) }))
      // A first try waits for nothing that is away, as one whose function took long to start.
      const timeMs = tries === 0 ? 0 : relayMs
      const failed = await functions.invoke(
        'relay',
        relayMs,
        async (life) => (await services(life).relay(records, timeMs)) ?? 'none',
      )
      if (failed === 'none') {
        most = climate.streamBatch
        tries = 0
        if (now().streamRepeats > random.next()) await forget()
        else shard.moveOn(batch.length)
        continue
      }
      world.fault('stream batch again')
      const done = Number(failed ?? 0)
      shard.moveOn(done)
      if (climate.streamBisects) most = Math.max(1, Math.floor((batch.length - done) / 2))
      tries = done > 0 ? 1 : tries + 1
      if (tries > climate.streamRetriesMax) setAside(shard)
      await world.sleep(500)
    }
  }

  /** The mapping does not know that it has got so far, and finds out at once or in a while. */
  async function forget(): Promise<void> {
    world.fault('stream batch repeated')
    if (forgetting.next() < 0.7) await world.sleep(below(forgetting, 20_000))
  }

  function setAside(shard: SimShard): void {
    world.fault('stream record set aside')
    shard.moveOn(1)
  }

  /** The schedule's minute tick, with what EventBridge may make of it. */
  async function serveTicks(): Promise<void> {
    const random = world.random.fork('ticks')
    for (;;) {
      await world.sleep(60_000)
      const trouble = now().tickTrouble > random.next() ? below(random, 3) : undefined
      if (trouble !== undefined) world.fault(['tick missed', 'tick late', 'tick doubled'][trouble] ?? '')
      if (trouble === 0) continue
      if (trouble === 1) await world.sleep(below(random, 90_000))
      const tick = () => functions.invoke('resync', 55_000, (life) => services(life).tick())
      const ticks = trouble === 2 ? [tick(), tick()] : [tick()]
      void Promise.all(ticks)
    }
  }

  /** A stack without the controller has no queue of it. */
  async function takeAway({ kind, fromMs, untilMs }: Absence): Promise<void> {
    const { name } = users.find((controller) => controller.kind.kind === kind) ?? { name: '' }
    const queue = queues.get(name)
    await world.sleep(fromMs)
    world.fault('controller taken away')
    queue?.purge()
    await world.sleep(untilMs - fromMs)
    queue?.purge()
  }

  if (absent !== undefined) void takeAway(absent)
  for (const shard of table.stream.shards) void serveShard(shard)
  void serveTicks()

  async function begin(): Promise<void> {
    for (const stored of await basicItems(scenario)) table.place(stored)
    for (const { stored, targets } of placedIn(scenario)) {
      table.place(stored)
      await table.index.setReferences(targets[0], targets.slice(1))
    }
  }

  const heads = world.random.fork('heads of watches')
  const headMs = (): number => (scenario.watch?.replicas === undefined ? 0 : below(heads, headMsMax))

  return {
    table,
    begin,
    ...createAwsClients({ world, functions, apiOf: (life) => services(life).api, headMs }),
    backlog: () =>
      [...queues.values()].reduce((sum, queue) => sum + queue.depth(), 0) +
      dead.size +
      table.stream.shards.reduce((sum, shard) => sum + shard.behind(), 0),
    calmDown: () => {
      weather = { ...clearSky, queueBatch: climate.queueBatch, streamBatch: climate.streamBatch }
      functions.calmDown()
    },
    end: () => {},
  }
}

/** Tells what a record says. Now and then one cannot be told for up to a minute, however often it is tried. */
function createTelling(world: World, share: () => number): (change: Change) => Change {
  const random = world.random.fork('hard records')
  const untilMs = new WeakMap<Change, number>()
  return (change) => {
    if (share() === 0) return change
    const known = untilMs.get(change) ?? (random.next() < share() ? world.nowMs() + below(random, 60_000) : 0)
    untilMs.set(change, known)
    if (world.nowMs() >= known) return change
    world.fault('stream record not told')
    throw new Error('this record cannot be told')
  }
}

interface Batch {
  readonly batch: readonly LoopDelivery[]
  readonly worker: Worker
}

/** The function that runs what is in a queue, and how long a run may take. */
interface Worker {
  readonly name: string
  readonly timeoutMs: number
}

/** A function's timeout is a sixth of the visibility timeout: a redelivered message meets no living worker. */
const visibilityTimes = 6
const pollMs = 1_000

/** What a function may take beyond its reconciler's time. Source: infra/constructs/controller.ts. */
const overheadMs = 15_000

function handlesWithout(batch: readonly LoopDelivery[], kept: readonly LoopDelivery['delivery'][]): readonly string[] {
  return batch.filter(({ delivery }) => !kept.includes(delivery)).map(({ delivery }) => delivery.handle)
}

function longest({ timeoutMs }: ControlLoop): number {
  return timeoutMs
}

/** The checkpoint of the tick as it is when all loops have been there for long. */
function introduced(loops: readonly ControlLoop[], nowMs: number): string {
  const all = sweptControllersOf(loops).map((loop) => [
    `${loop.name} ${loop.kind.kind}.${loop.kind.group}`,
    { turnedMs: nowMs, ...completeIntroduction(loop) },
  ])
  return JSON.stringify(Object.fromEntries(all))
}

function createSlots(most: number) {
  let taken = 0
  let freed = Promise.withResolvers<void>()
  return {
    free: async (): Promise<void> => {
      while (taken >= most) {
        freed = Promise.withResolvers()
        await freed.promise
      }
    },
    take: (): void => {
      taken++
    },
    give: (): void => {
      taken--
      freed.resolve()
    },
  }
}

/** The handlers of one process, over its own view of the ports. */
interface Services extends QueueServices {
  readonly reconcile: (batch: readonly LoopDelivery[], timeMs: number, queue: string) => ReturnType<ReconcileBatch>
  readonly relay: RelayBatch
  readonly tick: Tick
  bury(loop: string, wakeUp: WakeUp): Promise<true>
  readonly api: HttpHandler
}

interface ServicesOptions extends PlaneOptions {
  readonly table: SimTable
  readonly feed: SimFeed | undefined
  readonly network: Network
  readonly now: () => Climate
  readonly queueNamed: (loop: string) => SimQueue
  readonly queues: ReadonlyMap<string, SimQueue>
  /** Where controllers have several queues. */
  readonly stack: () => QueueStack | undefined
}

function createServices(life: Life, options: ServicesOptions): Services {
  const services = awsServices(life, options)
  const depthOf = async ({ name }: { readonly name: string }): Promise<number> => options.queueNamed(name).waiting()
  const { receiveFrom } = services
  const deadLetters = once(() => createDeadLetters(services))
  return {
    ...services,
    reconcile: lazily(() =>
      receiveFrom === undefined ? createReconcileBatch(services) : createArrivedRuns({ ...services, receiveFrom }),
    ),
    relay: lazily(() => createRelayBatch({ ...services, publish: async () => {} })),
    tick: lazily(() => createTick({ depthOf, ...services })),
    bury: async (loop, wakeUp) => {
      await deadLetters()({ loop, wakeUp })
      return true
    },
    api: lazily(() =>
      createApi({
        ...services,
        authenticate: (token) => (token === simToken ? { name: 'user', groups: ['system:masters'] } : undefined),
        explain: async () => '',
        pages: new Map(),
        version: '0.0.0',
      }),
    ),
  }
}

/** The function of a controller that has several queues. */
function createArrivedRuns(services: QueueServices & Pick<AwsQueues, 'receiveFrom'>): Services['reconcile'] {
  const run = createArrivedBatch(services)
  return async (batch, timeMs, queue) => {
    const left = await run(
      batch.map((message) => ({ message, arn: arnOf(queue) })),
      timeMs,
    )
    return left.map(({ message }) => message.delivery)
  }
}

/**
 * What a function works with on AWS, over ports that are simulated. A bundle of a reconcile function holds its own
 * controller only.
 */
function awsServices(life: Life, options: ServicesOptions): QueueServices & Partial<AwsQueues> {
  const { table, network, world, queueNamed, feed } = options
  const see = <Port extends object>(port: Port, name: string, ...writes: readonly string[]): Port =>
    through(port, name, { network, life, writes })
  const store = through(table.storeOf(life), 'store', {
    network,
    life,
    writes: ['create', 'replace', 'remove'],
    refusal: (args) => isHot(args[0], options),
    findAhead: feed && (([stored]) => feed.findEntry(life, keyOf((stored as StoredObject).object))),
  })
  const own = /^reconcile (?!system)(?<controller>[^#]+)/.exec(life.name)?.groups?.['controller']
  const seeQueue = (queue: WorkQueue, name: string): WorkQueue =>
    see(queue, `queue:${name}`, 'send', 'settle', 'hold', 'wake')
  const queueThere = oncePerName((name) => seeQueue(queueNamed(name).portOf(name), name))
  const queueGone = oncePerName((name) => seeQueue(noQueue, name))
  const onlyQueueOf = ({ name }: { readonly name: string }): WorkQueue =>
    isAway(deploymentAt(world, options.scenario.absent), name, options.scenario) ? queueGone(name) : queueThere(name)
  const controllers = options
    .controllers(life, network)
    .filter(
      ({ name, kind }) => (own === undefined || name === own) && !isAway(life.deployment, kind.kind, options.scenario),
    )
    .map((controller) => (options.scenario.climate.deploying ? controller : installed(controller)))
  const checkpoint = (name: string): Checkpoint => see(table.checkpoint(name), name, 'save')
  const open = (url: string, loop: string): WorkQueue => seeQueue(queueAt(options.queues, url, loop), loop)
  const spread = options.stack()?.queuesOf(life, { controllers, checkpoint, open })
  const queueOf = spread?.queueOf ?? onlyQueueOf
  const services = createAwsServices({
    boundary: {
      clock: life.clock,
      random: world.random.fork(`chance ${life.name}`),
      retire: () => life.retire(),
      ...(options.webhooks && { webhooks: options.webhooks(life) }),
    },
    ports: {
      store,
      index: {
        ...see(table.index, 'index'),
        ...referenceIndex(see(table.references, 'references', 'add', 'forget', 'record'), life.clock),
      },
      listNetted: see({ listNetted: table.listNetted }, 'netted').listNetted,
      inHand: see(table.inHand, 'in-hand', 'note', 'strike'),
      feed: feed?.feedOf(life) ?? unwatched,
      checkpoint,
      reserve: see({ reserve: table.reserveBy(life) }, 'reservations', 'reserve').reserve,
    },
    controllers,
    retryBudget: options.scenario.retryBudget,
    ...(life.name.startsWith('api') && {
      wrapStore: (one) => withDirectWake(one, { controllers, queueOf, clock: life.clock, logger: silent }),
    }),
    kindsMaxAgeMs: life.name.startsWith('api') ? apiKindsMaxAgeMs : 300_000,
    logger: silent,
    telemetry: unheard,
  })
  const capacityOf = ({ name: queue }: { readonly name: string }): QueueCapacity => ({ queue, concurrency: 10 })
  return { ...services, queueOf, capacityOf, ...spread }
}

/**
 * Its definitions have been there for long. Where two versions of the code run, each new process of the tick applies
 * them.
 */
function installed(controller: Controller): Controller {
  const known = <Known extends { readonly kind: Kind }>(one: Known): Known => ({ ...one, kind: served(one.kind) })
  const { owns, references, maps } = controller
  return { ...known(controller), owns: owns.map(known), references: references.map(known), maps: maps.map(known) }
}

function served({ definition: _, ...kind }: Kind): Kind {
  return kind
}

function isHot(arg: unknown, { now, world }: ServicesOptions): boolean {
  if (!now().hotPartition || Math.floor(world.nowMs() / 60_000) % 3 !== 0) return false
  const key = (arg as Partial<StoredObject>).object?.metadata ?? (arg as Partial<ObjectKey>)
  return shardOf(key.name ?? '', 8) === 0 && world.random.next() < 0.75
}

/** Before the controller was taken away, while it is, and since it is back. */
function deploymentAt(world: World, absent: Absence | undefined): number {
  if (absent === undefined) return 0
  const sinceMs = world.nowMs() - beginMs
  return sinceMs < absent.fromMs ? 0 : sinceMs < absent.untilMs ? 1 : 2
}

function isAway(deployment: number, name: string, { absent }: Pick<Scenario, 'absent'>): boolean {
  return deployment === 1 && name.toLowerCase() === absent?.kind.toLowerCase()
}

async function notThere(): Promise<never> {
  throw new OperatingError('UNAVAILABLE', 'there is no such queue')
}

/** As infra has it. */
const relayMs = 60_000

const noQueue: WorkQueue = { send: notThere, receive: notThere, settle: notThere, hold: notThere, wake: notThere }

const unheard: Seeing['telemetry'] = {
  counter: () => () => {},
  histogram: () => () => {},
  read: () => {},
  flush: () => {},
}

/** So long a client may take to read the head of an answer. */
const headMsMax = 400

/** Where nobody watches. */
const unwatched: ChangeFeed = {
  follow: () => {
    throw new TypeError('nobody watches here')
  },
  latest: async () => '0',
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}

function oncePerName<Value>(make: (name: string) => Value): (name: string) => Value {
  const made = new Map<string, Value>()
  return (name) => {
    const known = made.get(name) ?? make(name)
    made.set(name, known)
    return known
  }
}

/** A function that is made when it is first called: most processes serve one purpose only. */
function lazily<Args extends unknown[], Result>(make: () => (...args: Args) => Result): (...args: Args) => Result {
  const made = once(make)
  return (...args) => made()(...args)
}
