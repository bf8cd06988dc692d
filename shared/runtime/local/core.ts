import { createIdSequence } from '../../model/id-sequence.ts'
import {
  createLocalWorkQueue,
  type LocalWorkQueue,
  type LocalWorkQueueOptions,
} from '../../adapters/local/queue/local-work-queue.ts'
import { readProcess } from '../../adapters/node/process-metrics.ts'
import { createPrometheusTelemetry, type PrometheusTelemetry } from '../../adapters/local/prometheus-telemetry.ts'
import { createApi } from '../../api/api.ts'
import { DefinitionError } from '../../model/errors.ts'
import { metrics } from '../../model/metrics.ts'
import type { ApiServices, PlaneOperation, Page } from '../../api/call.ts'
import type { ComputedObjects } from '../../api/computed/computed-objects.ts'
import { allControllers, controlLoopNames, type ControlLoopsOptions } from '../../engine/loops/control-loops.ts'
import { kindsNamedBy, type Controller } from '../../reconciler/controller.ts'
import type { Kind } from '../../reconciler/kind.ts'
import { createExplain } from '../../engine/insight/explain/explain.ts'
import { doctorReport, type Storage } from '../../engine/insight/doctor.ts'
import { createEventRecorder } from '../../engine/insight/event-recorder.ts'
import { createRetryBudget } from '../../engine/limits/retry-budget.ts'
import { createTokenBucket, type TokenBucket } from '../../engine/limits/token-bucket.ts'
import type { Rate } from '../../model/reservations.ts'
import type { Audit } from '../../ports/audit.ts'
import type { Authenticator } from '../../ports/authenticator.ts'
import type { Clock } from '../../ports/clock.ts'
import type { HttpHandler } from '../../ports/http-handler.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import type { RunHistory } from '../../ports/run-history.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { TokenSigner } from '../../ports/token-signer.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { Roles } from '../../ports/roles.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Webhooks } from '../../ports/webhooks.ts'
import type { WorkQueue } from '../../ports/work-queue.ts'
import { collectKindFunctions, convertFeed, convertReads } from '../../resources/converted-reads.ts'
import { createResources } from '../../resources/create-resources.ts'
import type { KindCatalog } from '../../resources/kind-catalog.ts'
import type { Resources } from '../../resources/resources.ts'
import { tellDefinitionWrites } from '../../resources/definition-writes.ts'
import { createStoredAccess } from '../../resources/stored-access.ts'
import { createStoredPolicies } from '../../resources/stored-policies.ts'
import { createStoredQuotas } from '../../resources/stored-quotas.ts'
import { createKindCatalog } from '../../resources/store-kind-catalog.ts'
import { installBasics } from '../../engine/loops/install-basics.ts'
import { giveUp, type GivingUp } from '../../engine/loops/give-up.ts'
import type { Overruns } from '../../engine/turn/overruns.ts'
import { runLocalEngine } from '../../engine/loops/local-engine.ts'
import type { LocalPorts } from './ports.ts'
import { budgetObjects } from '../computed/budget-objects.ts'
import { timerObjects, type TimersSource } from '../computed/timer-objects.ts'
import { queuedKeyObjects, queueObjects } from './queue-objects.ts'
import { createReadiness } from '../readiness.ts'
import { withWriteSpans } from '../spans.ts'
import { tellSchemaChanges } from './schema-changes.ts'
import { setpointVersion } from '../setpoint-version.ts'

export interface LocalCoreOptions {
  readonly ports: LocalPorts
  readonly controllers: readonly Controller[]
  /** Kinds whose hooks and conversions are used beside those of the controllers' kinds; for tests. */
  readonly kinds?: readonly Kind<unknown, unknown>[]
  readonly authenticate: Authenticator
  /** Told of every request; without it nobody is. */
  readonly audit?: Audit
  /** Of ServiceAccounts; without it they have none. */
  readonly tokens?: TokenSigner
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** Default 1 s. */
  readonly tickMs?: number
  /** What all controllers together may spend on retries. Default: no limit. */
  readonly retryBudget?: Rate | undefined
  /** Keeps the last runs of each object. Left out, nobody does. */
  readonly history?: RunHistory
  /** Spans of requests, writes and runs. Left out, there are none. */
  readonly tracing?: Tracing
  /** Servers that admission asks. Left out, none can be asked. */
  readonly webhooks?: Webhooks
  /** Takes roles of AWS for runs. Left out, nobody does. */
  readonly roles?: Roles
  /** Secrets of AWS. Left out, there are none. */
  readonly vault?: Vault
  /** Served beside the core's own. */
  readonly pages?: ReadonlyMap<string, Page>
  /** What is done by a POST to a path of its own. */
  readonly operations?: ReadonlyMap<string, PlaneOperation>
  /** Functions of a core before this one that go on: their keys wait for them. Left out, there was none. */
  readonly overruns?: Overruns
  /** Runs in which the process ended too often: their objects are given up before anything runs. Left out, none. */
  readonly unended?: GivingUp
  /** Around each queue that is made; for tests. */
  readonly wrapQueue?: (queue: WorkQueue, name: string) => WorkQueue
}

/** The control plane without a server: the API as a function, and the engine running. */
export interface LocalCore {
  readonly api: HttpHandler
  readonly resources: Resources
  readonly catalog: KindCatalog
  /** Why definitions of reconcilers were refused, by `group/Kind`. */
  readonly refusals?: ReadonlyMap<string, string>
  /** Resolves when the engine has stopped; rejects if it breaks, which is a bug: nothing is reconciled from then on. */
  readonly ended: Promise<unknown>
  /**
   * Resolves once the engine has stopped: it takes no more keys, and gives up what still runs after `graceMs`. The
   * ports stay open.
   */
  stop(graceMs: number): Promise<void>
}

/** A core that another one on the same store may follow, or go ahead of. */
export interface FollowedCore extends LocalCore {
  /** What it keeps of the store counts no longer: the other one has written. */
  forget(): void
}

/**
 * A request that was let in ahead of a definition's deletion has written its object by then, so that none is left
 * behind. One whose admission takes longer than two seconds looks at the definition again.
 */
const definitionGraceMs = 5_000

export async function startLocalCore(options: LocalCoreOptions): Promise<FollowedCore> {
  const { clock, random, logger, controllers, ports, wrapQueue = (queue) => queue } = options
  const { feed, catalog, access, policies, store, resources, forget } = openStored(options)
  const telemetry = createPrometheusTelemetry()
  readProcess(telemetry)
  telemetry.read(metrics.damagedObjects, {}, () => ports.quarantine?.keys().length ?? 0)
  const queues = createQueues({ clock, random, telemetry })
  const [stop, abandon] = [new AbortController(), new AbortController()]
  const refusals = new Map<string, string>()
  const retries = options.retryBudget && createTokenBucket(options.retryBudget)
  const engine = {
    ...ports,
    refusals,
    store,
    feed,
    resources,
    catalog,
    clock,
    random,
    logger,
    controllers,
    events: createEventRecorder({ resources, clock, logger }),
    telemetry,
    createQueue: (name: string, visibilityMs: number) => wrapQueue(queues.create(name, visibilityMs), name),
    tickMs: options.tickMs ?? 1_000,
    definitionGraceMs,
    ...givenOf(options),
    ...(retries && { retryBudget: createRetryBudget(retries) }),
  }
  // Refuses controllers that cannot stand together, before anything is written or runs.
  const explain = createExplain({ ...engine, controllers: allControllers(engine) })
  refuseSameNames(engine)
  await tellSchemaChanges({ store, controllers, logger })
  await installBasics({ resources, catalog, controllers, onRefused: refusalNote(refusals, logger) })
  const holdBack = await giveUp(options.unended ?? { runs: [] }, engine)
  const running = runLocalEngine({ ...engine, holdBack }, { stop: stop.signal, abandon: abandon.signal })
  const isReady = ports.probe && createReadiness(ports.probe, clock)
  return {
    api: createApi({
      resources,
      catalog,
      feed,
      clock,
      logger,
      telemetry,
      explain,
      ...givenToApi(options),
      computed: computedOf({ ...engine, queues: queues.made, retries, rate: options.retryBudget }),
      pages: new Map([...pagesOf(telemetry, controllers, storageOf(ports, isReady)), ...(options.pages ?? [])]),
      readAccess: access.read,
      policies,
      ...(isReady && { isReady }),
      ...(ports.whyNoWrites && { whyNotReady: ports.whyNoWrites }),
      ...(ports.quarantine && { damaged: ports.quarantine.keys }),
      version: setpointVersion,
    }),
    resources,
    catalog,
    refusals,
    ended: running,
    forget,
    stop: async (graceMs) => {
      const ended = new AbortController()
      stop.abort()
      void clock.sleep(graceMs, ended.signal).then(() => abandon.abort())
      await running
      ended.abort()
    },
  }
}

/** A queue is known by its name: of two loops each would take the keys of the other, and drop them. */
function refuseSameNames(engine: ControlLoopsOptions): void {
  const names = controlLoopNames(engine)
  const taken = names.find((name, i) => names.indexOf(name) !== i)
  if (taken === undefined) return
  const kinds = engine.controllers.flatMap(({ name, kind }) => (name === taken ? [`${kind.kind}.${kind.group}`] : []))
  const whose =
    kinds.length > 1
      ? `the reconcilers of ${kinds.join(' and ')} are all called ${taken}`
      : `the reconciler of ${kinds.join()} is called ${taken}, as a loop of the control plane itself is`
  throw new DefinitionError(`${whose}: give each a name of its own, by name of defineReconciler`)
}

function givenToApi({
  authenticate,
  audit,
  history,
  operations,
  random,
  tokens,
}: LocalCoreOptions): Pick<ApiServices, 'authenticate'> & Partial<ApiServices> {
  return {
    authenticate,
    reviewToken: authenticate,
    ...(audit && { audit, newAuditId: createIdSequence(random.uuid()) }),
    ...(history && { history }),
    ...(operations && { operations }),
    ...(tokens && { tokens }),
  }
}

function givenOf({
  history,
  tracing,
  roles,
  vault,
  overruns,
}: LocalCoreOptions): Pick<LocalCoreOptions, 'history' | 'tracing' | 'roles' | 'vault' | 'overruns'> {
  return {
    ...(history && { history }),
    ...(tracing && { tracing }),
    ...(roles && { roles }),
    ...(vault && { vault }),
    ...(overruns && { overruns }),
  }
}

interface ComputedSource extends TimersSource {
  readonly clock: Clock
  readonly queues: Queues['made']
  readonly retries: TokenBucket | undefined
  readonly rate: Rate | undefined
}

/** What people see of queues, timers and budgets. The number of retries is below zero while some wait. */
function computedOf({ retries, rate, ...source }: ComputedSource): readonly ComputedObjects[] {
  const retriesLeft = retries && (() => retries.tokens(source.clock.nowMs()))
  return [
    queuedKeyObjects(source),
    queueObjects(source),
    timerObjects(source),
    budgetObjects({ ...source, retryBudget: rate, ...(retriesLeft && { retriesLeft }) }),
  ]
}

/** Keeps why a definition was refused, for the objects of its kind. */
function refusalNote(
  refusals: Map<string, string>,
  logger: Logger,
): NonNullable<Parameters<typeof installBasics>[0]['onRefused']> {
  return ({ spec: { group, names } }, { message }) => {
    refusals.set(`${group}/${names.kind}`, `its definition was refused: ${message}`)
    logger.error('definition refused: objects of its kind stop', { kind: names.kind, group, error: message })
  }
}

/** What is stored, as the API and the engine read and write it. */
function openStored({ clock, random, logger, controllers, kinds = [], ports, tracing, webhooks }: LocalCoreOptions) {
  const functions = collectKindFunctions([...kindsNamedBy(controllers), ...kinds])
  const feed = convertFeed(ports.feed, functions)
  const catalog = createKindCatalog({
    store: ports.store,
    clock,
    maxAgeMs: Infinity,
    functions,
    conversions: { random, webhooks },
  })
  const access = createStoredAccess({ store: ports.store, clock, maxAgeMs: Infinity })
  const quotas = createStoredQuotas({ store: ports.store, catalog, clock, logger, maxAgeMs: Infinity })
  const told = access.follow(tellDefinitionWrites(convertReads(ports.store, functions), catalog.invalidate))
  const policies = createStoredPolicies({
    store: ports.store,
    catalog,
    clock,
    random,
    maxAgeMs: Infinity,
    webhooks,
    readAccess: access.read,
  })
  const store = withWriteSpans(policies.follow(quotas.follow(told)), tracing)
  const resources = createResources({ store, clock, random, quotas, policies })
  const forget = (): void => {
    for (const { forget: forgetKept } of [access, quotas, policies]) forgetKept()
    catalog.invalidate()
  }
  return { feed, catalog, access, policies, store, resources, forget }
}

interface Queues {
  create(name: string, visibilityMs: number): WorkQueue
  readonly made: ReadonlyMap<string, LocalWorkQueue>
}

/** The queues of a process. */
function createQueues(options: Omit<MeasuredQueueOptions, 'visibilityMs'>): Queues {
  const made = new Map<string, LocalWorkQueue>()
  return {
    create: (name, visibilityMs) => {
      const queue = createMeasuredQueue(name, { ...options, visibilityMs })
      made.set(name, queue)
      return queue
    },
    made,
  }
}

type MeasuredQueueOptions = LocalWorkQueueOptions & { readonly telemetry: Telemetry }

/** A queue that tells how long it is, and how long its keys wait. */
function createMeasuredQueue(name: string, { telemetry, ...options }: MeasuredQueueOptions): LocalWorkQueue {
  const labels = { name, controller: name }
  const waited = telemetry.histogram(metrics.queueSeconds, labels)
  const queue = createLocalWorkQueue({ ...options, onHandOut: (waitedMs) => waited(waitedMs / 1_000) })
  telemetry.read(metrics.queueDepth, labels, queue.depth)
  telemetry.read(metrics.queueOldest, labels, () => queue.longestWaitMs() / 1_000)
  return queue
}

function storageOf(
  { quarantine, areAllRead = () => false, isHeld = false, whyNoWrites }: LocalPorts,
  isReady = async () => true,
) {
  return async (): Promise<Storage> => ({
    damaged: quarantine?.keys() ?? [],
    areAllRead: areAllRead(),
    isHeld,
    takesWrites: await isReady(),
    whyNoWrites: whyNoWrites?.(),
  })
}

/** What is served beside the API. */
export function pagesOf(
  telemetry: PrometheusTelemetry,
  controllers: readonly Controller[],
  storage?: () => Promise<Storage>,
): ReadonlyMap<string, Page> {
  const report = async (): Promise<string> => doctorReport(controllers, telemetry.valueOf, await storage?.())
  return new Map([
    ['metrics', { type: 'text/plain; version=0.0.4; charset=utf-8', text: telemetry.exposition }],
    ['doctor', { type: 'text/plain; charset=utf-8', text: report }],
  ])
}
