import type { Rate } from '../../../shared/model/reservations.ts'
import type { Life } from '../life.ts'
import type { KindName } from '../scenario.ts'
import type { Run } from '../runs.ts'
import type { Checker, Scene } from './checker.ts'

/**
 * A limited controller runs no more often than it may, in however many processes. Twice over: by true time, within any
 * time t no more runs begin than `burst + perSecond · t`, but for what decision 22 says a run may be late and clocks
 * may be wrong; and by the clock of its process, to the millisecond, each run has a reservation for itself that is good
 * just then.
 */
export function createRateLimit({ world, scenario, table, report }: Scene): Checker {
  const { limits = {}, climate, local } = scenario
  const { skewMsMax, jumpMinutes } = climate
  const slackMs = lateMsMax + 2 * skewMsMax
  /** A clock may be put back between a run's last look at it and its begin; in the calm all are put right. */
  const earlyMsMax = jumpMinutes > 0 ? 2 * skewMsMax : skewMsMax
  const rates = new Map<string, ReturnType<typeof createExcess>>()
  const begunMs = new Map<KindName, number[]>()

  const isCounted = ({ kind, phase }: Run): boolean =>
    // Of one name, several that are gone are seen off in one turn.
    limits[kind as KindName] !== undefined && !(kind === 'Witness' && phase === 'cleanup')

  const look = (kind: KindName, by: Life, limit: Rate): void => {
    // On one machine a process counts for itself, and a new one begins with the whole burst.
    const line = local === undefined ? kind : `${kind} ${by.name}`
    const excess = rates.get(line) ?? createExcess(limit)
    rates.set(line, excess)
    // What a process was allowed before it stood still begins after that, beside what it is allowed anew.
    const delayed = local !== undefined && climate.pause > 0 ? limit.burst : 0
    const most = limit.burst + delayed + (limit.perSecond * slackMs) / 1_000
    const runs = excess.after(world.nowMs())
    if (runs > most + 1e-6)
      report(
        `rate limit: ${runs.toFixed(1)} runs of ${kind} began beyond ${limit.perSecond} a second, where ${most.toFixed(1)} may`,
      )
  }

  return {
    runBegins: (run) => {
      if (!isCounted(run)) return
      const kind = run.kind as KindName
      const atMs = begunMs.get(kind) ?? []
      begunMs.set(kind, atMs)
      atMs.push(run.by.clock.nowMs())
      look(kind, run.by, limits[kind] as Rate)
    },
    unmet: () =>
      [...begunMs].flatMap(([kind, atMs]) => {
        if (local !== undefined) return []
        const reserved = table.reservations.get(kind.toLowerCase()) ?? []
        const without = unreserved(atMs, reserved, earlyMsMax)
        return without === undefined ? [] : [`rate limit: a run of ${kind} began without a reservation, at ${without}`]
      }),
  }
}

/** How late a reservation is good. Source: docs/decisions/0022. */
const lateMsMax = 10_000

/** The most runs that began within any time, beyond what the rate makes of it. */
function createExcess({ perSecond }: Rate) {
  let runs = 0
  let least = Infinity
  return {
    after: (nowMs: number): number => {
      const beyond = runs++ - (nowMs * perSecond) / 1_000
      least = Math.min(least, beyond)
      return beyond - least + 1
    },
  }
}

/**
 * The first run that has no reservation of its own: of those that are good for the earliest run, the earliest is the
 * one to give it.
 */
function unreserved(begunMs: readonly number[], reservedMs: readonly number[], earlyMsMax: number): number | undefined {
  const left = reservedMs.toSorted((a, b) => a - b).values()
  let next = left.next()
  for (const atMs of begunMs.toSorted((a, b) => a - b)) {
    while (next.done !== true && next.value < atMs - lateMsMax) next = left.next()
    if (next.done === true || next.value > atMs + earlyMsMax) return atMs
    next = left.next()
  }
  return undefined
}
