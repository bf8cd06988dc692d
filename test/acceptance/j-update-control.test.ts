import { afterEach, describe, expect, it } from 'vitest'
import { again, defineReconciler, done, type Context, type Outcome, type StatusOf } from '../../shared/index.ts'
import { OperatingError } from '../../shared/model/errors.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { watchWidgets, Widget, writesDuring, writesOf } from './support/primary.ts'

/**
 * UpdateControl, in our words: `done()` is noUpdate; `done({ status })` is patchStatus; `ctx.patch` and `ctx.apply` on
 * the object itself are patchResource, and come before the status because the run does them; `again` is any of them
 * with a time.
 */

let env: TestEnv
afterEach(() => env.close())

type Run = (widget: Widget, ctx: Context) => Promise<Outcome<StatusOf<Widget>>>

async function start(reconcile: Run): Promise<void> {
  env = await createTestEnv({ tickMs: 60_000, reconcilers: [defineReconciler(Widget, { reconcile })] })
}

const create = (size = 1) => env.apply(Widget, { metadata: { name: 'w' }, spec: { size } })
const widgetOf = async () => (await env.get(Widget, 'w')) as Widget
let touches = 0
const touch = () => env.patch(Widget, 'w', { metadata: { annotations: { touched: String(++touches) } } })

const conflict = { kind: 'error', error: new OperatingError('VERSION_CONFLICT', 'another write came first') } as const
const away = { kind: 'error', error: new OperatingError('UNAVAILABLE', 'the store is away') } as const

/** A write that the engine makes at the end of a run. */
const ofStatus = ([, touched]: readonly unknown[]): boolean => (touched as readonly string[]).includes('status')

describe('noUpdate', () => {
  it('J6 a run that has nothing to say writes nothing', async () => {
    let runs = 0
    await start(async () => {
      runs++
      return done()
    })
    await create()
    await env.settle()
    const [ofTheTouch, ...ofTheRun] = await writesDuring(env, 'w', touch)
    expect(runs).toBe(2)
    expect(ofTheTouch?.touched).toContain('annotations')
    expect(ofTheRun).toEqual([])
  })
})

describe('patchStatus', () => {
  it('J7 the status that a run reports is written, in one write that leaves all else', async () => {
    await start(async (widget) => done({ status: { size: widget.spec.size } }))
    await create(3)
    await env.settle()
    expect(writesOf(env, 'Widget', 'w')).toEqual([
      { call: 'store.create', touched: [] },
      { call: 'store.replace', touched: ['status', 'engine'] },
    ])
    expect(await widgetOf()).toMatchObject({ metadata: { generation: 1 }, spec: { size: 3 }, status: { size: 3 } })
  })

  it('J11 a status that is equal is not written', async () => {
    let runs = 0
    await start(async () => {
      runs++
      return done({ status: { size: 7, phase: 'Made' } })
    })
    await create()
    await env.settle()
    expect(await widgetOf()).toMatchObject({ status: { size: 7, phase: 'Made' } })
    expect(await writesDuring(env, 'w', touch)).toHaveLength(1)
    expect(await writesDuring(env, 'w', () => env.advance('11h'))).toEqual([])
    expect(runs).toBe(3)
  })
})

describe('the fields of the status', () => {
  const says = (status: { readonly phase?: string; readonly message: string }) =>
    env.api({
      method: 'PATCH',
      path: '/apis/test.setpoint.dev/v1/namespaces/default/widgets/w/status',
      query: new URLSearchParams({ fieldManager: 'person', force: 'true' }),
      header: (name) => (name === 'content-type' ? 'application/apply-patch+yaml' : undefined),
      fieldsUnder: () => [],
      body: async () =>
        new TextEncoder().encode(
          JSON.stringify({ apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', metadata: { name: 'w' }, status }),
        ),
      signal: new AbortController().signal,
    })

  async function startSaying(first: StatusOf<Widget>): Promise<{ status: StatusOf<Widget> }> {
    const said = { status: first }
    await start(async () => done({ status: said.status }))
    await create()
    await env.settle()
    return said
  }

  it('J12 that a run leaves out are removed, if nobody else owns them', async () => {
    const said = await startSaying({ size: 1, phase: 'Making' })
    said.status = { size: 2 }
    await touch()
    await env.settle()
    const { status } = await widgetOf()
    expect(status).toMatchObject({ size: 2 })
    expect(status).not.toHaveProperty('phase')
  })

  it('J12 that somebody else has applied are kept, while our own come and go', async () => {
    const said = await startSaying({ size: 1, phase: 'Making' })
    expect(await says({ message: 'by hand' })).toMatchObject({ status: 200 })
    said.status = { size: 2 }
    await touch()
    await env.settle()
    const { status } = await widgetOf()
    expect(status).toMatchObject({ size: 2, message: 'by hand', observedGeneration: 1 })
    expect(status).not.toHaveProperty('phase')
  })

  it('J12 that a run says are its own, whoever had them, and go when it says them no more', async () => {
    const said = await startSaying({ size: 1 })
    await says({ phase: 'theirs', message: 'by hand' })
    said.status = { size: 1, phase: 'ours' }
    await touch()
    await env.settle()
    expect((await widgetOf()).status).toMatchObject({ phase: 'ours', message: 'by hand' })
    said.status = { size: 1 }
    await touch()
    await env.settle()
    expect((await widgetOf()).status).not.toHaveProperty('phase')
    expect((await widgetOf()).status).toMatchObject({ message: 'by hand' })
  })

  it('J12 that a run wrote within itself are its own, too', async () => {
    const said = await startSaying({ size: 1 })
    await says({ message: 'by hand' })
    await env.patch(Widget, 'w', { status: { phase: 'Half' } }, { subresource: 'status', manager: 'widget' })
    said.status = { size: 2 }
    await touch()
    await env.settle()
    expect((await widgetOf()).status).toMatchObject({ size: 2, message: 'by hand' })
    expect((await widgetOf()).status).not.toHaveProperty('phase')
  })

  it('J12 that nobody else writes cost no entry in managedFields', async () => {
    await startSaying({ size: 1 })
    const {
      status,
      metadata: { managedFields = [] },
    } = await widgetOf()
    expect(status).toMatchObject({ size: 1 })
    expect(managedFields.filter(({ subresource }) => subresource === 'status')).toEqual([])
  })
})

describe('patchResource', () => {
  it.each([
    { verb: 'ctx.patch', write: (ctx: Context) => ctx.patch(Widget, 'w', { spec: { color: 'blue' } }) },
    {
      verb: 'ctx.apply',
      write: (ctx: Context) => ctx.apply(Widget, { metadata: { name: 'w' }, spec: { color: 'blue' } }),
    },
  ])(
    'J8 $verb writes the object itself: its generation moves, and one more run sees what was written',
    async ({ write }) => {
      const seen: (string | undefined)[] = []
      await start(async (widget, ctx) => {
        seen.push(widget.spec.color)
        await write(ctx)
        return done()
      })
      await create(3)
      await env.settle()
      expect(seen).toEqual([undefined, 'blue'])
      const widget = await widgetOf()
      expect(widget).toMatchObject({ metadata: { generation: 2 }, spec: { size: 3, color: 'blue' } })
      expect(widget).toMatchObject({ status: { observedGeneration: 2 } })
      expect(widget.metadata).not.toHaveProperty('ownerReferences')
    },
  )

  it('J9 of both, the object is written first, then the status, in two writes', async () => {
    // A watch on AWS looks once a second, and tells what was written between as the last of it.
    await start(async (_, ctx) => {
      await ctx.sleep('2s')
      await ctx.patch(Widget, 'w', { metadata: { annotations: { made: 'yes' } } })
      await ctx.sleep('2s')
      return done({ status: { phase: 'Made' } })
    })
    const versions = await watchWidgets(env)
    await create()
    await env.advance('4s')
    await env.advance('5s')
    expect(versions.map(({ metadata, status }) => [metadata.annotations?.['made'], status?.phase])).toEqual([
      [undefined, undefined],
      ['yes', undefined],
      ['yes', 'Made'],
    ])
  })

  it('J9 a failure in between leaves the object written, and the run comes again for the status', async () => {
    let runs = 0
    await start(async (_, ctx) => {
      runs++
      await ctx.patch(Widget, 'w', { metadata: { annotations: { made: 'yes' } } })
      return done({ status: { phase: 'Made' } })
    })
    env.faults.once('store.replace', away, ofStatus)
    await create()
    await env.settle()
    expect(await widgetOf()).toMatchObject({ metadata: { annotations: { made: 'yes' } } })
    await env.advance('2s')
    expect(runs).toBeGreaterThan(1)
    expect(await widgetOf()).toMatchObject({ status: { phase: 'Made' } })
    expect(writesOf(env, 'Widget', 'w').filter(({ touched }) => touched.includes('annotations'))).toHaveLength(1)
  })

  it('J9 a crash in between does no harm either', async () => {
    await start(async (_, ctx) => {
      await ctx.patch(Widget, 'w', { metadata: { annotations: { made: 'yes' } } })
      return done({ status: { phase: 'Made' } })
    })
    env.faults.once('store.replace', { kind: 'crash' }, ofStatus)
    await create()
    await env.settle()
    // On AWS what the process had in hand comes again after its visibility timeout, of four and a half minutes here.
    await env.advance('10m')
    expect(await widgetOf()).toMatchObject({ metadata: { annotations: { made: 'yes' } }, status: { phase: 'Made' } })
  })
})

describe('rescheduleAfter', () => {
  const controls: readonly { readonly control: string; readonly end: Run }[] = [
    { control: 'noUpdate', end: async () => again('10s') },
    { control: 'patchStatus', end: async () => again('10s', { status: { phase: 'Made' } }) },
    {
      control: 'patchResource',
      end: async (_, ctx) => {
        await ctx.patch(Widget, 'w', { metadata: { labels: { made: 'yes' } } })
        return again('10s')
      },
    },
    {
      control: 'patchResourceAndStatus',
      end: async (_, ctx) => {
        await ctx.patch(Widget, 'w', { spec: { color: 'blue' } })
        return again('10s', { status: { phase: 'Made' } })
      },
    },
  ]

  it.each(controls)('J10 $control and again after ten seconds', async ({ end }) => {
    const runsMs: number[] = []
    await start(async (widget, ctx) => {
      runsMs.push(ctx.now())
      return end(widget, ctx)
    })
    await create()
    await env.settle()
    const begunMs = env.nowMs()
    runsMs.length = 0
    await env.advance('35s')
    expect(runsMs.map((ms) => ms - begunMs)).toEqual([10_000, 20_000, 30_000])
  })
})

describe('the finalizer and a patch without it', () => {
  const patches = [
    {
      by: 'ctx.apply',
      patch: (ctx: Context) => ctx.apply(Widget, { metadata: { name: 'w' }, spec: { color: 'blue' } }),
    },
    { by: 'ctx.patch', patch: (ctx: Context) => ctx.patch(Widget, 'w', { metadata: { labels: { a: 'b' } } }) },
  ]

  it.each(patches)('J13 $by in a run leaves the finalizer', async ({ patch }) => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [
        defineReconciler(Widget, {
          reconcile: async (_, ctx) => {
            await patch(ctx)
            return done()
          },
          cleanup: async () => done(),
        }),
      ],
    })
    await create()
    await env.settle()
    expect((await widgetOf()).metadata.finalizers).toEqual(['test.setpoint.dev/widget'])
  })

  it('J13 applying the manifest again leaves the finalizer', async () => {
    env = await createTestEnv({
      tickMs: 60_000,
      reconcilers: [defineReconciler(Widget, { reconcile: async () => done(), cleanup: async () => done() })],
    })
    await create(1)
    await env.settle()
    await create(2)
    await env.settle()
    expect((await widgetOf()).metadata.finalizers).toEqual(['test.setpoint.dev/widget'])
  })
})

describe('direct writes', () => {
  it('J14 a run may write its status by itself, and then end with nothing to say', async () => {
    await start(async (widget, ctx) => {
      await ctx.patch(Widget, 'w', { status: { size: widget.spec.size } }, { subresource: 'status' })
      return done()
    })
    await create(5)
    await env.settle()
    expect(await widgetOf()).toMatchObject({
      metadata: { generation: 1 },
      status: { size: 5, observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] },
    })
    expect(await writesDuring(env, 'w', touch)).toHaveLength(1)
  })

  it('J14 a client that writes the status through the API is heard, and wakes nobody', async () => {
    let runs = 0
    await start(async () => {
      runs++
      return done()
    })
    await create()
    await env.settle()
    await env.patch(Widget, 'w', { status: { message: 'hello' } }, { manager: 'person', subresource: 'status' })
    await env.settle()
    expect(await widgetOf()).toMatchObject({ status: { message: 'hello', observedGeneration: 1 } })
    expect(runs).toBe(1)
  })
})

describe('without server-side apply', () => {
  it('J15 ctx.patch is a merge patch: it owns nothing, and what it leaves out stays', async () => {
    let color: string | undefined = 'blue'
    await start(async (_, ctx) => {
      await ctx.patch(Widget, 'w', { metadata: { annotations: { made: 'yes' } }, ...(color && { spec: { color } }) })
      return done()
    })
    await create()
    await env.settle()
    expect(await widgetOf()).toMatchObject({ spec: { color: 'blue' } })
    color = undefined
    await touch()
    await env.settle()
    const { spec, metadata } = await widgetOf()
    expect(spec).toEqual({ size: 1, color: 'blue' })
    // A merge patch is noted as an update, under a field manager that applies nothing.
    expect(metadata.managedFields?.filter(({ manager }) => manager === 'widget').map((one) => one.operation)).toEqual([
      'Update',
    ])
  })

  it('J15 ctx.apply takes back what it leaves out the next time', async () => {
    let color: string | undefined = 'blue'
    await start(async (_, ctx) => {
      await ctx.apply(Widget, { metadata: { name: 'w' }, spec: { ...(color && { color }) } })
      return done()
    })
    await create()
    await env.settle()
    expect((await widgetOf()).spec).toEqual({ size: 1, color: 'blue' })
    color = undefined
    await touch()
    await env.settle()
    expect((await widgetOf()).spec).toEqual({ size: 1 })
  })

  it('J26 a write that was overtaken is made again on the newest version, ten times at most', async () => {
    let failure: unknown
    await start(async (_, ctx) => {
      failure = await ctx
        .patch(Widget, 'w', { metadata: { annotations: { made: 'yes' } } })
        .catch((error: unknown) => error)
      return done()
    })
    let left = 10
    env.faults.always(
      'store.replace',
      conflict,
      ([, touched]) => (touched as readonly string[]).includes('annotations') && left-- > 0,
    )
    await create()
    await env.settle()
    expect(failure).toMatchObject({ code: 'VERSION_CONFLICT' })
    left = 9
    await env.patch(Widget, 'w', { spec: { size: 2 } })
    await env.settle()
    expect(await widgetOf()).toMatchObject({ metadata: { annotations: { made: 'yes' } } })
  })
})
