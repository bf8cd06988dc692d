import * as z from 'zod'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  retryAfter,
  stop,
  withReport,
  type Context,
  type Controller,
  type Effect,
  type JsonObject,
  type ObjectMeta,
  type Outcome,
} from '../../../shared/index.ts'
import { hasCode } from '../../../shared/model/errors.ts'
import type { Life } from '../life.ts'
import type { OutsideClient } from '../outside.ts'
import type { RunWatcher, TenantStep } from '../runs.ts'

/** Some are large: few of their last states find room under one name. */
const ballast = z.string().optional()

/**
 * An object without a finalizer, of which much is left to do when it is gone: it is billed once, leaves a receipt, and
 * its last run needs several tries. Alive it does things of the same names.
 */
export const Tenant = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Tenant',
  spec: z.object({ value: z.number().int(), ballast }),
  status: z.object({ value: z.number().int() }),
  olderVersions: (older) => [
    older('v1alpha1', {
      spec: z.object({ amount: z.string(), ballast }),
      status: z.object({ amount: z.string() }),
      upgrade: ({ spec, status }) => ({
        spec: presentTenantSpecOf(spec),
        ...(status?.amount !== undefined && { status: { value: Number(status.amount) } }),
      }),
      downgrade: ({ spec, status }) => ({
        spec: formerSpecOf(spec),
        ...(status?.value !== undefined && { status: { amount: String(status.value) } }),
      }),
    }),
  ],
})

/** The same as the version of the code before has it, which stores it in the version that it knows as its own. */
const TenantBefore = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1alpha1',
  kind: 'Tenant',
  spec: z.object({ amount: z.string(), ballast }),
  status: z.object({ amount: z.string() }),
  olderVersions: (older) => [
    older('v1', {
      spec: z.object({ value: z.number().int(), ballast }),
      status: z.object({ value: z.number().int() }),
      upgrade: ({ spec, status }) => ({
        spec: formerSpecOf(spec),
        ...(status?.value !== undefined && { status: { amount: String(status.value) } }),
      }),
      downgrade: ({ spec, status }) => ({
        spec: presentTenantSpecOf(spec),
        ...(status?.amount !== undefined && { status: { value: Number(status.amount) } }),
      }),
    }),
  ],
})

interface Former {
  readonly amount: string
  readonly ballast?: string | undefined
}

interface Present {
  readonly value: number
  readonly ballast?: string | undefined
}

function formerSpecOf({ value, ballast: kept }: Present): { amount: string; ballast?: string } {
  return { amount: String(value), ...(kept !== undefined && { ballast: kept }) }
}

/** A spec of either version as the present one has it, its fields in one order. */
export function presentTenantSpecOf(spec: JsonObject | Former | Present): { value: number; ballast?: string } {
  const { value, amount, ballast: kept } = spec as Partial<Former & Present>
  return { value: value ?? Number(amount), ...(kept !== undefined && { ballast: kept }) }
}

/** What the last run of a Tenant leaves behind. */
export function receiptOf(uid: string): string {
  return `receipt-${uid}`
}

/** An object of either version. */
interface Named {
  readonly metadata: Pick<ObjectMeta, 'name' | 'uid'>
}

/** Behind this time of a last run its function goes on. */
const dawdlesMs = 35_000
const daybreak = 'DueByDaybreak'

export interface TenantOptions {
  readonly life: Life
  readonly outside: OutsideClient
  readonly watcher: RunWatcher
  /** Two versions of the code run, and each stores its own version of the kind. */
  readonly isDeploying: boolean
}

/** What a run does with an object of either version; nothing more is left to tell of a living one. */
function createRun({ life, outside, watcher }: Omit<TenantOptions, 'isDeploying'>) {
  const tell = ({ metadata: { uid, name } }: Named, step: Omit<TenantStep, 'uid' | 'name'>): void =>
    watcher.tenant({ ...step, uid, name })

  /** What earlier runs have noted, and a note of this one's. */
  const note = async (tenant: Named, ctx: Context, isKept: boolean): Promise<number> => {
    const { uid } = tenant.metadata
    const told = ctx.notes.get('run') as { readonly tries: number } | undefined
    const isLast = ctx.removed
    tell(tenant, { what: 'told', isLast, told })
    const tries = (told?.tries ?? 0) + 1
    ctx.notes.set('run', { of: uid, isLast, tries })
    if (isKept) {
      await ctx.notes.keep()
      tell(tenant, { what: 'kept', isLast, tries })
    }
    return tries
  }

  const bill = (tenant: Named, ctx: Context): Promise<string> =>
    ctx.once('bill', async ({ mayHaveHappened }: Effect) => {
      tell(tenant, { what: 'billed', isLast: ctx.removed, isTold: mayHaveHappened })
      await outside.observe(tenant.metadata.uid)
      return tenant.metadata.uid
    })

  const leaveBehind = async (tenant: Named, value: number, ctx: Context): Promise<void> => {
    const { name, uid } = tenant.metadata
    const isTaken = await ctx.apply(ConfigMap, { metadata: { name: `child-${uid}` } }).then(
      () => true,
      (error: unknown) => !hasCode(error, 'BAD_REQUEST'),
    )
    if (isTaken) tell(tenant, { what: 'child taken', isLast: true })
    const receipt = { metadata: { name: receiptOf(uid) }, data: { tenant: name, value: String(value) } }
    await ctx.apply(ConfigMap, receipt, { owned: false })
    try {
      await ctx.create(ConfigMap, { metadata: { name: `key-${uid}` } }, { owned: false })
    } catch (error) {
      if (!hasCode(error, 'ALREADY_EXISTS')) throw error
    }
  }

  const leave = async (tenant: Named, value: number, ctx: Context): Promise<Outcome> => {
    const tries = await note(tenant, ctx, value % 2 === 0)
    if (value % 7 === 3 && tries === 1) await life.pass(dawdlesMs)
    if (value % 4 === 1) expectDaybreak(tenant, ctx)
    const billed = await bill(tenant, ctx)
    tell(tenant, { what: 'has bill', isLast: true, told: billed })
    await leaveBehind(tenant, value, ctx)
    await ctx.event('Normal', 'Left', `it has left with ${value}`)
    return tries > value % 4 ? done() : hesitate(value)
  }

  const expectDaybreak = (tenant: Named, ctx: Context): void => {
    tell(tenant, { what: 'expects', isLast: true, told: ctx.expectations.has(daybreak) })
    ctx.expectations.set(daybreak, ctx.now() + 600_000)
  }

  const live = async (tenant: Named, ctx: Context): Promise<void> => {
    await note(tenant, ctx, true)
    const billed = await bill(tenant, ctx)
    tell(tenant, { what: 'has bill', isLast: false, told: billed })
  }

  return async (tenant: Named, value: number, ctx: Context): Promise<Outcome | undefined> => {
    if (!ctx.removed) await live(tenant, ctx)
    return ctx.removed ? leave(tenant, value, ctx) : undefined
  }
}

export function tenantController({ isDeploying, ...options }: TenantOptions): Controller {
  const { life, watcher } = options
  const run = createRun(options)
  const grants = [{ kind: ConfigMap, access: 'write' }] as const
  const pace = { onRemoved: 'reconcile', grants, resync: false, timeout: '30s' } as const
  if (isDeploying && life.version === 1)
    return defineReconciler(TenantBefore, {
      ...pace,
      reconcile: async (tenant, ctx) => {
        const { amount } = tenant.spec
        const work = async () => (await run(tenant, Number(amount), ctx)) ?? done({ status: { amount } })
        return oddly(await watcher.run(ctx.removed ? 'cleanup' : 'reconcile', tenant, life, work)) as never
      },
    })
  return defineReconciler(Tenant, {
    ...pace,
    reconcile: async (tenant, ctx) => {
      const { value } = tenant.spec
      const work = async () => (await run(tenant, value, ctx)) ?? done({ status: { value } })
      return oddly(await watcher.run(ctx.removed ? 'cleanup' : 'reconcile', tenant, life, work)) as never
    },
  })
}

/** How a last run ends that is to come again. */
function hesitate(value: number): Outcome {
  switch (value % 5) {
    case 0:
      return again('4s')
    case 1:
      throw new Error('somebody is still at home')
    case 2:
      throw retryAfter('7s', 'the clerk is out')
    case 3:
      throw withReport(stop('NoClerk', 'there is no clerk'), { retryWithin: '1m' })
    default:
      return again(oddMs)
  }
}

const oddMs = 777

/** Whoever forgets to return an outcome is told of as any run that fails. */
function oddly(outcome: Outcome): Outcome | undefined {
  return outcome.kind === 'again' && outcome.afterMs === oddMs ? undefined : outcome
}
