import type { Checker, Scene } from './checker.ts'

/**
 * Rate budgets: a process calls what is outside no more often than the budget of the account says, by its own count.
 * Told where clocks are right, and a call begins soon after it was allowed.
 */
export function createBudgets({ world, scenario, report }: Scene): Checker {
  const { budget } = scenario.parcels ?? {}
  const { pause, skewMsMax, latencyMsMax } = scenario.climate
  const isTold = budget !== undefined && pause === 0 && skewMsMax === 0 && latencyMsMax <= 200
  const calledMs = new Map<string, number[]>()

  return {
    called: ({ name }) => {
      if (!isTold || budget === undefined) return
      const { perSecond, burst } = budget
      const times = calledMs.get(name) ?? []
      calledMs.set(name, times)
      times.push(world.nowMs())
      for (const [i, sinceMs] of times.entries()) {
        const count = times.length - i
        const most = burst + (perSecond * (world.nowMs() - sinceMs + lateMs)) / 1_000
        if (count > most + 1e-9) return report(`budget: ${name} makes ${count} calls in ${world.nowMs() - sinceMs} ms`)
      }
    },
  }
}

/** A note is stored between a permission and its call. */
const lateMs = 2_000
