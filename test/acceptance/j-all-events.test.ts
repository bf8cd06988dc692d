import { afterEach, describe, expect, it } from 'vitest'
import {
  ConfigMap,
  addFinalizer,
  again,
  defineReconciler,
  done,
  generationChanged,
  owned,
  removeFinalizer,
  retryAfter,
  stop,
  workflow,
  type AllEventsOptions,
  type Context,
  type Outcome,
  type StatusOf,
} from '../../shared/index.ts'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, createTestVault, type TestEnv, type TestEnvOptions } from '../../shared/testing/test-env.ts'
import { longOnly } from '../support/strength.ts'
import { Part, Widget, writesDuring, writesOf } from './support/primary.ts'

/**
 * triggerReconcilerOnAllEvents, in our words: `onRemoved: 'reconcile'`. What is left of a removed object is kept in the
 * store, for as long as it takes, until a run that knew of the removal says `done()`.
 */

let env: TestEnv
afterEach(() => env.close())

interface RunRecord {
  readonly size: number
  readonly removed: boolean
  readonly deleting: boolean
  readonly atMs: number
  readonly attempt: number
}

type Run = (widget: Widget, ctx: Context) => Promise<Outcome<StatusOf<Widget>>>

function allEvents(runs: RunRecord[], run: Run = async () => done(), options: Partial<AllEventsOptions<Widget>> = {}) {
  return defineReconciler(Widget, {
    ...options,
    grants: [{ kind: Part, access: 'write' }],
    onRemoved: 'reconcile',
    reconcile: async (widget, ctx) => {
      const deleting = widget.metadata.deletionTimestamp !== undefined
      runs.push({ size: widget.spec.size, removed: ctx.removed, deleting, atMs: ctx.now(), attempt: ctx.attempt })
      return run(widget, ctx)
    },
  })
}

async function start(controller: ReturnType<typeof allEvents>, size = 1, on: TestEnvOptions = {}): Promise<void> {
  env = await createTestEnv({ kinds: [Part], reconcilers: [controller], ...on })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: { size } })
  await env.settle()
}

const remove = async () => {
  await env.delete(Widget, 'w')
  await env.settle()
}
const lastRuns = (runs: readonly RunRecord[]) => runs.filter(({ removed }) => removed)
const isTooLarge = (error: unknown): boolean => {
  if ((error as { readonly code?: string }).code !== 'TOO_LARGE') throw error
  return true
}
/** What is left of removed objects. */
const recordWrites = () =>
  env.calls.filter(({ call, args }) => call.startsWith('store.') && JSON.stringify(args[0]).includes('"removed"'))

/** A last run takes eight seconds, and does not heed that its time is over. */
const dawdle: Run = async (_, ctx) => {
  const untilMs = env.nowMs() + 8_000
  while (ctx.removed && env.nowMs() < untilMs) await new Promise((resolve) => setTimeout(resolve, 1))
  return done()
}

describe('the last run', () => {
  it('J29 comes when the object is gone, with its last state, and says so', async () => {
    const runs: RunRecord[] = []
    const there: boolean[] = []
    await start(
      allEvents(runs, async (_, ctx) => {
        there.push((await ctx.get(Widget, 'w')) !== undefined)
        return done({ status: { phase: 'Made' } })
      }),
    )
    await env.patch(Widget, 'w', { spec: { size: 7 } })
    await env.settle()
    await remove()
    expect(runs.map(({ size, removed }) => [size, removed])).toEqual([
      [1, false],
      [7, false],
      [7, true],
    ])
    expect(there).toEqual([true, true, false])
    expect(await env.get(Widget, 'w')).toBeUndefined()
  })

  it('J29 comes though the process ends at any moment of the removal', async () => {
    const moments = ['store.remove', 'store.create', 'queue:widget.send', 'store.get', 'queue:widget.settle']
    for (const call of moments) {
      const runs: RunRecord[] = []
      await start(allEvents(runs), 5)
      let isKilled = false
      env.faults.once(call, { kind: 'crash' }, () => (isKilled = true))
      void env.delete(Widget, 'w').catch(() => {})
      await env.settle()
      await env.delete(Widget, 'w').catch(() => {})
      await env.advance('1m')
      const sizes = [...new Set(lastRuns(runs).map(({ size }) => size))]
      expect({ call, isKilled, sizes }).toEqual({ call, isKilled: true, sizes: [5] })
      await env.close()
    }
    env = await createTestEnv()
  })

  it('J29 comes for an object that is as large as may be, and keeps no other change waiting', async () => {
    const seen: string[] = []
    const maps = defineReconciler(ConfigMap, {
      onRemoved: 'reconcile',
      reconcile: async ({ metadata, data }, ctx) => {
        seen.push(`${metadata.name} ${data?.['text']?.length ?? 0}${ctx.removed ? ' removed' : ''}`)
        return done()
      },
    })
    env = await createTestEnv({ reconcilers: [maps] })
    const make = (length: number) =>
      env.apply(ConfigMap, { metadata: { name: 'full' }, data: { text: 'x'.repeat(length) } })
    let length = 350 * 1_024
    while (await make(length).then(() => false, isTooLarge)) length -= 20
    await env.settle()
    await env.delete(ConfigMap, 'full')
    await env.apply(ConfigMap, { metadata: { name: 'other' }, data: {} })
    await env.settle()
    expect(seen.toSorted()).toEqual([`full ${length}`, `full ${length} removed`, 'other 0'])
  })

  it('J29 waits for no hold that the object has left', async () => {
    const runs: RunRecord[] = []
    await start(allEvents(runs, async (_, { removed }) => (removed ? done() : again('30s'))))
    await env.advance('1s')
    await remove()
    expect(lastRuns(runs).map(({ atMs }) => atMs)).toEqual([env.nowMs()])
  })

  it('J29 never overlaps with a run that the object still had', async () => {
    const spans: { readonly fromMs: number; readonly toMs: number }[] = []
    await start(
      allEvents([], async (_, ctx) => {
        const fromMs = ctx.now()
        await ctx.sleep('5s')
        spans.push({ fromMs, toMs: ctx.now() })
        return done()
      }),
    )
    await remove()
    await env.advance('1m')
    expect(spans).toHaveLength(2)
    expect(spans[1]?.fromMs).toBe(spans[0]?.toMs)
  })

  it('J29 can own nothing, and may write what is not owned', async () => {
    const refusals: unknown[] = []
    await start(
      allEvents([], async (_, ctx) => {
        if (!ctx.removed) return done()
        const part = { metadata: { name: 'p' }, spec: {} }
        for (const verb of ['apply', 'create'] as const)
          refusals.push(await ctx[verb](Part, part).catch((error: unknown) => error))
        await ctx.apply(Part, part, { owned: false })
        return done()
      }),
    )
    await remove()
    expect(refusals).toMatchObject([{ code: 'BAD_REQUEST' }, { code: 'BAD_REQUEST' }])
    expect((await env.get(Part, 'p'))?.metadata.ownerReferences).toBeUndefined()
  })

  it('J29 takes away what the runs before have written and kept outside, and tells of the object', async () => {
    const vault = createTestVault()
    const target = { secretsManager: { name: 'app/default/w' } }
    const options = { vault: { writes: [{ secretsManager: 'app/{namespace}/' }] } }
    const run: Run = async (_, ctx) => {
      await ctx.apply(Part, { metadata: { name: 'p' }, spec: ctx.removed ? {} : { of: 'w' } }, { owned: false })
      if (!ctx.removed) await ctx.outside.keepSecret(target, { password: 'pw' })
      else await ctx.outside.removeSecret(target)
      if (ctx.removed) await ctx.outside.recordDrift('it was open')
      return done()
    }
    await start(allEvents([], run, options), 1, { vault })
    expect([(await env.get(Part, 'p'))?.spec, vault.texts.size]).toEqual([{ of: 'w' }, 1])
    const { uid } = (await env.get(Widget, 'w'))?.metadata ?? {}
    await remove()
    expect([(await env.get(Part, 'p'))?.spec, vault.texts.size]).toEqual([{}, 0])
    expect(await env.page('/api/v1/events')).toMatch(
      new RegExp(`"kind":"Widget"[^}]*"uid":"${uid}"[^}]*}[^}]*it was open`),
    )
  })

  it('J29 comes for each object of the same name, before the next one runs', async () => {
    const runs: string[] = []
    await start(
      allEvents([], async ({ metadata }, ctx) => {
        runs.push(`${metadata.annotations?.['is']} ${ctx.removed ? 'removed' : 'present'}`)
        return done()
      }),
    )
    runs.length = 0
    for (const is of ['first', 'second']) {
      await env.patch(Widget, 'w', { metadata: { annotations: { is } } })
      await env.delete(Widget, 'w')
      await env.apply(Widget, { metadata: { name: 'w', annotations: { is: 'next' } }, spec: {} })
    }
    await env.settle()
    expect(runs).toContain('first removed')
    expect(runs).toContain('second removed')
    expect(runs.at(-1)).toBe('next present')
  })

  it('J29 comes to an end for each of many, though all together take longer than a run may', async () => {
    const seenOff: string[] = []
    const see: Run = async ({ metadata }, ctx) => {
      if (!ctx.removed) return done()
      await ctx.sleep('4s')
      seenOff.push(metadata.annotations?.['is'] ?? '')
      return done()
    }
    await start(allEvents([], see, { timeout: '10s' }))
    const names = ['1', '2', '3', '4', '5', '6']
    for (const is of names) {
      await env.patch(Widget, 'w', { metadata: { annotations: { is } } })
      await env.delete(Widget, 'w')
      await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    }
    await env.advance('10m')
    expect([...new Set(seenOff)]).toEqual(names)
    expect(seenOff.length).toBeLessThan(2 * names.length)
    expect((await env.get(Widget, 'w'))?.status).toMatchObject({ observedGeneration: 1 })
  })

  it('J29 is not begun for the next one when the time of its run is over', longOnly, async () => {
    const begunLate: boolean[] = []
    const noteAndDawdle: Run = (widget, ctx) => {
      if (ctx.removed) begunLate.push(ctx.signal.aborted)
      return dawdle(widget, ctx)
    }
    await start(allEvents([], noteAndDawdle, { timeout: '5s' }))
    await env.delete(Widget, 'w')
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
    await env.delete(Widget, 'w')
    // On AWS the message of a run that goes on after its time comes again after its visibility timeout.
    for (let i = 0; i < 90; i++) await env.advance('2s')
    expect(begunLate.length).toBeGreaterThan(1)
    expect(begunLate).not.toContain(true)
  })

  it(
    'J29 keeps no next object of the name from running, though it always takes too long and goes on after its time',
    longOnly,
    async () => {
      const runs: RunRecord[] = []
      await start(allEvents(runs, dawdle, { timeout: '5s' }))
      await env.delete(Widget, 'w')
      await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
      for (let i = 0; i < 60; i++) await env.advance('2s')
      expect(runs.filter(({ removed }) => !removed).map(({ size }) => size)).toEqual([1, 2])
      await env.advance('10m')
      expect(lastRuns(runs).length).toBeGreaterThan(1)
    },
  )
})

describe('after the removal', () => {
  it(
    'J30 the next object of the name runs, though the process ends while a last run goes on after its time',
    longOnly,
    async () => {
      const runs: RunRecord[] = []
      await start(allEvents(runs, dawdle, { timeout: '5s' }))
      await env.delete(Widget, 'w')
      await env.advance('1s')
      for (const size of [2, 3]) {
        if (size === 3) await env.delete(Widget, 'w')
        await env.apply(Widget, { metadata: { name: 'w' }, spec: { size } })
      }
      // The second of the last runs takes what the new object sent with it. Its time is over, and progress saved.
      for (let i = 0; i < 14; i++) await env.advance('1s')
      expect(lastRuns(runs)).toHaveLength(2)
      await env.crash()
      for (let i = 0; i < 60; i++) await env.advance('2s')
      expect(runs.some(({ size, removed }) => size === 3 && !removed)).toBe(true)
    },
  )

  it('J30 a failure is retried with backoff, and a restart forgets nothing', async () => {
    const runs: RunRecord[] = []
    await start(
      allEvents(runs, async (_, ctx) => {
        if (ctx.removed && lastRuns(runs).length < 6) throw new Error('no luck')
        return done()
      }),
    )
    await remove()
    await env.advance('10s')
    await env.crash()
    await env.advance('1m')
    const last = lastRuns(runs)
    expect(last.map(({ attempt }) => attempt)).toEqual([0, 1, 2, 3, 4, 5])
    const waits = last.slice(1).map(({ atMs }, i) => atMs - (last[i]?.atMs ?? 0))
    for (const [i, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(1_000 * 2 ** Math.max(0, i - 1))
  })

  it('J30 one that returns nothing is a failure that says so', async () => {
    await start(allEvents([], async (_, ctx) => (ctx.removed ? (undefined as unknown as Outcome<never>) : done())))
    await remove()
    expect(JSON.stringify(env.logs)).toContain('a reconciler returns done(…) or again(…), or throws')
  })

  const waits: readonly { readonly how: string; readonly end: () => Outcome<never>; readonly waitMs: number }[] = [
    { how: 'again', end: () => again('30s'), waitMs: 30_000 },
    { how: 'again, longer than a message is held', end: () => again('5m'), waitMs: 300_000 },
    {
      how: 'retryAfter',
      end: () => {
        throw retryAfter('15s', 'busy')
      },
      waitMs: 15_000,
    },
  ]
  it.each(waits)('J30 $how is kept to, over a restart', async ({ end, waitMs }) => {
    const runs: RunRecord[] = []
    await start(allEvents(runs, async (_, ctx) => (ctx.removed && lastRuns(runs).length < 2 ? end() : done())))
    await remove()
    await env.advance('6s')
    await env.crash()
    await env.advance('10m')
    const [first, second] = lastRuns(runs)
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBe(waitMs)
    expect(lastRuns(runs)).toHaveLength(2)
  })

  it.each([
    ['SQLite', {}],
    ['DynamoDB', { engine: awsEngine }],
  ])('J30 a short wait is kept to on %s, though it comes more often than a message is held', async (_engine, on) => {
    const runs: RunRecord[] = []
    const tenTimes: Run = async (_, ctx) => (ctx.removed && lastRuns(runs).length < 10 ? again('2s') : done())
    await start(allEvents(runs, tenTimes), 1, on)
    await remove()
    await env.advance('1m')
    const last = lastRuns(runs).map(({ atMs }) => atMs)
    expect(last.slice(1).map((atMs, i) => atMs - (last[i] ?? 0))).toEqual(Array.from({ length: 9 }, () => 2_000))
  })

  it('J30 a rate limit postpones it, and drops nothing', async () => {
    const runs: RunRecord[] = []
    const again4: Run = async (_, ctx) => (ctx.removed && lastRuns(runs).length < 4 ? again(0) : done())
    await start(allEvents(runs, again4, { rateLimit: { object: { runs: 1, within: '10s' } } }))
    await env.advance('10s')
    await remove()
    await env.advance('15s')
    await env.crash()
    await env.advance('1m')
    const [first = 0, ...others] = lastRuns(runs).map(({ atMs }) => atMs)
    expect(others.map((atMs) => atMs - first)).toEqual([10_000, 20_000, 30_000])
  })

  it('J30 it is longer than an hour, if need be', async () => {
    const runs: RunRecord[] = []
    const threeTimes: Run = async (_, ctx) => (ctx.removed && lastRuns(runs).length < 3 ? again('2h') : done())
    await start(allEvents(runs, threeTimes), 1, { tickMs: 60_000 })
    await remove()
    await env.advance('3h')
    await env.crash()
    await env.advance('2h')
    expect(lastRuns(runs)).toHaveLength(3)
  })

  it('J30 an event that the filters let through runs it ahead of its backoff, and costs no attempt', async () => {
    const runs: RunRecord[] = []
    let fails = true
    await start(
      allEvents(
        runs,
        async ({ metadata }, ctx) => {
          if (!ctx.removed) await ctx.apply(Part, { metadata: { name: `${metadata.name}-p` }, spec: {} })
          if (ctx.removed && fails) throw new Error('no luck')
          return done()
        },
        { owns: [owned(Part, { when: generationChanged })] },
      ),
    )
    await env.patch(Part, 'w-p', { metadata: { finalizers: ['example.dev/slow'] } })
    await remove()
    const before = lastRuns(runs).length
    await env.patch(Part, 'w-p', { status: { done: true } }, { subresource: 'status' })
    await env.settle()
    expect(lastRuns(runs)).toHaveLength(before)
    await env.patch(Part, 'w-p', { spec: { of: 'nobody' } })
    await env.settle()
    expect(lastRuns(runs)).toHaveLength(before + 1)
    expect(lastRuns(runs).at(-1)?.attempt).toBe(1)
    fails = false
    await env.advance('1m')
    expect(lastRuns(runs).at(-1)?.attempt).toBe(1)
  })

  it('J30 a new object of the same name does not wait for the old one', async () => {
    const runs: RunRecord[] = []
    await start(
      allEvents(runs, async (_, ctx) => {
        if (ctx.removed) throw new Error('no luck, ever')
        return done()
      }),
    )
    await remove()
    await env.advance('10s')
    await env.apply(Widget, { metadata: { name: 'w' }, spec: { size: 2 } })
    await env.settle()
    expect(runs.at(-1)).toMatchObject({ size: 2, removed: false, atMs: env.nowMs() })
    const before = lastRuns(runs).length
    await env.advance('30m')
    expect(lastRuns(runs).length).toBeGreaterThan(before)
    expect(lastRuns(runs).every(({ size }) => size === 1)).toBe(true)
  })

  it('J31 the last state is dropped after a run that succeeds and asks for no other, not before', async () => {
    const runs: RunRecord[] = []
    const ends = [
      () => Promise.reject(new Error('no luck')),
      () => Promise.resolve(again('10s')),
      () => Promise.resolve(done()),
    ]
    const inTurn: Run = async (_, ctx) => (ctx.removed ? (ends[lastRuns(runs).length - 1]?.() ?? done()) : done())
    await start(allEvents(runs, inTurn), 1, { tickMs: 60_000 })
    await remove()
    await env.advance('5s')
    expect(recordWrites().map(({ call }) => call)).not.toContain('store.remove')
    await env.advance('1m')
    expect(recordWrites().at(-1)?.call).toBe('store.remove')
    expect(lastRuns(runs)).toHaveLength(3)
    await env.crash()
    await env.advance('11h')
    expect(lastRuns(runs)).toHaveLength(3)
  })

  it('J31 a stopped one is kept, and runs again with the resync, or when there is an object of its name again', async () => {
    const runs: RunRecord[] = []
    let isStopped = true
    const stopping: Run = async (_, ctx) => {
      if (ctx.removed && isStopped) throw stop('Broken', 'nothing helps')
      return done()
    }
    await start(allEvents(runs, stopping), 1, { tickMs: 60_000 })
    await remove()
    await env.advance('10s')
    expect(lastRuns(runs)).toHaveLength(1)
    await env.advance('10h')
    expect(lastRuns(runs)).toHaveLength(2)
    isStopped = false
    await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
    await env.settle()
    expect(lastRuns(runs)).toHaveLength(3)
    expect(recordWrites().at(-1)?.call).toBe('store.remove')
  })
})

describe('the definition', () => {
  const reconcile = async () => done()
  const cleanup = async () => done()
  const nodes = workflow(Widget, { part: { kind: Part, desired: () => ({ metadata: { name: 'p' }, spec: {} }) } })

  it('J32 is refused with a clean-up', () => {
    // @ts-expect-error -- who sees everything manages finalizers itself
    expect(() => defineReconciler(Widget, { onRemoved: 'reconcile', reconcile, cleanup })).toThrow(TypeError)
  })

  it('J32 is refused with managed dependents', () => {
    // @ts-expect-error -- a workflow's clean-up holds a finalizer
    expect(() => defineReconciler(Widget, { ...nodes, onRemoved: 'reconcile' })).toThrow(TypeError)
  })

  it("J32 is refused with a finalizer of the engine's", () => {
    // @ts-expect-error -- without cleanup nobody would remove it
    expect(() => defineReconciler(Widget, { onRemoved: 'reconcile', reconcile, finalizer: 'a.dev/b' })).toThrow(
      TypeError,
    )
  })
})

describe('finalizers by hand', () => {
  const finalizer = 'example.dev/outside'
  const held = (object: Widget) => ({ kind: Widget, object, finalizer })

  it('J33 adding one again, and removing what is not there, writes nothing', async () => {
    let act: (widget: Widget, ctx: Context) => Promise<void> = async () => {}
    await start(
      allEvents([], async (widget, ctx) => {
        await act(widget, ctx)
        return done()
      }),
    )
    const touch = (value: string) => env.patch(Widget, 'w', { metadata: { labels: { at: value } } })
    const finalizers = async () => (await env.get(Widget, 'w'))?.metadata.finalizers ?? []
    const writes = async (value: string) => (await writesDuring(env, 'w', () => touch(value))).length

    act = async (widget, ctx) => {
      await addFinalizer(ctx, held(widget))
      await addFinalizer(ctx, held(widget))
    }
    await writes('a')
    expect(await finalizers()).toEqual([finalizer])
    expect(await writes('b')).toBe(1)

    act = async (widget, ctx) => {
      await removeFinalizer(ctx, held(widget))
      await removeFinalizer(ctx, held(widget))
    }
    await writes('c')
    expect(await finalizers()).toEqual([])
    expect(await writes('d')).toBe(1)
  })

  it('J33 none is added to an object that is being deleted, and those of others stay', async () => {
    const runs: RunRecord[] = []
    await start(
      allEvents(runs, async (widget, ctx) => {
        await addFinalizer(ctx, held(widget))
        return done()
      }),
    )
    await env.patch(Widget, 'w', { metadata: { finalizers: ['example.dev/other'] } })
    await env.settle()
    expect((await env.get(Widget, 'w'))?.metadata.finalizers).toEqual(['example.dev/other', finalizer])
    await env.delete(Widget, 'w')
    await env.patch(Widget, 'w', { metadata: { finalizers: ['example.dev/other'] } })
    await env.settle()
    expect((await env.get(Widget, 'w'))?.metadata.finalizers).toEqual(['example.dev/other'])
    expect(runs.at(-1)).toMatchObject({ deleting: true, removed: false })
  })

  it('J33 two writers at once lose neither', async () => {
    await start(
      allEvents([], async (widget, ctx) => {
        await Promise.all([
          addFinalizer(ctx, held(widget)),
          addFinalizer(ctx, { ...held(widget), finalizer: 'example.dev/second' }),
        ])
        return done()
      }),
    )
    expect([...((await env.get(Widget, 'w'))?.metadata.finalizers ?? [])].sort()).toEqual([
      finalizer,
      'example.dev/second',
    ])
  })

  /** Only blue widgets have something outside, which must go before they do. */
  const selective =
    (outside: Set<string>): Run =>
    async (widget, ctx) => {
      const { uid, deletionTimestamp } = widget.metadata
      if (ctx.removed) return done()
      if (deletionTimestamp !== undefined) {
        outside.delete(uid)
        await removeFinalizer(ctx, held(widget))
      } else if (widget.spec.color === 'blue') {
        await addFinalizer(ctx, held(widget))
        outside.add(uid)
      }
      return done()
    }

  it('J34 some objects have one and are cleaned up, others have none and go at once', async () => {
    const outside = new Set<string>()
    const runs: RunRecord[] = []
    await start(allEvents(runs, selective(outside)))
    await env.apply(Widget, { metadata: { name: 'blue' }, spec: { color: 'blue', size: 2 } })
    await env.settle()
    expect(outside.size).toBe(1)
    expect((await env.get(Widget, 'blue'))?.metadata.finalizers).toEqual([finalizer])
    expect((await env.get(Widget, 'w'))?.metadata).not.toHaveProperty('finalizers')

    expect(await env.delete(Widget, 'w')).toMatchObject({ gone: true })
    expect(await env.delete(Widget, 'blue')).toMatchObject({ gone: false })
    await env.settle()
    expect(await env.list(Widget)).toEqual([])
    expect(outside.size).toBe(0)
    expect(runs.filter(({ size, deleting }) => size === 2 && deleting).map(({ removed }) => removed)).toEqual([
      false,
      true,
    ])
    expect(writesOf(env, 'Widget', 'blue').filter(({ call }) => call === 'store.remove')).toHaveLength(2)
  })
})
