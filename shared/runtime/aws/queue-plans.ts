import { oneQueue, planQueues, planStaleMs, type QueuePlan } from '../../engine/wake/queue-plan.ts'
import { parseJson } from '../../model/parse-json.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Clock } from '../../ports/clock.ts'
import { keepReading } from '../../model/keep-reading.ts'

/** How many queues the controllers have that have several: noted by the tick, and known to all within a minute. */
export interface QueuePlans {
  findPlan(controller: string): Promise<QueuePlan>
  /** Has so many queues used. Nothing is asked for if no controller has several. */
  advance(counts: ReadonlyMap<string, number>): Promise<void>
}

export function createQueuePlans({ load, save }: Checkpoint, clock: Clock): QueuePlans {
  const read = async (): Promise<Plans> => parseJson((await load()) ?? '{}') as Plans
  const kept = keepReading({ read, clock, maxAgeMs: planStaleMs })

  return {
    findPlan: async (controller) => (await kept.get())[controller] ?? oneQueue,

    advance: async (counts) => {
      if (counts.size === 0) return
      const plans = await kept.get()
      const next = { ...plans }
      for (const [name, count] of counts) next[name] = planQueues(plans[name] ?? oneQueue, count, clock.nowMs())
      if (JSON.stringify(next) === JSON.stringify(plans)) return
      await save(JSON.stringify(next))
      kept.forget()
    },
  }
}

type Plans = Readonly<Record<string, QueuePlan>>
