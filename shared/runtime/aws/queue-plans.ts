import { oneQueue, planQueues, planStaleMs, type QueuePlan } from '../../engine/wake/queue-plan.ts'
import { parseJson } from '../../model/parse-json.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Clock } from '../../ports/clock.ts'
import { keepReading } from '../../model/keep-reading.ts'

/** How many queues those controllers use that have several or had: noted by the tick, known to all within a minute. */
export interface QueuePlans {
  findPlan(controller: string): Promise<QueuePlan>
  /** Has so many queues used, and one of whoever is not named: that has no more, or has them no more. */
  advance(counts: ReadonlyMap<string, number>): Promise<void>
}

export function createQueuePlans({ load, save }: Checkpoint, clock: Clock): QueuePlans {
  const read = async (): Promise<Plans> => parseJson((await load()) ?? '{}') as Plans
  const kept = keepReading({ read, clock, maxAgeMs: planStaleMs })

  return {
    findPlan: async (controller) => (await kept.get())[controller] ?? oneQueue,

    advance: async (counts) => {
      // As it is now: the tick of another version may have noted something in this minute.
      const plans = await read()
      const names = [...new Set([...Object.keys(plans), ...counts.keys()])]
      const next: Plans = Object.fromEntries(
        names.map((name) => [name, planQueues(plans[name] ?? oneQueue, counts.get(name) ?? 1, clock.nowMs())]),
      )
      if (JSON.stringify(next) === JSON.stringify(plans)) return
      await save(JSON.stringify(next))
      kept.forget()
    },
  }
}

type Plans = Readonly<Record<string, QueuePlan>>
