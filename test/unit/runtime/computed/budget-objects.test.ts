import { describe, expect, it } from 'vitest'
import {
  ConfigMap,
  createRateBudget,
  createRateBudgets,
  defineReconciler,
  done,
  type Controller,
} from '../../../../shared/index.ts'
import { digest } from '../../../../shared/model/digest.ts'
import { createSeenBudgets } from '../../../../shared/reconciler/external/seen-budgets.ts'
import { budgetObjects, type BudgetsSource } from '../../../../shared/runtime/computed/budget-objects.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const clock = createVirtualClock(1_000_000)

async function tell(source: Partial<BudgetsSource>) {
  const objects = budgetObjects({ controllers: [], clock, retryBudget: undefined, ...source })
  const { items } = await objects.list({ namespace: '', limit: 500 })
  for (const item of items) expect(await objects.find({ namespace: '', name: item.metadata.name })).toEqual(item)
  return Object.fromEntries(items.map(({ metadata, status }) => [metadata.name, status]))
}

describe('budgets', () => {
  it('are those of retries, of controllers and of their objects', async () => {
    const reconcile = async () => done()
    const limited = defineReconciler(ConfigMap, {
      name: 'limited',
      concurrency: 3,
      rateLimit: { controller: { perSecond: 2, burst: 5 }, object: { runs: 4, within: '1m' } },
      reconcile,
    })
    const plain = defineReconciler(ConfigMap, { name: 'plain', reconcile })
    const retryBudget = { perSecond: 10, burst: 100 }
    expect(await tell({ controllers: [limited, plain], retryBudget, retriesLeft: () => -3 })).toEqual({
      retries: { bounds: 'Retries', perSecond: 10, burst: 100, left: -3 },
      'limited.concurrency': { controller: 'limited', bounds: 'Concurrency', max: 3 },
      'limited.runs': { controller: 'limited', bounds: 'Runs', perSecond: 2, burst: 5 },
      'limited.runs-per-object': { controller: 'limited', bounds: 'RunsPerObject', max: 4, withinSeconds: 60 },
      'plain.concurrency': { controller: 'plain', bounds: 'Concurrency', max: 10 },
    })
    expect(await tell({ retryBudget })).toMatchObject({ retries: { message: 'counted in the table' } })
    expect(await tell({})).toEqual({})
  })

  it('are those of calls of a far side, by account, whose name is not told', async () => {
    const budgets = createRateBudgets({ perSecond: 4, burst: 8 })
    const [team, busy] = [budgets('team'), budgets('busy')]
    const unnamed = createRateBudget({ perSecond: 1, burst: 2 })
    const seen = createSeenBudgets()
    const controllers = [{ name: 'box', concurrency: 1, callBudgets: seen.list } as unknown as Controller]
    expect(await tell({ controllers })).toMatchObject({
      'box.calls': { controller: 'box', bounds: 'Calls', message: 'no run of this process has called yet' },
    })
    expect(await tell({ controllers, runsElsewhere: true })).toMatchObject({
      'box.calls': { message: expect.stringContaining('known to the functions that call') },
    })
    for (const budget of [team, busy, unnamed, team]) seen.note(budget)
    team.take('user', clock.nowMs())
    busy.noteLimit(clock.nowMs() + 5_000, clock.nowMs())
    const told = await tell({ controllers })
    expect(told).toMatchObject({
      [`box.calls-${digest('team')}`]: { account: digest('team'), perSecond: 4, burst: 8, left: 7 },
      [`box.calls-${digest('busy')}`]: { perSecond: 2, burst: 4, left: 0, closedUntil: '1970-01-01T00:16:45.000Z' },
      'box.calls-3': { controller: 'box', bounds: 'Calls', perSecond: 1, burst: 2, left: 2 },
    })
    expect(JSON.stringify(told)).not.toMatch(/team|busy/)
  })

  it('are remembered for as many accounts as are of use, those used last', () => {
    const seen = createSeenBudgets()
    const budgets = Array.from({ length: 150 }, () => createRateBudget({ perSecond: 1, burst: 1 }))
    for (const budget of budgets) seen.note(budget)
    expect(seen.list().map(({ order }) => order)).toEqual(Array.from({ length: 100 }, (_, i) => i + 51))
  })
})
