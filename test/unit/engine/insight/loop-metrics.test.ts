import { expect, it } from 'vitest'
import { createLoopMetrics } from '../../../../shared/engine/insight/loop-metrics.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { metrics, type Metric } from '../../../../shared/model/metrics.ts'
import type { Telemetry } from '../../../../shared/ports/telemetry.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

it('tells how many turns are under way, for how long, and what became of them', async () => {
  const clock = createVirtualClock(1_000_000)
  const counted = new Map<Metric, number>()
  const reads = new Map<Metric, () => number>()
  const add =
    (metric: Metric) =>
    (by = 1) =>
      void counted.set(metric, (counted.get(metric) ?? 0) + by)
  const telemetry: Telemetry = {
    counter: add,
    histogram: add,
    read: (metric, _labels, value) => void reads.set(metric, value),
  }
  const { runner } = createLoopMetrics({ name: 'c', concurrency: 7, telemetry, clock })
  const now = (): readonly unknown[] =>
    [metrics.maxConcurrent, metrics.activeWorkers, metrics.unfinishedSeconds, metrics.longestRunningSeconds].map(
      (metric) => reads.get(metric)?.(),
    )
  const ends: PromiseWithResolvers<void>[] = []
  const run = runner(() => {
    const end = Promise.withResolvers<void>()
    ends.push(end)
    return end.promise
  })

  expect(now()).toEqual([7, 0, 0, 0])
  const { signal } = new AbortController()
  const first = run({} as Turn, signal)
  await clock.advance(2_000)
  const second = run({} as Turn, signal)
  await clock.advance(3_000)
  expect(now()).toEqual([7, 2, 8, 5])
  ends[0]?.resolve()
  await first
  expect(now()).toEqual([7, 1, 3, 3])
  ends[1]?.reject(new Error('again'))
  await expect(second).rejects.toThrow('again')
  expect(now()).toEqual([7, 0, 0, 0])
  expect([counted.get(metrics.workSeconds), counted.get(metrics.retries)]).toEqual([8, 1])

  const given = run({} as Turn, AbortSignal.abort())
  ends[2]?.reject(new Error('given up'))
  await expect(given).rejects.toThrow('given up')
  expect(counted.get(metrics.retries)).toBe(1)
})

it('counts what is sent, and a clock that goes back makes no negative time', async () => {
  const counted: number[] = []
  const reads = new Map<Metric, () => number>()
  const telemetry: Telemetry = {
    counter:
      ({ name }) =>
      (by = 1) =>
        void (name === metrics.queueAdds.name && counted.push(by)),
    histogram: () => () => {},
    read: (metric, _labels, value) => void reads.set(metric, value),
  }
  let nowMs = 5_000
  const clock = { nowMs: () => nowMs, sleep: async () => {} }
  const { queue, runner } = createLoopMetrics({ name: 'c', concurrency: 7, telemetry, clock })
  const sent: unknown[] = []
  const counting = queue({ send: async (wakeUps: readonly unknown[]) => void sent.push(...wakeUps) } as never)
  await counting.send([{}, {}] as never)
  expect([counted, sent]).toEqual([[2], [{}, {}]])
  void runner(() => new Promise(() => {}))({} as Turn, new AbortController().signal)
  nowMs = 1_000
  expect(reads.get(metrics.longestRunningSeconds)?.()).toBe(0)
  expect(reads.get(metrics.unfinishedSeconds)?.()).toBe(0)
})
