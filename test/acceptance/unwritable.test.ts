import { afterEach, expect, it } from 'vitest'
import { again, done, stop, type Outcome } from '../../shared/index.ts'
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

it('one that is no JSON is a failure that is tried again more and more rarely', async () => {
  const status = { size: 1n as unknown as number }
  const runs = await runsOf(() => again('1s', { status }))
  expect(await conditionOfWidget(env, 'Ready')).toMatchObject({
    status: 'False',
    message: expect.stringContaining('BigInt'),
  })
  expect((await widgetOf(env)).status).toMatchObject({ reconcile: { waiting: 'Backoff', attempt: runs.length } })
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
