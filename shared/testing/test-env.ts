import type { Context } from '../reconciler/context.ts'
import type { Controller } from '../reconciler/controller.ts'
import type { Kind } from '../reconciler/kind.ts'
import type { TokenBucketOptions } from '../engine/limits/token-bucket.ts'
import type { JsonObject } from '../model/json.ts'
import type { Logger } from '../ports/logger.ts'
import type { Roles } from '../ports/roles.ts'
import type { Vault } from '../ports/vault.ts'
import type { Webhooks } from '../ports/webhooks.ts'
import { customResourceDefinitionKind } from '../resources/built-in-kinds.ts'
import type { LocalCore } from '../runtime/local/core.ts'
import type { LocalPorts } from '../runtime/local/ports.ts'
import type { Faults } from './faults.ts'
import { createObservation, type PortCall, type ProcessLife } from './observed-ports.ts'
import { createSeededRandom } from './seeded-random.ts'
import { createTestClient, manager, type TestClient } from './test-client.ts'
import { testEngine, type OpenTestEngine } from './test-engine.ts'
import { startTestProcess } from './test-process.ts'
import { createTestTime, requireRealTimers, type TestTime } from './test-time.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

export { checkConversions, type ConversionChecks } from './check-conversions.ts'
export { createTestVault, type TestVault } from './test-vault.ts'
export type { TestClient } from './test-client.ts'
export type { TestTime } from './test-time.ts'
export type { Fault, Faults } from './faults.ts'
export type { PortCall } from './observed-ports.ts'
export type { TokenBucketOptions } from '../engine/limits/token-bucket.ts'
export { startFarSide } from './far-side.ts'
export type { FarAnswer, FarFaultOptions, FarFaults, FarRequest, FarSide } from './far-side.ts'

export interface TestEnvOptions {
  readonly reconcilers?: readonly Controller[]
  /** Kinds without a reconciler among the given ones. */
  readonly kinds?: readonly Kind<unknown, unknown>[]
  /** Of all chance, ids included. Default 1. */
  readonly seed?: number
  /** When virtual time begins. Default 2026-01-01T00:00:00Z. */
  readonly startMs?: number
  /**
   * Between two looks for due timers. They are on time whatever it is; a test of days is faster with a minute. Default
   * 5 s.
   */
  readonly tickMs?: number
  /**
   * Whether something outside of the control plane is under way, such as an HTTP request of a reconciler: nothing is
   * settled then. Needed only for what takes longer than a second: so long a run is waited for that calls nothing.
   */
  readonly isBusy?: () => boolean
  /** What all controllers together may spend on retries. Default: no limit but each object's backoff. */
  readonly retryBudget?: TokenBucketOptions
  /**
   * What the control plane runs on. Default: the engine of one machine. `awsEngine` of `setpoint/testing-aws` is the
   * one of AWS, on DynamoDB's adapters.
   */
  readonly engine?: OpenTestEngine
  /** In place of the servers that webhook configurations name. Default: none can be asked. */
  readonly webhooks?: Webhooks
  /** In the place of AWS's STS, for `ctx.outside.assumeRole`. Default: there is none. */
  readonly roles?: Roles
  /** In the place of Secrets Manager and Parameter Store: `createTestVault()`. Default: there are none. */
  readonly vault?: Vault
}

/**
 * A whole control plane in this process, on a virtual clock: nothing happens but by your calls, hours pass in
 * milliseconds, and any call of any port can be made to fail. Close it when done, or take it with `await using`.
 */
export interface TestEnv extends TestClient, TestTime, AsyncDisposable {
  /**
   * Every call of the ports `store`, `index`, `feed`, `relayed`, `turned`, `introduced` and `queue:<controller>`, in
   * order.
   */
  readonly calls: readonly PortCall[]
  readonly faults: Faults
  /** What was logged. */
  readonly logs: readonly LogLine[]
  /**
   * Ends the process as kill -9 does, and starts it again over what was stored. Other reconcilers may come with the
   * restart.
   */
  crash(reconcilers?: readonly Controller[]): Promise<void>
  close(): Promise<void>
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: JsonObject
}

export async function createTestEnv(options: TestEnvOptions = {}): Promise<TestEnv> {
  requireRealTimers()
  checkTimes(options)
  const clock = createVirtualClock(options.startMs)
  const random = createSeededRandom(options.seed ?? 1)
  const logs: LogLine[] = []
  const observation = createObservation({
    nowMs: () => clock.nowMs(),
    // Nobody moves the clock while a process starts: a delay would be for ever.
    sleep: (ms) => (process.isRestarting ? Promise.resolve() : clock.sleep(ms)),
    isPort: (port) => reconcilers.some(({ name }) => port === `queue:${name}`),
  })
  const engine = await testEngine(clock, options.engine)
  let reconcilers = options.reconcilers ?? []
  const process = await startTestProcess(startCore)
  const time = createTestTime(clock, {
    calls: () => observation.calls.length,
    countRunning: observation.countRunning,
    countDelayed: observation.countDelayed,
    isBusy: () => options.isBusy?.() === true || !engine.isQuiet(),
    awaitRestart: process.awaitRestart,
  })

  async function startCore(life: ProcessLife): Promise<LocalCore> {
    const started = await engine.start({
      ports: observePorts(engine.ports, { observation, life }),
      controllers: reconcilers.map((controller) => countRuns(controller, { observation, life })),
      ...(options.kinds && { kinds: options.kinds }),
      authenticate: () => ({ name: 'test', groups: ['system:masters'] }),
      clock,
      random,
      logger: recorder(logs),
      wrapQueue: (queue, name) => observation.observe(`queue:${name}`, queue, life, ['receive']),
      tickMs: options.tickMs ?? 5_000,
      ...(options.retryBudget === undefined ? {} : { retryBudget: options.retryBudget }),
      ...(options.webhooks && { webhooks: options.webhooks }),
      ...(options.roles && { roles: options.roles }),
      ...(options.vault && { vault: options.vault }),
    })
    await applyDefinitions(started, options.kinds)
    return started
  }

  let isClosed = false
  const close = async (): Promise<void> => {
    await time.settle()
    isClosed = true
    if (!process.isDown) await stop(process.core, clock, time)
    engine.ports.close()
  }

  return {
    ...createTestClient(process),
    ...time,
    calls: observation.calls,
    faults: observation.faults,
    logs,
    crash: async (others) => {
      if (isClosed) throw new TypeError('the environment is closed: nothing runs that could crash')
      reconcilers = others ?? reconcilers
      await process.crash()
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Throws a TypeError for times with which the clock would stand still, or show none. */
function checkTimes({ tickMs = 1, startMs = 0 }: TestEnvOptions): void {
  if (!(tickMs >= 1)) throw new TypeError(`createTestEnv: tickMs is ${tickMs}; give 1 or more`)
  if (!(startMs >= 0 && startMs <= startMsMax))
    throw new TypeError(`createTestEnv: startMs is ${startMs}; give milliseconds since the epoch, as Date.parse does`)
}

/** The end of the year 9999. */
const startMsMax = 253_402_300_799_999

async function stop(core: LocalCore, clock: VirtualClock, { settle }: TestTime): Promise<void> {
  let isStopped = false
  const stopped = core.stop(0).finally(() => (isStopped = true))
  await settle()
  // A run may still wait in a call that a fault holds up.
  for (let next = clock.nextDueMs(); !isStopped && next !== undefined; next = clock.nextDueMs()) {
    clock.moveTo(next)
    await settle()
  }
  await stopped
}

async function applyDefinitions({ resources }: LocalCore, kinds: TestEnvOptions['kinds'] = []): Promise<void> {
  for (const { definition } of kinds)
    if (definition !== undefined)
      await resources.patch(
        customResourceDefinitionKind,
        definition.metadata,
        { type: 'apply', body: definition as unknown as JsonObject, force: true },
        manager,
      )
}

interface Observed {
  readonly observation: ReturnType<typeof createObservation>
  readonly life: ProcessLife
}

function observePorts(ports: LocalPorts, { observation, life }: Observed): LocalPorts {
  return {
    ...ports,
    store: observation.observe('store', ports.store, life),
    index: observation.observe('index', ports.index, life),
    relayed: observation.observe('relayed', ports.relayed, life),
    turned: observation.observe('turned', ports.turned, life),
    introduced: observation.observe('introduced', ports.introduced, life),
    feed: observation.observe('feed', ports.feed, life, ['follow']),
  }
}

/** A run counts as busy until it ends or its process does, but while it sleeps. */
function countRuns(controller: Controller, { observation, life }: Observed): Controller {
  const { reconcile, cleanup } = controller
  const withIdleSleep = (ctx: Context): Context => ({
    ...ctx,
    sleep: (duration) => observation.idle(life, () => ctx.sleep(duration)),
  })
  const count =
    (run: Controller['reconcile']): Controller['reconcile'] =>
    (object, ctx) =>
      observation.busy(life, () => run(object, withIdleSleep(ctx)))
  return { ...controller, reconcile: count(reconcile), ...(cleanup && { cleanup: count(cleanup) }) }
}

function recorder(lines: LogLine[], fields: JsonObject = {}): Logger {
  const log =
    (level: LogLine['level']) =>
    (message: string, more: JsonObject | (() => JsonObject) = {}) =>
      void lines.push({ level, message, fields: { ...fields, ...(typeof more === 'function' ? more() : more) } })
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (more) => recorder(lines, { ...fields, ...more }),
  }
}
