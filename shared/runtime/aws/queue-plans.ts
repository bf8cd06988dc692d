import { oneQueue, planQueues, planStaleMs, type QueuePlan } from '../../engine/wake/queue-plan.ts'
import { parseJson } from '../../model/parse-json.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Clock } from '../../ports/clock.ts'

/** How many queues the controllers have that have several: noted by the tick, and known to all within a minute. */
export interface QueuePlans {
  findPlan(controller: string): Promise<QueuePlan>
  /** Has so many queues used. Nothing is asked for if no controller has several. */
  advance(counts: ReadonlyMap<string, number>): Promise<void>
}

export function createQueuePlans({ load, save }: Checkpoint, clock: Clock): QueuePlans {
  let known: { readonly readMs: number; readonly plans: Promise<Plans> } | undefined

  function current(): Promise<Plans> {
    if (known === undefined || Math.abs(clock.nowMs() - known.readMs) >= planStaleMs) {
      const reading = { readMs: clock.nowMs(), plans: load().then((text = '{}') => parseJson(text) as Plans) }
      known = reading
      reading.plans.catch(() => {
        if (known === reading) known = undefined
      })
    }
    return known.plans
  }

  return {
    findPlan: async (controller) => (await current())[controller] ?? oneQueue,

    advance: async (counts) => {
      if (counts.size === 0) return
      const plans = await current()
      const next = { ...plans }
      for (const [name, count] of counts) next[name] = planQueues(plans[name] ?? oneQueue, count, clock.nowMs())
      if (JSON.stringify(next) === JSON.stringify(plans)) return
      await save(JSON.stringify(next))
      known = undefined
    },
  }
}

type Plans = Readonly<Record<string, QueuePlan>>
