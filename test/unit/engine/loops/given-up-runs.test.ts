import { expect, it } from 'vitest'
import type { UnendedRun } from '../../../../shared/engine/loops/give-up.ts'
import { again, ConfigMap, done, reference } from '../../../../shared/index.ts'
import { conditionOf } from '../../../../shared/model/conditions.ts'
import { startLocalCore } from '../../../../shared/runtime/local/core.ts'
import { openLocalPorts } from '../../../../shared/runtime/local/ports.ts'
import { createTestEnv, type TestEnv } from '../../../../shared/testing/test-env.ts'
import { Widget, widgets } from '../../../acceptance/support/widgets.ts'

/** A run that takes its process down, as one machine counts it: after three ends with it under way, it is given up. */

const key = { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: 'w7' }
const unended: UnendedRun = { loop: 'widget', key }
const conditionIn = async (env: TestEnv, type: string) => {
  const widget = await env.get(Widget, 'w7')
  return widget && conditionOf(widget, type)
}

it.each(['its own change', 'a fan-out'])(
  'that %s has caused ends its process three times in a quarter of an hour',
  async (by) => {
    let [ends, isPoisoned] = [0, false]
    const controller = widgets(
      [],
      async ({ metadata: { name } }, ctx) => {
        if (!isPoisoned || name !== 'w7') return done()
        ends++
        await ctx.get(ConfigMap, 'poison')
        return done()
      },
      { watches: [reference(ConfigMap, ({ spec }) => spec.partsRef)] },
    )
    await using env = await createTestEnv({
      reconcilers: [controller],
      engine: async (clock) => ({
        ports: openLocalPorts(':memory:', clock),
        start: (options) => startLocalCore({ ...options, unended: { runs: ends >= 3 ? [unended] : [] } }),
        isQuiet: () => true,
      }),
    })
    await env.apply(ConfigMap, { metadata: { name: 'c' }, data: { a: '1' } })
    for (let i = 0; i < 120; i++)
      await env.apply(Widget, { metadata: { name: `w${i}` }, spec: { size: 1, partsRef: { name: 'c' } } })
    await env.settle()
    isPoisoned = true
    const heal = env.faults.always('store.get', { kind: 'crash' }, ([at]) => {
      return (at as { readonly name: string }).name === 'poison' && ends < 10
    })
    if (by === 'a fan-out') await env.patch(ConfigMap, 'c', { data: { a: '2' } })
    else await env.patch(Widget, 'w7', { spec: { size: 2 } })
    await env.advance('2m')
    expect([ends, await conditionIn(env, 'Stalled')]).toEqual([3, expect.objectContaining({ reason: 'RunNotEnded' })])
    heal()
    isPoisoned = false
    await env.advance('20m')
    expect(await conditionIn(env, 'Ready')).toMatchObject({ status: 'True' })
  },
)

it.each(['again', 'done'])(
  'and has come to its end since (%s) is over: what the object refers to wakes it',
  async (how) => {
    let [runs, isGivenUp] = [0, false]
    const controller = widgets(
      [],
      async () => {
        runs++
        return how === 'again' ? again('6h') : done({ resyncAfter: '6h' })
      },
      { watches: [reference(ConfigMap, ({ spec }) => spec.partsRef)] },
    )
    await using env = await createTestEnv({
      reconcilers: [controller],
      engine: async (clock) => ({
        ports: openLocalPorts(':memory:', clock),
        start: (options) => startLocalCore({ ...options, unended: { runs: isGivenUp ? [unended] : [] } }),
        isQuiet: () => true,
      }),
    })
    await env.apply(ConfigMap, { metadata: { name: 'c' }, data: { a: '1' } })
    await env.apply(Widget, { metadata: { name: 'w7' }, spec: { size: 1, partsRef: { name: 'c' } } })
    await env.settle()
    isGivenUp = true
    await env.crash()
    await env.advance('20m')
    expect(runs).toBe(2)
    await env.patch(ConfigMap, 'c', { data: { a: '2' } })
    await env.advance('1m')
    expect(runs).toBe(3)
  },
)
