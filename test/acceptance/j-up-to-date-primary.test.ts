import { afterEach, describe, expect, it } from 'vitest'
import * as fc from 'fast-check'
import {
  ConfigMap,
  defineReconciler,
  done,
  modify,
  type Context,
  type Outcome,
  type StatusOf,
} from '../../shared/index.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Listener, listeners } from '../../examples/ports/ports.ts'
import { Widget } from './support/primary.ts'
import { share } from '../support/strength.ts'

/**
 * PrimaryUpdateAndCacheUtils, in our words: reads are strong and nothing is cached, so what a run has stored is what
 * the next run reads. `ctx.patch` and `modify` store within a run, `done({ status })` at its end.
 */

let env: TestEnv
afterEach(() => env.close())

type Run = (widget: Widget, ctx: Context) => Promise<Outcome<StatusOf<Widget>>>

async function start(reconcile: Run): Promise<void> {
  env = await createTestEnv({ reconcilers: [defineReconciler(Widget, { reconcile })] })
}

const create = () => env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
const label = (value: string) => env.patch(Widget, 'w', { metadata: { labels: { a: value } } })
const conflict = { kind: 'error', error: new OperatingError('VERSION_CONFLICT', 'another write came first') } as const

/** Writes that touch a part of the object. */
const touching =
  (part: string) =>
  ([, touched]: readonly unknown[]): boolean =>
    (touched as readonly string[]).includes(part)

describe('a value that a run stores', () => {
  const stores: readonly {
    readonly how: string
    readonly store: (ctx: Context, port: number) => Promise<Outcome<StatusOf<Widget>>>
  }[] = [
    { how: 'at its end', store: async (_, port) => done({ status: { port } }) },
    {
      how: 'within it',
      store: async (ctx, port) => {
        await ctx.patch(Widget, 'w', { status: { port } }, { subresource: 'status' })
        return done()
      },
    },
  ]
  const moments = [
    { when: 'before it is stored', delayed: 'store.replace' },
    { when: 'after it is stored, before the turn ends', delayed: 'queue:widget.settle' },
  ]

  it.each(stores.flatMap((store) => moments.map((moment) => ({ ...store, ...moment }))))(
    'J24 $how is there for a run that an event $when brings',
    async ({ store, delayed }) => {
      const seen: (number | undefined)[] = []
      await start(async (widget, ctx) => {
        seen.push(widget.status?.port)
        return widget.status?.port === undefined ? store(ctx, 8_000 + seen.length) : done()
      })
      const isTheRuns = delayed === 'store.replace' ? touching('status') : () => true
      env.faults.once(delayed, { kind: 'delay', ms: 500 }, isTheRuns)
      await create()
      await env.advance('100ms')
      await label('meanwhile')
      await env.advance('1m')
      expect(seen[0]).toBeUndefined()
      expect(seen.length).toBeGreaterThan(1)
      expect(new Set(seen.slice(1))).toEqual(new Set([8_001]))
    },
  )

  it('J24 is there after a crash at the moment after it was stored', async () => {
    const seen: (number | undefined)[] = []
    await start(async (widget) => {
      seen.push(widget.status?.port)
      return done({ status: { port: widget.status?.port ?? 8_000 + seen.length } })
    })
    env.faults.once('queue:widget.settle', { kind: 'crash' })
    await create()
    await env.advance('10m')
    expect(seen).toEqual([undefined, 8_001])
  })

  it('J25 is there in a newer version too, which somebody else wrote meanwhile', async () => {
    const seen: { readonly port: number | undefined; readonly label: string | undefined }[] = []
    await start(async (widget) => {
      seen.push({ port: widget.status?.port, label: widget.metadata.labels?.['a'] })
      return done({ status: { port: widget.status?.port ?? 8_000 } })
    })
    env.faults.once('store.replace', { kind: 'delay', ms: 500 }, touching('status'))
    await create()
    await env.advance('100ms')
    await label('first')
    await label('second')
    await env.advance('1m')
    expect(seen.at(-1)).toEqual({ port: 8_000, label: 'second' })
    expect(seen.filter(({ port }) => port === undefined)).toHaveLength(1)
  })

  it('J27 may be followed by others in the same run, each on top of the one before', async () => {
    await start(async (widget, ctx) => {
      if (widget.status?.port !== undefined) return done()
      const status = { subresource: 'status' } as const
      await ctx.patch(Widget, 'w', { status: { port: 8_000 } }, status)
      await ctx.patch(Widget, 'w', { status: { phase: 'Allocated' } }, status)
      const { port, phase } = (await ctx.get(Widget, 'w'))?.status ?? {}
      return done({ status: { ...(port && { port }), ...(phase && { phase }), message: 'all of it' } })
    })
    await create()
    await env.settle()
    expect((await env.get(Widget, 'w'))?.status).toMatchObject({
      port: 8_000,
      phase: 'Allocated',
      message: 'all of it',
    })
  })
})

describe('a write that was overtaken', () => {
  const increment = (ctx: Context) =>
    modify(ctx, {
      kind: Widget,
      at: 'w',
      change: ({ status }) => ({ status: { size: (status?.size ?? 0) + 1 } }),
      subresource: 'status',
    })

  it('J26 is made again from the newest version, by the function that made it', async () => {
    let incremented = false
    await start(async (_, ctx) => {
      if (incremented) return done()
      env.faults.once('store.replace', { kind: 'delay', ms: 500 }, touching('status'))
      incremented = true
      await increment(ctx)
      return done()
    })
    await create()
    await env.advance('100ms')
    await env.patch(Widget, 'w', { status: { size: 41 } }, { subresource: 'status', manager: 'somebody else' })
    await env.advance('1m')
    expect((await env.get(Widget, 'w'))?.status?.size).toBe(42)
  })

  it.each([
    { conflicts: 9, fails: false, because: 'the tenth try succeeds' },
    { conflicts: 10, fails: true, because: 'ten tries are enough' },
  ])('J26 $conflicts conflicts in a row: $because', async ({ conflicts, fails }) => {
    let failure: unknown
    await start(async (_, ctx) => {
      try {
        await increment(ctx)
      } catch (error) {
        failure = error
      }
      return done()
    })
    let left = conflicts
    env.faults.always('store.replace', conflict, (args) => touching('status')(args) && left-- > 0)
    await create()
    await env.settle()
    if (fails) expect(failure).toMatchObject({ code: 'VERSION_CONFLICT' })
    else expect(failure).toBeUndefined()
    expect((await env.get(Widget, 'w'))?.status?.size).toBe(fails ? undefined : 1)
  })

  it('J26 a patch that says a value, not a change of one, is made again by itself', async () => {
    await start(async (_, ctx) => {
      await ctx.patch(Widget, 'w', { status: { port: 8_000 } }, { subresource: 'status' })
      return done()
    })
    let left = 9
    env.faults.always('store.replace', conflict, (args) => touching('status')(args) && left-- > 0)
    await create()
    await env.settle()
    expect((await env.get(Widget, 'w'))?.status?.port).toBe(8_000)
  })
})

describe('an allocated value', () => {
  type Step = 'label' | 'conflict' | 'lost answer' | 'crash' | 'wait'
  const step = fc.constantFrom<Step>('label', 'conflict', 'lost answer', 'crash', 'wait')
  const lost = { kind: 'unknown', error: new OperatingError('WRITE_UNKNOWN', 'the answer was lost') } as const

  /** The second process was told of the creation with the state that it had by then, and died before it had run. */
  const changeToldWithALaterState = (['lost answer', 'crash', 'conflict', 'crash'] as const).map(
    (one): [Step, number] => [one, 0],
  )

  /** A client waits for ever if the process crashes that it asked: nobody waits for this one. */
  const setLabel = (name: string): void =>
    void env.patch(Listener, name, { metadata: { labels: { at: String(env.calls.length) } } }).catch(() => {})
  const ofARun = (args: readonly unknown[]): boolean => !touching('labels')(args)

  async function act(one: Step, name: string): Promise<void> {
    if (one === 'label') setLabel(name)
    if (one === 'conflict') env.faults.once('store.replace', conflict, ofARun)
    if (one === 'lost answer') env.faults.once('store.replace', lost, ofARun)
    if (one === 'crash') env.faults.once('store.replace', { kind: 'crash' }, ofARun)
    await (one === 'wait' ? env.advance('1s') : env.settle())
  }

  it('J28 is never given twice, nor a second one to the same object, under a storm of triggers and faults', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.nat(4)), { maxLength: 25 }), async (steps) => {
        env = await createTestEnv({ reconcilers: [listeners] })
        const names = ['a', 'b', 'c', 'd', 'e']
        const held = new Map<string, number>()
        const look = async (): Promise<void> => {
          for (const { metadata, status } of await env.list(Listener)) {
            if (status?.port === undefined) continue
            expect(held.get(metadata.name) ?? status.port).toBe(status.port)
            held.set(metadata.name, status.port)
          }
          expect(new Set(held.values()).size).toBe(held.size)
        }
        await env.apply(ConfigMap, { metadata: { name: 'ports' }, data: {} })
        await Promise.all(names.map((name) => env.apply(Listener, { metadata: { name }, spec: {} })))
        for (const [one, i] of steps) {
          await act(one, names[i] ?? 'a')
          await look()
        }
        // On AWS every crash costs a visibility timeout.
        const end = async (): Promise<void> => {
          await look()
          expect(held.size).toBe(names.length)
        }
        await env.eventually(end, '2h')
        await env.close()
      }),
      { numRuns: share(25), examples: [[changeToldWithALaterState]] },
    )
    env = await createTestEnv()
  })
})
