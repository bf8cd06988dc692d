import { Annotations, Duration, Fn, Lazy, Names, Stack } from 'aws-cdk-lib'
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import * as events from 'aws-cdk-lib/aws-events'
import * as targets from 'aws-cdk-lib/aws-events-targets'
import type * as iam from 'aws-cdk-lib/aws-iam'
import * as logs from 'aws-cdk-lib/aws-logs'
import type * as sns from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { allReconcilers, describeReconcilers, type ReconcilerDescription } from '../bundling/reconciler-modules.ts'
import { alarmTopic, createAlarms, planeWatches, type WatchedPlane } from '../dashboards/alarms.ts'
import { controllerDashboard, type ShownControllers } from '../dashboards/controller-page.ts'
import { dashboard } from '../dashboards/dashboard.ts'
import { type ControlMetrics, controlMetrics, type MetricOptions } from '../dashboards/metrics.ts'
import { overview, type ShownPlane } from '../dashboards/overview.ts'
import { checkNames, checkSettings } from './check-settings.ts'
import { ControlApi, type ControlApiOptions } from './control-api.ts'
import { ControlFunction, type FunctionDefaults } from './control-function.ts'
import { allowObjects } from './object-access.ts'
import { GradualReleases, type ReleasePace } from './gradual-releases.ts'
import { indexNames, objectTables, type ObjectTable, type ObjectTableOptions } from './object-table.ts'
import {
  planeFunctions,
  systemTimeout,
  loopRunner,
  type FunctionProps,
  type PlaneFunctions,
} from './plane-functions.ts'
import { Principals, type TokenIssuer } from './principals.ts'
import { quotaAdvice } from './quota-need.ts'
import { Relay } from './relay.ts'
import { RemovalGuard } from './removal-guard.ts'
import type { SentTraces } from './sent-traces.ts'
import { TokenKeys } from './token-keys.ts'
import { measureVariables, variablesBytesMax } from './variables.ts'
import { concurrencyOfEach, feedingOf, WorkQueue } from './work-queue.ts'

export interface ControlPlaneProps extends ObjectTableOptions, ControlApiOptions {
  /**
   * The module that exports `reconcilers`, the list of all reconcilers of this control plane. A path from the working
   * directory. Each of them needs a `Controller`.
   */
  readonly reconcilers: string
  /**
   * Who may call the API, and do everything there: ARNs of IAM roles and users, or `issuer#subject` for tokens of one
   * of the `issuers`. Other principals of the account get in with the rights that bindings give them, and nobody
   * else.
   */
  readonly adminPrincipals: readonly string[]
  /**
   * OpenID Connect issuers whose tokens are taken, such as the one of your account (`aws iam
   * enable-outbound-web-identity-federation`).
   * @default - none: people sign in with `aws eks get-token`, which needs no issuer
   */
  readonly issuers?: readonly TokenIssuer[]
  /** @default logs.RetentionDays.ONE_MONTH */
  readonly logRetention?: logs.RetentionDays
  /**
   * The least urgent lines that are logged: `debug`, `info`, `warn` or `error`.
   * @default 'info'
   */
  readonly logLevel?: string
  /**
   * What all controllers together may spend on retries: so many a second, and so many at once. `none`: no limit but
   * the backoff of each object.
   * @default { perSecond: 10, burst: 100 }
   */
  readonly retryBudget?: { readonly perSecond: number; readonly burst: number } | 'none'
  /**
   * Which runs of each object are kept for a week, for `kubectl setpoint runs`: all that changed something, those
   * that failed or logged something, or none. A kept run is one write unit, beside the six of a change.
   * @default 'failures'
   */
  readonly runHistory?: 'all' | 'failures' | 'none'
  /**
   * Which requests are recorded, as a line of JSON in the log of the API's function: who, as whom, what, the decision
   * and why, the changed fields. `writes` are those by whose method something may change.
   * @default 'off'
   */
  readonly audit?: 'on' | 'writes' | 'off'
  /**
   * Sends spans of requests, writes, runs and what runs call to a collector (OpenTelemetry). The app has the packages
   * of OpenTelemetry installed, which go into the bundles of the functions then.
   * @default - none
   */
  readonly traces?: SentTraces
  /**
   * Traces of X-Ray, of one in twenty requests.
   * @default true
   */
  readonly tracing?: boolean
  /**
   * How many objects of all reconcilers that are not `isolated` run at once, from 2 to 10,000.
   * @default 10
   */
  readonly sharedConcurrency?: number
  /**
   * Whether the functions behind work queues have so many executions reserved as their queues use at once. Nothing
   * else in the account can take them then: a message that Lambda cannot hand over comes again as one that was
   * received, and after ten times it is a dead letter. AWS refuses it unless a hundred executions of the account are
   * left over.
   * @default false
   */
  readonly reserveConcurrency?: boolean
  /**
   * How many batches of a hundred changes of each shard of the table's stream are relayed at once, from 1 to 10. A
   * new table has four shards, and a new account may run ten functions at once.
   * @default 1
   */
  readonly relaysPerShard?: number
  /**
   * How many functions look for due timers and resyncs at the same time, each in its part of all objects, from 1 to
   * 8. One sends some five hundred wake-ups a second.
   * @default 1
   */
  readonly ticksAtOnce?: number
  /**
   * How new code of reconcilers takes over. It gets a part of the batches first. It gets all of them if no alarm is
   * raised in that time. If one is, the old code gets all batches again, and CloudFormation rolls the update back.
   * @default - at once
   */
  readonly releases?: ReleasePace
  /**
   * Who is told when something has to be looked at.
   * @default - a new topic, `alarmTopic`, to subscribe to
   */
  readonly alarmTopic?: sns.ITopic
  /**
   * Alarms on the control plane itself.
   * @default true
   */
  readonly alarms?: boolean
}

/** What a control plane needs to know of a `Controller`, which is a construct of its stack. */
interface AdoptedController extends Construct {
  readonly name: string
  /** Whether queue and function are its own. */
  readonly isIsolated: boolean
  readonly queues: readonly WorkQueue[]
  readonly queuesUsed: number
  readonly function: ControlFunction
  readonly reconciler: ReconcilerDescription
}

/**
 * A control plane without its controllers, one to a stack: tables, API, relay, the minute's tick, and who looks after
 * dead letters. Add a `Controller` for each reconciler, in the same stack.
 */
export class ControlPlane extends Construct {
  /** All objects: the table of the stack, or one that was restored in its place. */
  readonly table: ObjectTable
  readonly api: ControlApi
  /** Of tokens of ServiceAccounts. */
  readonly tokenKeys: TokenKeys
  /** Tells of objects that become Ready or fail, for rules of your own. */
  readonly eventBus: events.EventBus
  readonly alarmTopic: sns.ITopic
  readonly relay: Relay
  /** Of the control plane's own loops, and of all reconcilers that have no queue of their own. */
  readonly systemQueue: WorkQueue
  readonly sharedConcurrency: number
  readonly functions: PlaneFunctions
  readonly dashboard: cloudwatch.CfnDashboard
  /** One controller on a page, to be chosen there. */
  readonly controllerDashboard: cloudwatch.CfnDashboard
  readonly alarms: readonly cloudwatch.Alarm[]
  /** What the functions write to CloudWatch. */
  readonly metrics: ControlMetrics
  /** What presigned tokens must name: `aws eks get-token --cluster-name …`. */
  readonly clusterId: string
  readonly issuers: readonly TokenIssuer[]
  /** All that the list has, deployed or not. */
  readonly reconcilers: readonly ReconcilerDescription[]
  readonly reconcilersEntry: string

  private readonly props: ControlPlaneProps
  /** Names the control plane to what reconcilers make outside: a restored table would be another name. */
  private readonly ownTable: Table
  private readonly principals: Principals
  private readonly sharedVariables = new Map<string, string>()
  private readonly controllers = new Map<string, AdoptedController>()
  private readonly guard: RemovalGuard
  private readonly releases: GradualReleases | undefined

  constructor(scope: Construct, id: string, props: ControlPlaneProps) {
    super(scope, id)
    checkSettings(props)
    this.props = props
    this.issuers = props.issuers ?? []
    this.principals = new Principals(props.adminPrincipals, this.issuers)
    this.reconcilersEntry = props.reconcilers
    this.reconcilers = checkNames(describeReconcilers(props.reconcilers))
    const { stackName, region, account } = this.stack
    this.clusterId = Fn.join('.', [stackName, region, account])
    this.metrics = controlMetrics(this.metricNamespace)

    const tables = objectTables(this, 'Table', props)
    this.table = tables.used
    this.ownTable = tables.own
    this.eventBus = createBus(this, 'Bus')
    this.systemQueue = new WorkQueue(this, 'System', { timeout: systemTimeout })
    this.sharedConcurrency = props.sharedConcurrency ?? 10
    this.alarmTopic = props.alarmTopic ?? alarmTopic(this, 'Alarms')
    this.releases = this.createReleases()
    this.functions = this.createFunctions()
    this.functions.relay.allow(['events:PutEvents'], [this.eventBus.eventBusArn])
    // Of the control plane's own loops: their wake-ups are sent once more.
    this.functions.deadLetters.allow(['sqs:SendMessage'], [this.systemQueue.queue.queueArn])
    this.relay = new Relay(this, 'Relay', {
      table: this.table,
      worker: this.functions.relay,
      perShard: props.relaysPerShard ?? 1,
    })
    // By it the API knows versions of another table.
    this.functions.api.addEnvironment('SETPOINT_TABLE_SWITCH', this.relay.mappingId)
    const feeding = feedingOf({ concurrency: this.sharedConcurrency })
    this.systemQueue.feed(this.functions.system, feeding)
    this.reserve(this.functions.system, feeding.maxConcurrency)
    this.systemQueue.feedDead(this.functions.deadLetters)
    this.connect(this.systemQueue)
    const { api: handler, authorizer } = this.functions
    this.tokenKeys = new TokenKeys(this, 'TokenKeys', props)
    this.tokenKeys.allowSigning(handler)
    this.tokenKeys.allowChecking(authorizer)
    this.api = new ControlApi(this, 'Api', { ...props, ...this.common(), handler, authorizer })

    this.guard = new RemovalGuard(this, 'Controllers', {
      worker: this.functions.removal,
      controllers: () => [...this.controllers.values()].map(({ reconciler }) => reconciler),
    })
    this.guard.guard(
      tables.own,
      this.tokenKeys,
      this.api,
      this.relay,
      this.systemQueue,
      ...Object.values(this.functions),
      ...this.startTicking(),
    )

    this.alarms = props.alarms === false ? [] : createAlarms(this, this.alarmTopic, planeWatches(this.toWatched()))
    // Pages of all Regions have their names in one place.
    const page = `${stackName}-${region}`
    this.dashboard = dashboard(this, 'Dashboard', page, { rows: () => overview(this.toShown()) })
    this.controllerDashboard = controllerDashboard(this, 'ControllerDashboard', `${page}-controllers`, () =>
      this.toShownControllers(),
    )
    this.node.addValidation({
      validate: () => {
        this.adviseOnQuotas()
        return [...this.besideAnother(), ...this.withoutController(), ...this.tooManyVariables()]
      },
    })
  }

  /**
   * Lets somebody do everything in the API: puts the role or user on the list of administrators and, if there are
   * issuers, allows it the token to sign in with.
   */
  grantApply(grantee: iam.IGrantable): iam.Grant {
    return this.principals.letIn(grantee, 'administrators')
  }

  /** Lets somebody read everything in the API, Secrets included, and write nothing; otherwise as `grantApply`. */
  grantRead(grantee: iam.IGrantable): iam.Grant {
    return this.principals.letIn(grantee, 'readers')
  }

  /** Requests that the API answered with 5xx. */
  metricApiErrors(options?: MetricOptions): cloudwatch.Metric {
    return this.api.restApi.metricServerError(options)
  }

  /** How late changes are passed on, in milliseconds. */
  metricRelayDelay(options?: MetricOptions): cloudwatch.Metric {
    return this.functions.relay.metric('IteratorAge', { statistic: 'Maximum', ...options })
  }

  /** For `Controller`: takes it in, and lets the functions of the control plane use its queue. */
  adopt(controller: AdoptedController): void {
    const { name, queues } = controller
    if (Stack.of(controller) !== this.stack)
      throw new Error(
        `the Controller of ${name} must be in the stack of its control plane, whose functions name its queue`,
      )
    if (this.controllers.has(name)) throw new Error(`there are two Controllers for the reconciler ${name}`)
    this.controllers.set(name, controller)
    if (controller.isIsolated) {
      for (const queue of queues) this.connect(queue)
      // What came into the shared queue before the controller was isolated is sent on.
      const arns = queues.map(({ queue }) => queue.queueArn)
      this.functions.system.allow(['sqs:SendMessage'], arns)
    }
    this.guard.guard(controller)
  }

  /** For `Controller`: tells the shared function a variable. */
  addSharedVariable(name: string, value: string): void {
    const known = this.sharedVariables.get(name)
    if (known !== undefined && known !== value)
      throw new Error(`the shared function cannot have two values of ${name}: isolate one of its reconcilers`)
    this.sharedVariables.set(name, value)
    this.functions.system.addEnvironment(name, value)
  }

  /** For `Controller`: a function that runs control loops. */
  createWorker(scope: Construct, id: string, props: Omit<FunctionProps, 'handler' | 'access'>): ControlFunction {
    return this.released(this.createFunction(scope, id, { ...props, ...loopRunner }))
  }

  /** For `Controller`: keeps what its queues use at once for its function. */
  reserve(worker: ControlFunction, count: number): void {
    if (this.props.reserveConcurrency === true) worker.reserve(count)
  }

  private createReleases(): GradualReleases | undefined {
    const { releases: pace } = this.props
    if (pace === undefined) return undefined
    return new GradualReleases(this, 'Releases', {
      pace,
      alarmTopic: this.alarmTopic,
      alarms: () => this.alarms,
      table: this.table,
      tableSwitch: () => this.relay.mappingId,
    })
  }

  /** One that runs control loops. */
  private released(worker: ControlFunction): ControlFunction {
    if (this.releases !== undefined) worker.live = this.releases.release(worker)
    return worker
  }

  private get stack(): Stack {
    return Stack.of(this)
  }

  private get metricNamespace(): string {
    return `Setpoint/${this.stack.stackName}`
  }

  private createFunctions(): PlaneFunctions {
    const common = { environment: {}, reconcilers: allReconcilers(this.reconcilersEntry) }
    const { audit = 'off' } = this.props
    const create = (id: string, props: Omit<FunctionProps, keyof typeof common> & Partial<FunctionProps>) =>
      this.createFunction(this, id, { ...common, ...props })
    return {
      api: create('ApiFunction', {
        ...planeFunctions.api,
        environment: {
          // Asked whose a token is, it has to tell the same as the authorizer.
          ...this.whoMay(),
          SETPOINT_ACCOUNT: this.stack.account,
          ...(audit !== 'off' && { SETPOINT_AUDIT: audit }),
        },
      }),
      authorizer: create('Authorizer', { ...planeFunctions.authorizer, environment: this.whoMay() }),
      relay: create('RelayFunction', planeFunctions.relay),
      resync: create('Resync', {
        ...planeFunctions.resync,
        environment: {
          SETPOINT_SHARED_CONCURRENCY: String(this.sharedConcurrency),
          SETPOINT_QUEUES_USED: this.later(() => this.queuesUsed()),
        },
      }),
      deadLetters: create('DeadLetters', planeFunctions.deadLetters),
      removal: create('RemovalFunction', planeFunctions.removal),
      system: this.released(
        create('SystemFunction', {
          ...planeFunctions.system,
          vault: this.reconcilers.some(({ vault }) => vault !== undefined),
        }),
      ),
    }
  }

  private createFunction(scope: Construct, id: string, { access, ...props }: FunctionProps): ControlFunction {
    const environment = {
      ...this.environment(),
      ...(props.handler === loopRunner.handler && { SETPOINT_PLANE: this.ownTable.tableName }),
      ...props.environment,
    }
    const traces = traced.includes(props.handler) ? this.props.traces : undefined
    const created = new ControlFunction(scope, id, { ...props, ...this.common(), environment, traces })
    if (access !== undefined) allowObjects(created, this.table, access)
    return created
  }

  private common(): FunctionDefaults {
    const { logRetention = logs.RetentionDays.ONE_MONTH, tracing = true } = this.props
    return { logRetention, tracing }
  }

  /** What every function is told. */
  private environment(): Readonly<Record<string, string>> {
    return {
      SETPOINT_TABLE: this.table.tableName,
      SETPOINT_QUEUES: this.later(() => this.queueUrls()),
      SETPOINT_SHARED: Lazy.string({ produce: () => this.sharing() }),
      SETPOINT_BUS: this.eventBus.eventBusName,
      SETPOINT_LOG: this.props.logLevel ?? 'info',
      ...retryBudgetVariable(this.props),
      SETPOINT_METRICS: this.metricNamespace,
      ...(this.props.runHistory !== undefined && { SETPOINT_RUNS: this.props.runHistory }),
    }
  }

  private whoMay(): Readonly<Record<string, string>> {
    return {
      SETPOINT_ADMINS: this.later(() => this.principals.administrators),
      SETPOINT_READERS: this.later(() => this.principals.readers),
      SETPOINT_ISSUERS: this.stack.toJsonString(this.issuers),
      SETPOINT_CLUSTER_ID: this.clusterId,
    }
  }

  /** JSON of what is known only when everything has been added. */
  private later(value: () => unknown): string {
    return Lazy.string({ produce: () => this.stack.toJsonString(value()) })
  }

  private queueUrls(): Readonly<Record<string, string>> {
    const isolated = [...this.controllers.values()].filter((one) => one.isIsolated)
    const urls = isolated.map(({ name, queues }) => [name, urlsOf(queues)])
    return { ...Object.fromEntries(urls), system: this.systemQueue.queue.queueUrl }
  }

  /** Of those that share a queue the name is enough: the variables of a function hold 4 KB. */
  private sharing(): string | undefined {
    const shared = [...this.controllers.values()].filter((one) => !one.isIsolated)
    return shared.length === 0 ? undefined : shared.map(({ name }) => name).join(' ')
  }

  /** How many queues each controller uses that has several. A controller that is not named uses one. */
  private queuesUsed(): Readonly<Record<string, number>> {
    const several = [...this.controllers.values()].filter(({ queues }) => queues.length > 1)
    return Object.fromEntries(several.map(({ name, queuesUsed }) => [name, queuesUsed]))
  }

  /** Wake-ups are sent by the API, the relay, the tick and the control plane's own loops. */
  private connect(queue: WorkQueue): void {
    const { api, relay, resync } = this.functions
    const { queueArn } = queue.queue
    api.allow(['sqs:SendMessage', 'sqs:GetQueueAttributes'], [queueArn])
    relay.allow(['sqs:SendMessage', 'sqs:ChangeMessageVisibility'], [queueArn])
    resync.allow(['sqs:SendMessage', 'sqs:GetQueueAttributes'], [queueArn])
  }

  /** The rules stay until the guard lets the stack go: what is deleted after a refusal has timers, too. */
  private startTicking(): readonly events.Rule[] {
    // A tick that fails or comes late is made up for by the next one: EventBridge hands none over twice, and Lambda,
    // which would try for six hours by itself, runs none twice.
    const once = { retryAttempts: 0, maxEventAge: Duration.minutes(1) }
    this.functions.resync.configureAsyncInvoke(once)
    const { ticksAtOnce: count = 1 } = this.props
    if (!Number.isInteger(count) || count < 1 || count > ticksMax)
      throw new Error(`ticksAtOnce must be 1 to ${ticksMax}, not ${count}`)
    const shares = Array.from({ length: count }, (_, index) => ({ index, of: count }))
    const targetsOf = (some: typeof shares) =>
      some.map((share) => {
        const event = count === 1 ? {} : { event: events.RuleTargetInput.fromObject({ share }) }
        return new targets.LambdaFunction(this.functions.resync, { ...once, ...event })
      })
    const schedule = events.Schedule.rate(Duration.minutes(1))
    const rule = (id: string, some: typeof shares) => new events.Rule(this, id, { schedule, targets: targetsOf(some) })
    const first = rule('Tick', shares.slice(0, targetsMax))
    return count > targetsMax ? [first, rule('Tick2', shares.slice(targetsMax))] : [first]
  }

  private toShown(): ShownPlane {
    const isolated = [...this.controllers.values()].filter(({ isIsolated }) => isIsolated)
    const queues = isolated.flatMap(({ name, queues: own }) =>
      own.map(({ queue }, i) => [i === 0 ? name : `${name} ${i + 1}`, queue]),
    )
    const workers = isolated.map(({ name, function: worker }) => [name, worker])
    return {
      metrics: this.metrics,
      restApi: this.api.restApi,
      table: this.table,
      indexes: indexNames,
      relay: this.functions.relay,
      functions: { ...this.functions, ...Object.fromEntries(workers) },
      queues: { system: this.systemQueue.queue, ...Object.fromEntries(queues) },
      deadLetterQueue: this.systemQueue.deadLetterQueue,
      alarms: this.alarms,
    }
  }

  private toShownControllers(): ShownControllers {
    const all = [...this.controllers.values()]
    const workers = new Set([this.functions.system, ...all.map(({ function: worker }) => worker)])
    return {
      metrics: this.metrics,
      names: all.map(({ name }) => name),
      logGroups: [...workers].map(({ logGroup }) => logGroup),
    }
  }

  private toWatched(): WatchedPlane {
    const { restApi } = this.api
    return {
      restApi,
      table: this.table,
      metrics: this.metrics,
      relay: this.functions.relay,
      resync: this.functions.resync,
      ticksAtOnce: this.props.ticksAtOnce ?? 1,
      deadLetterQueue: this.systemQueue.deadLetterQueue,
      relayFailures: this.relay.failures,
    }
  }

  /** When all Controllers are there. */
  private adviseOnQuotas(): void {
    const advice = quotaAdvice({
      sharedConcurrency: this.sharedConcurrency,
      relaysPerShard: this.props.relaysPerShard ?? 1,
      ticksAtOnce: this.props.ticksAtOnce ?? 1,
      isReserved: this.props.reserveConcurrency === true,
      isolated: [...this.controllers.values()].flatMap((one) => (one.isIsolated ? shareConcurrency(one) : [])),
    })
    if (advice !== undefined) Annotations.of(this).addWarningV2('setpoint:quotas', advice)
  }

  /** Tokens, metrics and dashboards are told apart by their stack. */
  private besideAnother(): readonly string[] {
    const others = this.stack.node
      .findAll()
      .filter((one) => one instanceof ControlPlane && one !== this && Stack.of(one) === this.stack)
    return others.map(({ node }) => `the stack has another control plane, ${node.path}: each needs a stack of its own`)
  }

  private withoutController(): readonly string[] {
    return this.reconcilers
      .filter(({ name }) => !this.controllers.has(name))
      .map(
        ({ name }) =>
          `the reconciler ${name} of ${this.reconcilersEntry} has no Controller: nobody would run its objects`,
      )
  }

  /** Of the first function that has no room for them. */
  private tooManyVariables(): readonly string[] {
    const controllers = [...this.controllers.values()]
    const { administrators, readers } = this.principals
    const workers = new Set([...Object.values(this.functions), ...controllers.map((one) => one.function)])
    for (const worker of workers) {
      const bytes = measureVariables(worker)
      if (bytes <= variablesBytesMax) continue
      return [
        `the variables of the function ${worker.node.id} would take ${bytes} bytes, and have room for ${variablesBytesMax}. They name ${controllers.length} Controllers: let more of them share a queue. They name ${administrators.length + readers.length} principals: let people in by bindings.`,
      ]
    }
    return []
  }
}

/** A kind has eight partitions (shared/adapters/aws/dynamodb/dynamodb-keys.ts). */
const ticksMax = 8
/** The functions that have something to tell of a change: the others hand keys on. */
const traced: readonly string[] = ['api', 'reconcile']
/** Of a rule. */
const targetsMax = 5

/**
 * Its name begins with that of the stack. By itself CDK names a bus by ids, and stacks of one id may have other names.
 */
function createBus(scope: Construct, id: string): events.EventBus {
  const name = (): string => Names.uniqueResourceName(bus, { maxLength: busNameMax })
  const bus: events.EventBus = new events.EventBus(scope, id, { eventBusName: Lazy.string({ produce: name }) })
  return bus
}

const busNameMax = 256

/** How many objects run at once of each of its queues. */
function shareConcurrency({ queues, reconciler }: AdoptedController): readonly { readonly concurrency: number }[] {
  return queues.map(() => ({ concurrency: concurrencyOfEach(reconciler, queues.length) }))
}

/** One as it is: what a version reads that knows no others. */
function urlsOf(queues: readonly WorkQueue[]): string | readonly string[] {
  const urls = queues.map(({ queue }) => queue.queueUrl)
  return urls.length === 1 ? (urls[0] ?? '') : urls
}

/** Left out, the functions have their own default. */
function retryBudgetVariable({ retryBudget: budget }: ControlPlaneProps): Readonly<Record<string, string>> {
  if (budget === undefined) return {}
  return {
    SETPOINT_RETRY_BUDGET: budget === 'none' ? 'none' : `${Number(budget.perSecond.toFixed(3))}/${budget.burst}`,
  }
}
