import { metrics } from '../../model/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { WorkQueue } from '../../ports/work-queue.ts'
import type { TurnRunner } from '../state/turn.ts'

export interface LoopMetricsOptions {
  /** Of the control loop, and its queue. */
  readonly name: string
  readonly concurrency: number
  readonly telemetry: Telemetry
  readonly clock: Clock
}

/**
 * Counts and times one control loop from outside. Keeps the start of each turn that is not over, and nothing per key.
 */
export interface LoopMetrics {
  /** The queue, with what is sent to it counted. */
  queue(queue: WorkQueue): WorkQueue
  /** The runner, with its turns timed. */
  runner(run: TurnRunner): TurnRunner
}

export function createLoopMetrics({ name, concurrency, telemetry, clock }: LoopMetricsOptions): LoopMetrics {
  const ofController = { controller: name }
  const ofQueue = { name, controller: name }
  const added = telemetry.counter(metrics.queueAdds, ofQueue)
  const worked = telemetry.histogram(metrics.workSeconds, ofQueue)
  const retried = telemetry.counter(metrics.retries, ofQueue)

  const turns = new Set<{ readonly startMs: number }>()
  const secondsSince = (startMs: number): number => Math.max(0, clock.nowMs() - startMs) / 1_000
  const ages = (): readonly number[] => [...turns].map(({ startMs }) => secondsSince(startMs))
  telemetry.read(metrics.maxConcurrent, ofController, () => concurrency)
  telemetry.read(metrics.activeWorkers, ofController, () => turns.size)
  telemetry.read(metrics.unfinishedSeconds, ofQueue, () => ages().reduce((sum, age) => sum + age, 0))
  telemetry.read(metrics.longestRunningSeconds, ofQueue, () => ages().reduce((most, age) => Math.max(most, age), 0))

  return {
    queue: (queue) => ({
      ...queue,
      send: (wakeUps) => {
        added(wakeUps.length)
        return queue.send(wakeUps)
      },
    }),

    runner: (run) => async (turn, signal) => {
      const begun = { startMs: clock.nowMs() }
      turns.add(begun)
      try {
        await run(turn, signal)
      } catch (error) {
        if (!signal.aborted) retried()
        throw error
      } finally {
        turns.delete(begun)
        worked(secondsSince(begun.startMs))
      }
    },
  }
}
