import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  canaries,
  Canary,
  conditionOf,
  defineKind,
  defineReconciler,
  done,
  type Context,
  type Controller,
  type ObjectOf,
} from '../../../../shared/index.ts'
import { isInShare } from '../../../../shared/reconciler/canary/decide-canary.ts'
import { createTestEnv, type TestEnv } from '../../../../shared/testing/test-env.ts'

function pagesOf(text: z.ZodString) {
  return defineKind({
    group: 'test.dev',
    version: 'v1',
    kind: 'Page',
    spec: z.object({ text }),
    status: z.object({ by: z.string() }),
  })
}

const Page = pagesOf(z.string())
/** Of a later release, which no text of before but a short one fits. */
const ShortPage = pagesOf(z.string().max(3))
type PageObject = ObjectOf<typeof Page>

const count = 40

interface Code {
  /** What both codes throw. */
  readonly failure?: Error
  readonly kind?: typeof Page
  readonly isBroken?: boolean
  readonly isBare?: boolean
  /** What the new code does, in place of an end. */
  readonly endless?: (ctx: Context) => Promise<never>
}

function reconcilersOf(
  { kind = Page, isBroken = false, isBare = false, endless, failure }: Code,
  cleaned: string[] = [],
): readonly Controller[] {
  const pages = defineReconciler(kind, {
    grants: [],
    reconcile: async () => {
      if (failure !== undefined) throw failure
      return done({ status: { by: 'v1' } })
    },
    cleanup: async ({ metadata: { name } }) => {
      cleaned.push(`${name} v1`)
      return done()
    },
    ...(!isBare && {
      canary: {
        version: 'v2',
        reconcile: async (_: PageObject, ctx: Context) => {
          if (endless !== undefined) return endless(ctx)
          if (failure !== undefined) throw failure
          if (isBroken) throw new Error('v2 is broken')
          return done({ status: { by: 'v2' } })
        },
        cleanup: async ({ metadata: { name } }: PageObject) => {
          cleaned.push(`${name} v2`)
          return done()
        },
      },
    }),
  })
  return [pages, canaries([pages])]
}

async function start(code: Code, cleaned: string[] = []): Promise<TestEnv> {
  const env = await createTestEnv({ reconcilers: reconcilersOf(code, cleaned) })
  for (let i = 0; i < count; i++) await env.apply(Page, { metadata: { name: `p${i}` }, spec: { text: 'x' } })
  await env.settle()
  return env
}

async function by(env: TestEnv, version: string): Promise<readonly PageObject[]> {
  return (await env.list(Page)).filter(({ status }) => status?.by === version)
}

const trial = { metadata: { name: 'page' }, spec: { version: 'v2', shares: [20, 60] } }
const at = { name: 'page', namespace: '' }

describe('new code of a reconciler, without a Canary', () => {
  it('runs no object', async () => {
    await using env = await start({ isBroken: true })
    expect(await by(env, 'v1')).toHaveLength(count)
  })
})

describe('a Canary', () => {
  it('has a share of the objects run the new code, then a larger one, then all', async () => {
    await using env = await start({})
    await env.apply(Canary, trial)
    await env.advance('1m')
    const some = (await by(env, 'v2')).length
    expect(some).toBeGreaterThan(0)
    expect(some).toBeLessThan(count / 2)
    expect(await env.get(Canary, at)).toMatchObject({ status: { phase: 'Trial', share: 20, trial: { ran: some } } })

    await env.advance('10m')
    const more = (await by(env, 'v2')).length
    expect(more).toBeGreaterThan(some)
    expect(more).toBeLessThan(count)

    await env.advance('11m')
    expect(await by(env, 'v2')).toHaveLength(count)
    const promoted = await env.get(Canary, at)
    expect(promoted).toMatchObject({ status: { phase: 'Promoted', share: 100 } })
    expect(promoted && conditionOf(promoted as never, 'Ready')).toMatchObject({ status: 'True' })
  })

  it('whose objects become unready takes them back to the old code, and tells why', async () => {
    await using env = await start({ isBroken: true })
    await env.apply(Canary, trial)
    await env.advance('1m')
    const unready = (await env.list(Page)).filter((page) => conditionOf(page as never, 'Ready')?.status === 'False')
    expect(unready.length).toBeGreaterThan(0)
    for (const page of unready)
      expect(conditionOf(page as never, 'Canary')).toMatchObject({ status: 'False', reason: 'v2' })

    await env.advance('4m')
    const canary = await env.get(Canary, at)
    expect(canary).toMatchObject({ status: { phase: 'RolledBack', share: 0 } })
    expect(canary && conditionOf(canary as never, 'Ready')?.message).toMatch(
      /objects that ran it became unready, of the others 0 of/,
    )
    const pages = await env.list(Page)
    expect(pages.filter((page) => conditionOf(page as never, 'Ready')?.status === 'True')).toHaveLength(count)
    expect(pages.filter((page) => conditionOf(page as never, 'Canary') !== undefined)).toEqual([])
  })

  it('wakes all others, and takes them back, though one has no room to be woken', async () => {
    await using env = await start({})
    const fill = (size: number) => env.apply(Page, { metadata: { name: 'a-full' }, spec: { text: 'x'.repeat(size) } })
    const limit = 350 * 1_024
    const tooLarge = await fill(limit).catch(String)
    await fill(2 * limit - Number(/would take (\d+) bytes/.exec(String(tooLarge))?.[1]))
    await env.settle()
    await env.apply(Canary, { ...trial, spec: { version: 'v2', shares: [100] } })
    await env.advance('1m')
    expect(await by(env, 'v2')).toHaveLength(count)
    expect(await env.get(Canary, at)).toMatchObject({ status: { trial: { objects: count + 1, ran: count } } })
    expect(JSON.stringify(env.logs)).toContain('an object could not be woken')
    await env.patch(Canary, at.name, { spec: { decision: 'RollBack' } })
    await env.advance('1m')
    expect(await by(env, 'v1')).toHaveLength(count)
  })

  it.each(['0s', '30s'])(
    'that holds each share for %s lets no broken code pass, though the grace is longer',
    async (hold) => {
      await using env = await start({ isBroken: true })
      await env.apply(Canary, { ...trial, spec: { ...trial.spec, hold } })
      await env.advance('10m')
      expect(await env.get(Canary, at)).toMatchObject({ status: { phase: 'RolledBack' } })
      expect(await by(env, 'v1')).toHaveLength(count)
      expect((await env.list(Page)).filter((page) => conditionOf(page as never, 'Ready')?.status !== 'True')).toEqual(
        [],
      )
    },
  )

  it.each<[string, NonNullable<Code['endless']>]>([
    [
      'runs out of its time',
      async (ctx) => {
        await ctx.sleep('1h')
        throw new Error('too late')
      },
    ],
    [
      'throws what is no error',
      async () => {
        const noError: unknown = 'no'
        throw noError as Error
      },
    ],
  ])('whose code %s takes its objects back, too', async (_what, endless) => {
    await using env = await start({ endless })
    await env.apply(Canary, trial)
    await env.advance('6m')
    expect(await env.get(Canary, at)).toMatchObject({ status: { phase: 'RolledBack', share: 0 } })
    await env.advance('2m')
    expect(await by(env, 'v1')).toHaveLength(count)
    const pages = await env.list(Page)
    expect(pages.filter((page) => conditionOf(page as never, 'Ready')?.status === 'True')).toHaveLength(count)
    expect(pages.filter((page) => conditionOf(page as never, 'Canary') !== undefined)).toEqual([])
  })

  it('has what a process that died has begun cleaned up by the code that began it', async () => {
    const cleaned: string[] = []
    await using env = await start({ endless: () => new Promise(() => {}) }, cleaned)
    await env.apply(Canary, { ...trial, spec: { ...trial.spec, shares: [100] } })
    await env.settle()
    await env.advance('2s')
    await env.crash()
    for (const { metadata } of await env.list(Page)) await env.delete(Page, metadata.name)
    await env.advance('10m')
    const versions = cleaned.map((one) => one.split(' ')[1])
    expect(versions.filter((version) => version === 'v2').length).toBeGreaterThan(0)
    expect(await env.list(Page)).toEqual([])
  })

  it('goes on where it was after a crash', async () => {
    await using env = await start({})
    await env.apply(Canary, trial)
    await env.advance('1m')
    const some = (await by(env, 'v2')).length
    await env.crash()
    await env.advance('1m')
    expect(await by(env, 'v2')).toHaveLength(some)
    await env.advance('20m')
    expect(await by(env, 'v2')).toHaveLength(count)
  })

  it('marks no object that the old code runs, though both codes throw the same error', async () => {
    await using env = await start({ failure: new Error('the far side is down') })
    await env.apply(Canary, { ...trial, spec: { ...trial.spec, hold: '2h' } })
    await env.advance('1h')
    const marked = (await env.list(Page)).filter((page) => conditionOf(page as never, 'Canary') !== undefined)
    expect(await env.get(Canary, at)).toMatchObject({ status: { phase: 'Trial', trial: { objects: marked.length } } })
  })

  it('has a later version of the same name run before it judges that', async () => {
    await using env = await start({})
    const once = { ...trial, spec: { ...trial.spec, shares: [20] } }
    await env.apply(Canary, once)
    await env.advance('12m')
    expect(await env.get(Canary, at)).toMatchObject({ status: { phase: 'Promoted' } })
    await env.crash(reconcilersOf({ isBare: true }))
    await env.delete(Canary, at)
    await env.settle()
    await env.crash(reconcilersOf({ isBroken: true }))
    await env.apply(Canary, once)
    await env.advance('1m')
    // The others go back to the code that is the old one now.
    const unready = (await env.list(Page)).filter((page) => conditionOf(page as never, 'Ready')?.status !== 'True')
    expect(unready.length).toBeGreaterThan(0)
    expect(await env.get(Canary, at)).toMatchObject({ status: { trial: { ran: unready.length } } })
    expect(await by(env, 'v1')).toHaveLength(count - unready.length)
    await env.advance('12m')
    expect(await env.get(Canary, at)).toMatchObject({ status: { phase: 'RolledBack' } })
    expect(await by(env, 'v1')).toHaveLength(count)
  })

  it('obeys a person, both ways', async () => {
    await using env = await start({})
    await env.apply(Canary, { ...trial, spec: { ...trial.spec, decision: 'Promote' } })
    await env.advance('1m')
    expect(await by(env, 'v2')).toHaveLength(count)
    await env.apply(Canary, { ...trial, spec: { ...trial.spec, decision: 'RollBack' } })
    await env.advance('1m')
    expect(await by(env, 'v1')).toHaveLength(count)
  })

  it.each([
    ['takes broken code back', { isBroken: true }, 'RolledBack', 'v1'],
    ['has all objects run good code', {}, 'Promoted', 'v2'],
  ] as const)('%s, though one object in each part does not fit its kind', async (_what, code, phase, to) => {
    await using env = await start(code)
    const uids = (await env.list(Page)).map(({ metadata: { name, uid } }) => ({ name, isIn: isInShare(uid, 60) }))
    const unfit = [true, false].map((isIn) => uids.find((one) => one.isIn === isIn)?.name ?? '')
    for (const name of unfit) await env.patch(Page, name, { spec: { text: 'much too long' } })
    await env.crash(reconcilersOf({ ...code, kind: ShortPage }))
    await env.apply(Canary, { ...trial, spec: { ...trial.spec, shares: [60] } })
    await env.advance('15m')
    expect(await env.get(Canary, at)).toMatchObject({ status: { phase } })
    const rest = (await env.list(Page)).filter(({ metadata }) => !unfit.includes(metadata.name))
    expect(rest.map(({ status }) => status?.by)).toEqual(Array(count - 2).fill(to))
  })

  it('obeys a person though one that ran the new code does not fit its kind any more', async () => {
    await using env = await start({})
    await env.apply(Canary, { ...trial, spec: { ...trial.spec, hold: '2h' } })
    await env.advance('1m')
    const [first] = await by(env, 'v2')
    const name = first?.metadata.name ?? ''
    await env.patch(Page, name, { spec: { text: 'much too long' } })
    await env.settle()
    await env.crash(reconcilersOf({ kind: ShortPage }))
    await env.patch(Canary, at, { spec: { decision: 'RollBack' } })
    await env.advance('1m')
    expect((await by(env, 'v2')).map(({ metadata }) => metadata.name)).toEqual([name])
    await env.patch(ShortPage, name, { spec: { text: 'x' } })
    await env.settle()
    expect(await by(env, 'v2')).toEqual([])
  })

  it('cleans an object up by the code that ran it', async () => {
    const cleaned: string[] = []
    await using env = await start({}, cleaned)
    await env.apply(Canary, trial)
    await env.advance('1m')
    const tried = new Set((await by(env, 'v2')).map(({ metadata }) => metadata.name))
    for (const { metadata } of await env.list(Page)) await env.delete(Page, metadata.name)
    await env.settle()
    expect(cleaned).toHaveLength(count)
    for (const one of cleaned) {
      const [name = '', version] = one.split(' ')
      expect(version).toBe(tried.has(name) ? 'v2' : 'v1')
    }
  })

  it('of a version that no code has waits for it, and says so', async () => {
    await using env = await start({ isBare: true })
    await env.apply(Canary, trial)
    await env.advance('1m')
    const canary = await env.get(Canary, at)
    expect(canary && conditionOf(canary as never, 'Ready')).toMatchObject({ status: 'False', reason: 'NotDeployed' })
    expect(await by(env, 'v1')).toHaveLength(count)
  })

  it('that comes to name such a version has its objects go back to the old code at once', async () => {
    await using env = await start({})
    await env.apply(Canary, trial)
    await env.advance('1m')
    expect((await by(env, 'v2')).length).toBeGreaterThan(0)
    await env.patch(Canary, at, { spec: { version: 'v3' } })
    await env.settle()
    expect(await by(env, 'v1')).toHaveLength(count)
    expect((await env.list(Page)).filter((page) => conditionOf(page as never, 'Canary') !== undefined)).toEqual([])
  })

  it('of no reconciler stops', async () => {
    await using env = await start({})
    await env.apply(Canary, { ...trial, metadata: { name: 'other' } })
    await env.settle()
    const canary = await env.get(Canary, { name: 'other', namespace: '' })
    expect(canary && conditionOf(canary as never, 'Stalled')).toMatchObject({ reason: 'NoSuchReconciler' })
  })

  it.each([
    [{ hold: 'long' }, /spec.hold/],
    [{ shares: [50, 10] }, /larger than the one before/],
    [{ shares: [0] }, /spec.shares/],
  ])('with %s is refused', async (wrong, why) => {
    await using env = await createTestEnv({ reconcilers: reconcilersOf({}) })
    await expect(env.apply(Canary, { ...trial, spec: { ...trial.spec, ...wrong } })).rejects.toThrow(why)
  })
})

describe('the definition of a reconciler with new code', () => {
  const stable = { reconcile: async () => done() }

  it('names its version', () => {
    expect(() => defineReconciler(Page, { ...stable, canary: { version: '2.0', ...stable } })).toThrow(
      /version must be/,
    )
  })

  it('has a clean-up for both, or for none', () => {
    const canary = { version: 'v2', ...stable, cleanup: async () => done() }
    expect(() => defineReconciler(Page, { ...stable, canary })).toThrow(/has a cleanup, and the reconciler has none/)
  })
})
