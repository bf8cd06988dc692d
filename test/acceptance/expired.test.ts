import { afterEach, expect, it } from 'vitest'
import { ConfigMap } from '../../shared/index.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { Widget, widgets, type RunRecord } from './support/widgets.ts'
import { longOnly } from '../support/strength.ts'

/** A1: when the feed does not reach back to where the relay was, everything is looked at, a little at a time. */

let env: TestEnv
let runs: RunRecord[]
afterEach(() => env.close())

const count = 2_500

/** What was written while nobody relayed is forgotten by the feed. */
async function startBehindTheFeed(): Promise<void> {
  env = await createTestEnv({ reconcilers: [widgets((runs = []))] })
  for (let i = 0; i < count; i++) await env.apply(Widget, { metadata: { name: `w-${i}` }, spec: {} })
  await env.advance('2h')
  for (let i = 0; i < 20; i++) {
    await env.apply(ConfigMap, { metadata: { name: 'purge' }, data: { i: String(i) } })
    await env.advance('1m')
  }
  env.faults.always('relayed.load', { kind: 'lost' })
  runs.length = 0
}

const sends = (): number => env.calls.filter(({ call }) => call === 'queue:widget.send').length

it('A1 a relay that lost its place wakes all objects over several ticks, and users go ahead', async () => {
  await startBehindTheFeed()
  await env.crash()
  await env.settle()
  expect(runs.length).toBeGreaterThan(0)
  expect(runs.length).toBeLessThan(count / 2)
  await env.apply(Widget, { metadata: { name: 'w-0' }, spec: { size: 7 } })
  await env.settle()
  expect(runs.at(-1)).toMatchObject({ name: 'w-0', size: 7 })
  await env.advance('1m')
  expect(new Set(runs.map(({ name }) => name)).size).toBe(count)
  expect(sends()).toBeGreaterThan(2)
})

it('A1 and begins again if the process ends before all are', longOnly, async () => {
  await startBehindTheFeed()
  await env.crash()
  await env.settle()
  const before = runs.length
  await env.crash()
  await env.advance('1m')
  expect(new Set(runs.slice(before).map(({ name }) => name)).size).toBe(count)
})

it('A1 and has found its place when all are', longOnly, async () => {
  await startBehindTheFeed()
  await env.crash()
  await env.advance('1m')
  expect(new Set(runs.map(({ name }) => name)).size).toBe(count)
  env.faults.clear()
  await env.crash()
  runs.length = 0
  await env.advance('1m')
  // A resync passes some.
  expect(runs.length).toBeLessThan(count / 100)
})
