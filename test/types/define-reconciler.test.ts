import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  addFinalizer,
  again,
  annotationsChanged,
  attempts,
  ConfigMap,
  defineReconciler,
  done,
  expectation,
  mapped,
  matchesLabels,
  modify,
  or,
  owned,
  reference,
  retryAfter,
  Secret,
  stop,
  waiting,
  type ConfigMapObject,
  type Context,
  type Controller,
  type ReconcilerOptions,
  type StatusOf,
  type WriteOutcome,
} from '../../shared/index.ts'
import { Widget, type WidgetObject } from '../acceptance/support/widgets.ts'

/**
 * What the compiler knows of a reconciler, and which combinations it refuses. Nothing here runs but for what is checked
 * at definition too: for who comes without a compiler.
 */

const reconcile = async () => done()
const cleanup = reconcile

/** Never called: its body is for the compiler. */
const compiled = (run: ReconcilerOptions<WidgetObject>['reconcile']): Controller =>
  defineReconciler(Widget, { reconcile: run })

describe('the options of a reconciler', () => {
  it('know the object in each of its functions', () => {
    const controller = defineReconciler(Widget, {
      when: ({ object, type, touched }) => {
        expectTypeOf(object).toEqualTypeOf<WidgetObject>()
        expectTypeOf(type).toEqualTypeOf<'added' | 'modified' | 'removed'>()
        return touched.includes('spec')
      },
      owns: [ConfigMap, owned(Secret, { when: ({ object }) => object.data !== undefined })],
      watches: [
        reference(ConfigMap, ({ spec }) => spec.partsRef),
        reference(Secret, ({ spec }) => [{ name: String(spec.size), namespace: 'other' }]),
        mapped(ConfigMap, ({ data }) => ({ name: data?.['for'] ?? '' })),
      ],
      resync: '1h30m',
      rateLimit: { object: { runs: 2, within: '3s' }, controller: { perSecond: 5 } },
      deletionPolicy: 'Retain',
      async reconcile(widget, ctx) {
        expectTypeOf(widget).toEqualTypeOf<WidgetObject>()
        expectTypeOf(ctx).toEqualTypeOf<Context>()
        return done({ status: { size: widget.spec.size } })
      },
      async cleanup(widget) {
        expectTypeOf(widget).toEqualTypeOf<WidgetObject>()
        return again('10s')
      },
    })
    expectTypeOf(controller).toEqualTypeOf<Controller>()
    expect(controller.deletionPolicy).toBe('Retain')
  })

  it('take predicates for any kind', () => {
    const when = or(annotationsChanged, matchesLabels('app=web'))
    expect(defineReconciler(Widget, { when, owns: [owned(ConfigMap, { when })], reconcile }).owns).toHaveLength(1)
  })

  it('refuse what cannot stand together', () => {
    // @ts-expect-error -- a finalizer without a clean-up is never taken away
    expect(() => defineReconciler(Widget, { finalizer: 'example.com/x', reconcile })).toThrow(TypeError)
    // @ts-expect-error -- a policy without a clean-up decides nothing
    expect(() => defineReconciler(Widget, { deletionPolicy: 'Delete', reconcile })).toThrow(TypeError)
    // @ts-expect-error -- who sees everything has its finalizers by hand
    expect(() => defineReconciler(Widget, { onRemoved: 'reconcile', reconcile, cleanup })).toThrow(TypeError)
  })

  it('refuse what there is not', () => {
    // @ts-expect-error -- a misspelt option
    expect(() => defineReconciler(Widget, { concurency: 3, reconcile })).toThrow('concurrency is probably meant')
    // @ts-expect-error -- a reconciler reconciles
    expect(() => defineReconciler(Widget, { resync: '1m' })).toThrow(TypeError)
    // @ts-expect-error -- a policy is Delete or Retain
    expect(() => defineReconciler(Widget, { deletionPolicy: 'Orphan', reconcile, cleanup })).toThrow('Delete or Retain')
    // @ts-expect-error -- a limit is within a time
    expect(() => defineReconciler(Widget, { rateLimit: { object: { runs: 1 } }, reconcile })).toThrow(TypeError)
    // @ts-expect-error -- the widget has no such field
    defineReconciler(Widget, { watches: [reference(ConfigMap, ({ spec }) => spec.settingsRef)], reconcile })
    // @ts-expect-error -- a reference has a name
    defineReconciler(Widget, { watches: [reference(ConfigMap, () => ({ namespace: 'x' }))], reconcile })
    // @ts-expect-error -- the ConfigMap has no such field
    defineReconciler(Widget, { watches: [mapped(ConfigMap, ({ spec }) => spec)], reconcile })
    // @ts-expect-error -- the widget has no such field
    defineReconciler(Widget, { when: ({ object }) => object.spec.colour === 'red', reconcile })
    expect(true).toBe(true)
  })
})

describe('an outcome', () => {
  it('holds a status of the kind, and no other', () => {
    compiled(async () => done({ status: { size: 1, seen: 'x' } }))
    compiled(async ({ spec }) =>
      spec.size > 1 ? again('1s', { status: { seen: 'x' } }) : done({ status: { size: 1 } }),
    )
    // @ts-expect-error -- no such field, though the others are right
    compiled(async () => done({ status: { size: 1, colour: 'red' } }))
    // @ts-expect-error -- no such field
    compiled(async () => again('1s', { status: { size: 1, colour: 'red' } }))
    // @ts-expect-error -- a size is a number
    compiled(async () => done({ status: { size: 'large' } }))
    // @ts-expect-error -- conditions have a place of their own
    compiled(async () => done({ status: { conditions: [] } }))
    // @ts-expect-error -- the engine writes it
    compiled(async () => done({ status: { observedGeneration: 3 } }))
    expectTypeOf<keyof StatusOf<WidgetObject>>().toEqualTypeOf<'size' | 'seen'>()
    expect(done({}).kind).toBe('done')
  })

  it('says whether it is ready, and why not', () => {
    compiled(async () => done({ ready: waiting('PartMissing', 'the part is not there') }))
    // @ts-expect-error -- not ready has a reason
    compiled(async () => done({ ready: false }))
    // @ts-expect-error -- and a message
    expect(() => waiting('PartMissing')).not.toThrow()
    // @ts-expect-error -- True, False or Unknown
    compiled(async () => done({ conditions: { Moved: { status: 'Maybe', reason: 'X' } } }))
    // @ts-expect-error -- a reason is owed
    compiled(async () => done({ conditions: { Moved: { status: 'True' } } }))
  })

  it('is one of two, or thrown', () => {
    // @ts-expect-error -- thrown, not returned
    compiled(async () => stop('NameTaken', 'it is taken'))
    // @ts-expect-error -- thrown, not returned
    compiled(async () => retryAfter('1s', 'busy'))
    // @ts-expect-error -- something is to be said
    compiled(async () => {})
    // @ts-expect-error -- `again` says when
    expect(() => again()).toThrow('not a duration')
    compiled(async () => {
      throw stop('NameTaken', 'it is taken')
    })
  })

  it('of what stands around a run has the same types', () => {
    compiled(
      attempts<WidgetObject, StatusOf<WidgetObject>>({ max: 3 }, async (widget, ctx) => {
        expectTypeOf(ctx.isLastAttempt).toEqualTypeOf<boolean>()
        return done({ status: { size: widget.spec.size } })
      }),
    )
    const seen = expectation<WidgetObject>('Seen', { within: '1m', met: ({ status }) => status?.seen !== undefined })
    expectTypeOf<Awaited<ReturnType<typeof seen.check>>>().toEqualTypeOf<'met' | 'ongoing' | 'timedOut' | undefined>()
    // @ts-expect-error -- the widget has no such field
    expectation<WidgetObject>('Seen', { within: '1m', met: ({ status }) => status?.heard })
  })
})

describe('the context', () => {
  it('gives objects of the kind that is asked for', () => {
    compiled(async (widget, ctx) => {
      expectTypeOf(await ctx.get(ConfigMap, 'x')).toEqualTypeOf<ConfigMapObject | undefined>()
      expectTypeOf(await ctx.list(Widget)).toEqualTypeOf<readonly WidgetObject[]>()
      const applied = await ctx.apply(Widget, { metadata: { name: 'x' }, spec: {} })
      expectTypeOf(applied.spec.size).toEqualTypeOf<number>()
      expectTypeOf(ctx.outcomeOf(applied)).toEqualTypeOf<WriteOutcome | undefined>()
      expectTypeOf(await ctx.once('key', async () => Number('5'))).toEqualTypeOf<number>()
      await addFinalizer(ctx, { kind: Widget, object: widget, finalizer: 'example.com/x' })
      await modify(ctx, { kind: Widget, at: 'x', change: ({ spec }) => ({ spec: { size: spec.size + 1 } }) })
      return done()
    })
    expectTypeOf<Context>().toHaveProperty('signal').toEqualTypeOf<AbortSignal>()
    expect(true).toBe(true)
  })

  it('refuses bodies that the kind has not, and what may not be there', () => {
    compiled(async (_, ctx) => {
      // @ts-expect-error -- a size is a number
      await ctx.apply(Widget, { metadata: { name: 'x' }, spec: { size: 'large' } })
      // @ts-expect-error -- the status has a path of its own
      await ctx.apply(Widget, { metadata: { name: 'x' }, spec: {}, status: { size: 1 } })
      // @ts-expect-error -- what is applied has a name
      await ctx.apply(Widget, { metadata: {}, spec: {} })
      // @ts-expect-error -- uids are given by the store
      await ctx.apply(Widget, { metadata: { name: 'x', uid: 'mine' }, spec: {} })
      // @ts-expect-error -- it may not be there
      ctx.log.info((await ctx.get(ConfigMap, 'x')).metadata.name)
      // @ts-expect-error -- an event is Normal or Warning
      await ctx.event('Error', 'X', 'x')
      return done()
    })
    expect(true).toBe(true)
  })

  it('does not say what woke the run', () => {
    expectTypeOf<Context>().not.toHaveProperty('reasons')
    expectTypeOf<Context>().not.toHaveProperty('trigger')
    expectTypeOf<Parameters<Controller['reconcile']>['length']>().toEqualTypeOf<2>()
    expect(defineReconciler(Widget, { reconcile }).reconcile).toHaveLength(0)
  })
})
