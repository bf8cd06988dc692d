import * as z from 'zod'
import { afterEach, expect, it } from 'vitest'
import {
  again,
  defineKind,
  defineReconciler,
  done,
  stop,
  withReport,
  type Context,
  type Outcome,
  type ObjectOf,
  type StatusOf,
} from '../../shared/index.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { conditionOfWidget, Widget, widgetOf, widgets, type RunRecord, type WidgetStatus } from './support/widgets.ts'

/** Promise 10: an object whose reconciler says what cannot be written says so, and waits like any other that failed. */

let env: TestEnv
afterEach(() => env.close())

async function runsOf(outcome: () => Outcome<WidgetStatus>): Promise<readonly RunRecord[]> {
  const runs: RunRecord[] = []
  env = await createTestEnv({ reconcilers: [widgets(runs, outcome)] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.advance('1m')
  return runs
}

it('a status that is too large stops the object, which says so', async () => {
  const runs = await runsOf(() => done({ status: { seen: 'x'.repeat(400_000) } }))
  expect(await conditionOfWidget(env, 'Stalled')).toMatchObject({
    reason: 'Refused',
    message: expect.stringContaining('the limit is 358400'),
  })
  expect(runs).toHaveLength(1)
  expect(env.logs.filter(({ message }) => message === 'turn not ended')).toEqual([])
})

const circular: Record<string, unknown> = {}
circular['self'] = circular

/** JSON writes some of these as null, some not at all, and some as a string that never equals what it was made of. */
const foreign: readonly (readonly [string, unknown])[] = [
  ['status.seen is NaN', NaN],
  ['status.seen is Infinity', Infinity],
  ['status.seen is -Infinity', -Infinity],
  ['status.seen is of type bigint', 1n],
  ['status.seen is of type function', () => 1],
  ['status.seen is of type symbol', Symbol('s')],
  ['status.seen is of class Date', new Date(0)],
  ['status.seen is of class Map', new Map([['a', 1]])],
  ['status.seen is of class Set', new Set(['a'])],
  ['status.seen is of class Uint8Array', Uint8Array.of(1)],
  ['status.seen is of class URL', new URL('https://example.com')],
  ['status.seen.a[1].b is NaN', { a: [0, { b: NaN }] }],
  ['status.seen[1] is of type undefined', ['a', undefined]],
  ['is nested deeper than 200 levels', circular],
]

it.each(foreign)('one that cannot be stored is a failure that names the path: %s', async (told, seen) => {
  const status = { seen: seen as string }
  const runs = await runsOf(() => again('1s', { status }))
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({
    status: 'False',
    reason: 'ReconcileFailed',
    message: expect.stringContaining(told),
  })
  expect((await widgetOf(env)).status).toMatchObject({
    reconcile: { waiting: 'Backoff', attempt: runs.length, lastError: expect.stringContaining(told) },
  })
  expect((await widgetOf(env)).status).not.toHaveProperty('seen')
})

it('so is a condition', async () => {
  await runsOf(() => done({ conditions: { Fine: { status: 'True', reason: 'Fine', message: NaN as never } } }))
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({
    message: expect.stringMatching(/^(?!.*undefined).*conditions\.Fine\.message is NaN/),
  })
})

it('of a failure that reports such a status, both are told', async () => {
  await runsOf(() => {
    throw withReport(new Error('no luck'), { status: { size: NaN } })
  })
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({
    message: expect.stringMatching(/^no luck; .*status\.size is NaN/),
  })
})

it('a field that is undefined is a field that is not there', async () => {
  await runsOf(() => done({ status: { size: 1, seen: undefined } }))
  const { status } = await widgetOf(env)
  expect([status?.size, 'seen' in (status ?? {})]).toEqual([1, false])
})

it('an object of a class of its own is as good as its fields', async () => {
  class Seen {
    readonly size = 7
  }
  await runsOf(() => done({ status: new Seen() }))
  expect((await widgetOf(env)).status?.size).toBe(7)
})

it.each([
  ['Ready', () => new Error('x'.repeat(400_000))],
  ['Stalled', () => stop('Bad', 'x'.repeat(400_000))],
])('of a long error, %s tells the beginning', async (type, error) => {
  await runsOf(() => {
    throw error()
  })
  const { message = '' } = (await conditionOfWidget(env, type)) ?? {}
  expect(message).toBe(`${'x'.repeat(4_096)}…`)
})

it.each([0.4, 1.5, 100_000.5, '1.0005s'])('again(%s) is a time like any other', async (after) => {
  await runsOf(() => again(after))
  expect((await widgetOf(env)).status).toMatchObject({ reconcile: { waiting: expect.any(String) } })
  expect(env.logs.filter(({ level }) => level === 'error')).toEqual([])
})

it('a time that nobody lives to see is no duration', async () => {
  await runsOf(() => again('9999999999999h'))
  expect(await conditionOfWidget(env, 'Stalled')).toMatchObject({ reason: 'Refused' })
})

it('nor does it count as a resync period of the object', async () => {
  const runs: RunRecord[] = []
  env = await createTestEnv({ reconcilers: [widgets(runs)] })
  const annotations = { 'setpoint.dev/resync': '9999999999999h' }
  await env.apply(Widget, { metadata: { name: 'w', annotations }, spec: {} })
  await env.settle()
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ status: 'True' })
})

it('a status that claims a generation which is yet to come counts for nothing', async () => {
  const runs: RunRecord[] = []
  env = await createTestEnv({
    reconcilers: [
      widgets(runs, ({ spec: { size } }) => {
        if (size === 2) throw new Error('no luck')
        return done({ status: { size } })
      }),
    ],
  })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.settle()
  await env.patch(Widget, 'w', { status: { observedGeneration: 99 } }, { subresource: 'status' })
  await env.patch(Widget, 'w', { spec: { size: 2 } })
  await env.advance('10s')
  expect((await widgetOf(env)).status).toMatchObject({ reconcile: { waiting: 'Backoff' } })
  await env.patch(Widget, 'w', { spec: { size: 3 } })
  await env.settle()
  expect((await widgetOf(env)).status).toMatchObject({ size: 3, observedGeneration: 3 })
})

const Part = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Part',
  spec: z.object({ weight: z.number(), free: z.object({}).meta({ 'x-kubernetes-preserve-unknown-fields': true }) }),
})

const unwritable: readonly (readonly [told: string, spec: unknown])[] = [
  ['spec.weight is NaN', { weight: NaN, free: {} }],
  ['spec.free.at is of class Date', { weight: 1, free: { at: new Date(0) } }],
  ['spec.free.list[0] is of type undefined', { weight: 1, free: { list: [undefined] } }],
]
const verbs: Readonly<Record<string, (ctx: Context, spec: unknown) => Promise<unknown>>> = {
  applied: (ctx, spec) => ctx.apply(Part, { metadata: { name: 'p' }, spec: spec as never }),
  created: (ctx, spec) => ctx.create(Part, { metadata: { name: 'p' }, spec: spec as never }),
  patched: (ctx, spec) => ctx.patch(Part, 'p', { spec: spec as JsonObject }),
}
const written = Object.entries(verbs).flatMap(([how, write]) => unwritable.map((row) => [how, ...row, write] as const))

it.each(written)('nor can a child be %s so: %s', async (_, told, spec, write) => {
  const runs: RunRecord[] = []
  const reconciler = widgets(
    runs,
    async (_widget, ctx) => {
      await write(ctx, spec)
      return done()
    },
    { owns: [Part] },
  )
  env = await createTestEnv({ kinds: [Part], reconcilers: [reconciler] })
  await env.apply(Widget, { metadata: { name: 'w' }, spec: {} })
  await env.advance('1m')
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({ message: expect.stringContaining(told) })
  expect(await env.get(Part, 'p')).toBeUndefined()
  expect(runs.length).toBeLessThan(10)
})

/** What has a schema of its own for its status. */
const Meter = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Meter',
  spec: z.object({}),
  status: z.object({ count: z.int().max(9), unit: z.enum(['m', 's']).optional() }),
})
type MeterStatus = StatusOf<ObjectOf<typeof Meter>>

async function meterAfter(...reports: readonly (() => Outcome<MeterStatus>)[]): Promise<ObjectOf<typeof Meter>> {
  let runs = 0
  const reconcile = async () => (reports[Math.min(runs++, reports.length - 1)] as (typeof reports)[0])()
  env = await createTestEnv({ reconcilers: [defineReconciler(Meter, { reconcile })] })
  await env.apply(Meter, { metadata: { name: 'm' }, spec: {} })
  await env.advance('1m')
  return (await env.get(Meter, 'm')) as ObjectOf<typeof Meter>
}

const meter = (status: object): MeterStatus => status
const failed = (message: string) =>
  expect.arrayContaining([expect.objectContaining({ type: 'Ready', reason: 'ReconcileFailed', message })])

it.each([
  ['of another type', { count: 'many' }, 'status.count: Invalid value: it is of another type'],
  ['no whole number', { count: 1.5 }, 'status.count: Invalid value: it is of another type'],
  ['above a limit', { count: 10 }, 'status.count: Invalid value'],
  ['no word of those', { count: 1, unit: 'h' }, 'status.unit: Unsupported value'],
])('a status with what is %s is a failure, and the one of before stays', async (_what, status, told) => {
  const good = (): Outcome<MeterStatus> => again('1s', { status: meter({ count: 1 }) })
  const { status: shown } = await meterAfter(good, () => done({ status: meter(status) }))
  expect(shown).toMatchObject({ count: 1, conditions: failed(`what is reported does not fit Meter: ${told}`) })
})

it.each<[string, (status: MeterStatus) => Outcome<MeterStatus>]>([
  ['returns', (status) => done({ status })],
  [
    'throws',
    (status) => {
      throw withReport(new Error('no luck'), { status })
    },
  ],
])(
  'a status that a run %s keeps the fields that its kind has: what else an API has answered is not shown',
  async (...[, end]) => {
    const { status } = await meterAfter(() => end(meter({ count: 1, password: 'pw' })))
    expect(status).toMatchObject({ count: 1 })
    expect(status).not.toHaveProperty('password')
    expect(env.logs.find(({ fields }) => fields['leftOut'] !== undefined)).toMatchObject({
      level: 'debug',
      fields: { name: 'm', leftOut: ['password'] },
    })
  },
)

it('one that a failure reports names both', async () => {
  const report = { status: meter({ count: 1.5 }) }
  const { status } = await meterAfter(() => {
    throw withReport(new Error('no luck'), report)
  })
  const told = 'no luck; what is reported does not fit Meter: status.count: Invalid value: it is of another type'
  expect(status).toMatchObject({ conditions: failed(told) })
})

it('a field that is undefined is as if it were left out', async () => {
  const { status } = await meterAfter(() => done({ status: meter({ count: 1, unit: undefined }) }))
  expect(status).toMatchObject({ count: 1, observedGeneration: 1 })
})
