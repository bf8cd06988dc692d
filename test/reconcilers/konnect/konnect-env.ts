import { expect } from 'vitest'
import { konnectReconcilers } from '../../../functions/reconcilers/konnect/reconcilers.ts'
import type { KonnectFetch } from '../../../functions/reconcilers/konnect/client.ts'
import type { KonnectOptions } from '../../../functions/reconcilers/konnect/konnect.ts'
import {
  KonnectControlPlane,
  KonnectConsumer,
  KonnectRoute,
  KonnectService,
} from '../../../functions/reconcilers/konnect/kinds.ts'
import { conditionOf, Secret, type ApiObject, type Condition, type Kind } from '../../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../../shared/testing/test-env.ts'
import { startFakeKonnect, type FakeKonnect, type LoggedCall } from './fake-konnect.ts'

/**
 * A control plane on a virtual clock, with Konnect's reconcilers, and a fake Konnect on a real port that follows the
 * same clock.
 */
export interface KonnectEnv extends AsyncDisposable {
  readonly env: TestEnv
  readonly konnect: FakeKonnect
  /**
   * Kills the process at the nth HTTP request from now: before it is sent, or when its answer has come but not been
   * read.
   */
  crashAt(request: number, when: 'before' | 'after'): void
  /** How often that has happened. */
  crashes(): number
  /** Runs of a controller that have ended, whatever way. */
  runs(controller: string): Promise<number>
  /** HTTP requests that were begun since the last call of this. */
  requests(): number
  /** Calls of Konnect since the last call of this, but for those about the organization. */
  newCalls(): readonly string[]
  callsOf(call: string): readonly LoggedCall[]
  /** The Secret and a control plane `main`. */
  applyControlPlane(spec?: object): Promise<void>
  applyService(spec?: object, metadata?: object): Promise<void>
}

export async function startKonnectEnv(options: Omit<KonnectOptions, 'fetch'> = {}): Promise<KonnectEnv> {
  let nowMs = (): number => 0
  const konnect = await startFakeKonnect({ now: () => nowMs() })
  let inFlight = 0
  let begun = 0
  let crashes = 0
  let crash: { left: number; when: 'before' | 'after' } | undefined

  const fetch: KonnectFetch = async (url, init) => {
    begun++
    const isLast = crash !== undefined && --crash.left === 0 ? crash.when : undefined
    if (isLast === 'before') return killed()
    const response = await answered(url, init)
    return isLast === 'after' ? killed() : response
  }

  const answered: KonnectFetch = async (url, init) => {
    inFlight++
    try {
      const response = await globalThis.fetch(url, init)
      const body = await response.arrayBuffer()
      return new Response(response.status === 204 ? null : body, response)
    } finally {
      inFlight--
    }
  }

  /** The process is gone: nothing that it waited for ever comes. */
  const killed = (): Promise<never> => {
    crash = undefined
    crashes++
    void env.crash(konnectReconcilers({ ...options, fetch }))
    return new Promise(() => {})
  }

  const env = await createTestEnv({
    reconcilers: konnectReconcilers({ ...options, fetch }),
    isBusy: () => inFlight > 0,
    tickMs: 60_000,
  })
  nowMs = env.nowMs
  let told = 0
  let counted = 0
  return {
    env,
    konnect,
    crashAt: (left, when) => {
      crash = { left, when }
    },
    crashes: () => crashes,
    runs: async (controller) => {
      const lines = (await env.page('/metrics')).matchAll(
        new RegExp(`^controller_runtime_reconcile_total\\{controller="${controller}".* (\\d+)$`, 'gm'),
      )
      return [...lines].reduce((sum, [, count]) => sum + Number(count), 0)
    },
    requests: () => {
      const since = begun - counted
      counted = begun
      return since
    },
    newCalls: () => {
      const calls = konnect.calls.slice(told).map(({ call }) => call)
      told = konnect.calls.length
      return calls.filter((call) => !call.startsWith('GET /v3/'))
    },
    callsOf: (call) => konnect.calls.filter((one) => one.call === call),
    applyControlPlane: async (spec = {}) => {
      await env.apply(Secret, { metadata: { name: 'konnect' }, stringData: { token: 'kpat_test' } })
      const given = { authRef: { name: 'konnect' }, serverURL: konnect.url, ...spec }
      await env.apply(KonnectControlPlane, { metadata: { name: 'main' }, spec: given })
      await env.settle()
    },
    applyService: async (spec = {}, metadata = {}) => {
      const given = { controlPlaneRef: { name: 'main' }, host: 'orders.example', ...spec }
      await env.apply(KonnectService, { metadata: { name: 'orders', ...metadata }, spec: given })
      await env.settle()
    },
    [Symbol.asyncDispose]: async () => {
      await env.close()
      await konnect.close()
      expect(konnect.violations).toEqual([])
    },
  }
}

export { KonnectConsumer, KonnectControlPlane, KonnectRoute, KonnectService }

/** The object as clients see it. Throws if it is not there. */
export async function seen<Read>(env: TestEnv, kind: Kind<Read, unknown>, name: string): Promise<Read> {
  const object = await env.get(kind, name)
  if (object === undefined) throw new Error(`no ${kind.kind} ${name}`)
  return object
}

export async function conditionIn(
  env: TestEnv,
  kind: Kind<unknown, unknown>,
  [name, type]: readonly [name: string, type: string],
): Promise<Condition | undefined> {
  return conditionOf((await seen(env, kind, name)) as ApiObject, type)
}
