import { durationMs, type Duration } from '../model/duration.ts'
import { hasCode, OperatingError } from '../model/errors.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import type { ObjectKey } from '../model/object-key.ts'
import { parseApiVersion, type ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { HttpHandler } from '../ports/http-handler.ts'
import type { Logger } from '../ports/logger.ts'
import type { Applied, At, Context } from '../engine/context.ts'
import type { Controller } from '../engine/controller.ts'
import type { TokenBucketOptions } from '../engine/token-bucket.ts'
import type { Kind } from '../engine/kind.ts'
import { present } from '../model/present.ts'
import { customResourceDefinitionKind } from '../resources/built-in-kinds.ts'
import type { Deleted, DeleteOptions, Place } from '../resources/resources.ts'
import type { LocalCore } from '../runtime/local-core.ts'
import type { LocalPorts } from '../runtime/local-ports.ts'
import { createLife, createObservation, type Faults, type PortCall, type ProcessLife } from './observed-ports.ts'
import { createSeededRandom } from './seeded-random.ts'
import { testEngine } from './test-engine.ts'
import { createVirtualClock } from './virtual-clock.ts'

export interface TestEnvOptions {
  readonly reconcilers?: readonly Controller[]
  /** Kinds without a reconciler among the given ones. */
  readonly kinds?: readonly Kind<unknown, unknown>[]
  /** Of all chance, ids included. Default 1. */
  readonly seed?: number
  /** When virtual time begins. Default 2026-01-01T00:00:00Z. */
  readonly startMs?: number
  /** Between two looks for due timers. They are on time whatever it is; a test of days is faster with a minute. Default 5 s. */
  readonly tickMs?: number
  /** Whether something outside of the control plane is under way, such as an HTTP request of a reconciler: nothing is settled then. */
  readonly isBusy?: () => boolean
  /** What all controllers together may spend on retries. Default: no limit but each object's backoff. */
  readonly retryBudget?: TokenBucketOptions
}

/**
 * A whole control plane in this process, on a virtual clock: nothing happens but by your calls, hours pass in milliseconds, and
 * any call of any port can be made to fail. Close it when done, or take it with `await using`.
 */
export interface TestEnv extends AsyncDisposable {
  /** Applies an object as a user would, on the default namespace if it names none. */
  apply<Read, Body>(kind: Kind<Read, Body>, object: Applied<Body>): Promise<Read>
  /** Applies a manifest: any object with apiVersion, kind and metadata.name. */
  applyManifest(manifest: JsonObject): Promise<ApiObject>
  /** The object as clients see it, `status.reconcile` included; `undefined` if there is none. */
  get<Read>(kind: Kind<Read, unknown>, at: string | At): Promise<Read | undefined>
  list<Read>(kind: Kind<Read, unknown>, namespace?: string): Promise<readonly Read[]>
  /** A merge patch, by whoever `manager` says. */
  patch<Read>(
    kind: Kind<Read, unknown>,
    at: string | At,
    body: JsonObject,
    options?: { readonly manager?: string; readonly subresource?: 'status' },
  ): Promise<Read>
  delete(kind: Kind<unknown, unknown>, at: string | At, options?: DeleteOptions): Promise<Deleted>

  /** Waits until nothing can happen without time passing. */
  settle(): Promise<void>
  /** Lets time pass: everything due on the way happens at its own time. */
  advance(by: Duration): Promise<void>
  /** Lets time pass until `check` stops throwing, at most `within` (default 10 m) of virtual time; then throws what it threw. */
  eventually<Result>(check: () => Result | Promise<Result>, within?: Duration): Promise<Result>
  nowMs(): number

  /** Every call of the ports `store`, `index`, `relayed`, `turned`, `introduced` and `queue:<controller>`, in order. */
  readonly calls: readonly PortCall[]
  readonly faults: Faults
  /** What was logged. */
  readonly logs: readonly LogLine[]
  /** Ends the process as kill -9 does, and starts it again over what was stored. Other reconcilers may come with the restart. */
  crash(reconcilers?: readonly Controller[]): Promise<void>
  /** The six questions about an object, answered in text: desired, observed, difference, action, requeue, status. */
  explain(kind: Kind<unknown, unknown>, at: string | At): Promise<string>
  /** What the API answers to a GET, as text; for pages such as `/metrics`. */
  page(path: string): Promise<string>
  /** The HTTP API. */
  readonly api: HttpHandler
  close(): Promise<void>
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: JsonObject
}

export async function createTestEnv(options: TestEnvOptions = {}): Promise<TestEnv> {
  const clock = createVirtualClock(options.startMs)
  const random = createSeededRandom(options.seed ?? 1)
  const logs: LogLine[] = []
  const observation = createObservation(
    () => clock.nowMs(),
    // Nobody moves the clock while a process starts: a delay would be for ever.
    (ms) => (restart === undefined ? clock.sleep(ms) : Promise.resolve()),
  )
  const engine = await testEngine(clock)
  const { ports } = engine
  let reconcilers = options.reconcilers ?? []
  let restart: Promise<void> | undefined
  let { life, core } = await start()

  async function start(): Promise<{ readonly life: ProcessLife; readonly core: LocalCore }> {
    const begun = createLife(() => {
      begun.end()
      restart ??= recover()
    })
    return { life: begun, core: await Promise.race([startCore(begun), begun.ended]) }
  }

  async function startCore(begun: ProcessLife): Promise<LocalCore> {
    const started = await engine.start({
      ports: observedPorts(begun),
      controllers: reconcilers.map((controller) => counting(controller, begun)),
      authenticate: () => ({ name: 'test', groups: ['system:masters'] }),
      clock,
      random,
      logger: recorder(logs),
      wrapQueue: (queue, name) => observation.observe(`queue:${name}`, queue, begun, ['receive']),
      tickMs: options.tickMs ?? 5_000,
      ...(options.retryBudget === undefined ? {} : { retryBudget: options.retryBudget }),
    })
    for (const { definition } of options.kinds ?? [])
      if (definition !== undefined)
        await started.resources.patch(
          customResourceDefinitionKind,
          definition.metadata,
          { type: 'apply', body: definition as unknown as JsonObject, force: true },
          manager,
        )
    return started
  }

  function observedPorts(begun: ProcessLife): LocalPorts {
    return {
      ...ports,
      store: observation.observe('store', ports.store, begun),
      index: observation.observe('index', ports.index, begun),
      relayed: observation.observe('relayed', ports.relayed, begun),
      turned: observation.observe('turned', ports.turned, begun),
      introduced: observation.observe('introduced', ports.introduced, begun),
      feed: observation.observe('feed', ports.feed, begun, ['follow']),
    }
  }

  /** A run counts as busy until it ends or its process does, but while it sleeps. */
  function counting(controller: Controller, begun: ProcessLife): Controller {
    const { reconcile, cleanup } = controller
    const sleeping = (ctx: Context): Context => ({
      ...ctx,
      sleep: (duration) => observation.idle(begun, () => ctx.sleep(duration)),
    })
    const count =
      (run: Controller['reconcile']): Controller['reconcile'] =>
      (object, ctx) =>
        observation.busy(begun, () => run(object, sleeping(ctx)))
    return { ...controller, reconcile: count(reconcile), ...(cleanup && { cleanup: count(cleanup) }) }
  }

  async function recover(): Promise<void> {
    const dead = core
    life.end()
    void dead.stop(0)
    await restarted()
    restart = undefined
  }

  /** Like a supervisor: a process that dies or fails while it starts is started again. */
  async function restarted(): Promise<void> {
    try {
      ;({ life, core } = await start())
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error
      return restarted()
    }
  }

  const settle = async (): Promise<void> => {
    let quietTurns = 0
    let movedMs = performance.now()
    for (let seen = -1; quietTurns < quietTurnsEnough;) {
      await new Promise((resolve) => setImmediate(resolve))
      if (restart !== undefined) await restart
      const now = observation.calls.length
      const isMoving = now !== seen || options.isBusy?.() === true || !engine.isQuiet()
      if (isMoving) movedMs = performance.now()
      const isQuiet = !isMoving && (observation.running() === 0 || performance.now() - movedMs > patienceMs)
      quietTurns = isQuiet ? quietTurns + 1 : 0
      seen = now
    }
  }

  const advanceTo = async (untilMs: number): Promise<void> => {
    await settle()
    for (let next = clock.nextDueMs(); next !== undefined && next <= untilMs; next = clock.nextDueMs()) {
      clock.moveTo(next)
      await settle()
    }
    clock.moveTo(untilMs)
    await settle()
  }

  const served = async ({ group, kind }: Pick<ObjectKey, 'group' | 'kind'>): Promise<ServedKind> => {
    const found = await core.catalog.byKind(group, kind)
    if (found === undefined)
      throw new TypeError(`no kind ${kind} in group ${group || 'core'}: give it in \`kinds\` or by a reconciler`)
    return found
  }

  const apply = async (kind: Pick<ObjectKey, 'group' | 'kind'>, body: JsonObject): Promise<ApiObject> => {
    const metadata = isObject(body['metadata']) ? body['metadata'] : {}
    const at = { name: String(metadata['name']), namespace: String(metadata['namespace'] ?? 'default') }
    const { stored } = await answered(async () =>
      core.resources.patch(await served(kind), at, { type: 'apply', body, force: true }, manager),
    )
    return present(stored)
  }

  /** A request that dies with its process is refused, as when a connection breaks: what became of it is not known. */
  function answered<Result>(request: () => Promise<Result>): Promise<Result> {
    return Promise.race([request(), life.ended])
  }

  const page = async (path: string): Promise<string> => {
    const { body } = await core.api({
      method: 'GET',
      path,
      query: new URLSearchParams(),
      header: () => {},
      body: async () => new Uint8Array(),
      signal: new AbortController().signal,
    })
    return String(body)
  }

  const explain = async (kind: Kind<unknown, unknown>, at: string | At): Promise<string> => {
    const { group, version, namespaced, plural } = await served(kind)
    const { namespace = 'default', name } = typeof at === 'string' ? { name: at } : at
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    return page(`${root}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}/${name}/explain`)
  }

  const close = async (): Promise<void> => {
    await settle()
    let isStopped = false
    const stopped = core.stop(0).finally(() => (isStopped = true))
    await settle()
    // A run may still wait in a call that a fault holds up.
    for (let next = clock.nextDueMs(); !isStopped && next !== undefined; next = clock.nextDueMs()) {
      clock.moveTo(next)
      await settle()
    }
    await stopped
    ports.close()
  }

  return {
    apply: async <Read, Body>(kind: Kind<Read, Body>, object: Applied<Body>) =>
      (await apply(kind, object)) as unknown as Read,
    applyManifest: (manifest) =>
      apply({ group: parseApiVersion(String(manifest['apiVersion'])).group, kind: String(manifest['kind']) }, manifest),
    get: async <Read>(kind: Kind<Read, unknown>, at: string | At) => {
      try {
        const stored = await answered(async () => core.resources.get(await served(kind), placeOf(at)))
        return present(stored) as unknown as Read
      } catch (error) {
        if (hasCode(error, 'NOT_FOUND')) return
        throw error
      }
    },
    list: async <Read>(kind: Kind<Read, unknown>, namespace?: string) => {
      const { items } = await answered(async () =>
        core.resources.list(await served(kind), namespace === undefined ? {} : { namespace }),
      )
      return items.map((item) => present(item) as unknown as Read)
    },
    patch: async <Read>(
      kind: Kind<Read, unknown>,
      at: string | At,
      body: JsonObject,
      {
        manager: by = manager.manager,
        subresource,
      }: { readonly manager?: string; readonly subresource?: 'status' } = {},
    ) => {
      const how = { manager: by, ...(subresource === undefined ? {} : { subresource }) }
      const { stored } = await answered(async () =>
        core.resources.patch(await served(kind), placeOf(at), { type: 'merge', body }, how),
      )
      return present(stored) as unknown as Read
    },
    delete: (kind, at, asked) =>
      answered(async () => core.resources.delete(await served(kind), placeOf(at), { ...manager, ...asked })),

    settle,
    advance: (by) => advanceTo(clock.nowMs() + durationMs(by)),
    eventually: async (check, within = '10m') => {
      const untilMs = clock.nowMs() + durationMs(within)
      for (;;) {
        await settle()
        try {
          return await check()
        } catch (error) {
          const next = clock.nextDueMs()
          if (next === undefined || next > untilMs) throw error
          clock.moveTo(next)
        }
      }
    },
    nowMs: () => clock.nowMs(),

    calls: observation.calls,
    faults: observation.faults,
    logs,
    crash: async (others) => {
      reconcilers = others ?? reconcilers
      await (restart ??= recover())
    },
    explain,
    page,
    api: (request) => core.api(request),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** As many turns of the event loop as a commit and what follows from it take, and some. */
const quietTurnsEnough = 4
/** How long (in real time) anything may be busy without a call of a port before it counts as waiting for virtual time. */
const patienceMs = 25

const manager = { manager: 'test' } as const

function placeOf(at: string | At): Place {
  return { namespace: 'default', ...(typeof at === 'string' ? { name: at } : at) }
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
