import { retryAtMsOf } from '../../../shared/model/engine-state.ts'
import type { TableWrite } from '../plane.ts'
import { isFenceTried, type Checker, type Scene } from './checker.ts'

/**
 * All retries together come no faster than their budget, where it can always be asked. On AWS each has a reservation of
 * its own, and comes no sooner. On one machine each process has a budget of its own: of the retries that it asked for
 * since any moment, each is so late that the ones before it had their time.
 */
export function createRetryBudgetChecker({ world, scenario, table, report }: Scene): Checker {
  const { retryBudget, climate, local } = scenario
  const { throttle, unknown, hotPartition, pause, skewMsMax, jumpMinutes, latencyMsMax } = climate
  const isAsked = throttle === 0 && unknown === 0 && !hotPartition && pause === 0 && !isFenceTried(scenario)
  if (retryBudget === undefined || !isAsked || skewMsMax > 0 || jumpMinutes > 0) return {}
  /** From the reservation to its write, which on one machine may meet others' again and again. */
  const slackMs = local === undefined ? 2 * latencyMsMax + 50 : 1_000 + 20 * latencyMsMax
  const slotMs = 1_000 / retryBudget.perSecond
  const retriesMs: number[] = []
  const lines = new Map<string, Line>()

  const lineOf = (name: string): Line => {
    const line = lines.get(name) ?? { count: 0, earliestMs: -Infinity, open: [] }
    lines.set(name, line)
    return line
  }

  const soonestMs = (line: Line, writtenMs: number): number => {
    line.earliestMs = Math.max(line.earliestMs, writtenMs - slackMs - line.count * slotMs)
    line.count += 1
    return line.earliestMs + (line.count - retryBudget.burst) * slotMs
  }

  /**
   * Who of these asked first nobody knows, and a longer backoff makes a retry later: what counts is how many come by
   * when.
   */
  const judgeTogether = (line: Line, together: readonly Asked[]): void => {
    const soonest = together.map(({ writtenMs }) => soonestMs(line, writtenMs))
    const byTime = together.toSorted((a, b) => a.atMs - b.atMs)
    for (const [i, { of, atMs }] of byTime.entries())
      if (atMs < (soonest[i] ?? 0)) report(`retry budget: ${of} is tried again too soon`)
  }

  /** Those that are written within the slack of one another may have asked in another order than they are written. */
  const judge = (line: Line, nowMs: number): void => {
    for (;;) {
      const { open } = line
      const last = open.findIndex(({ writtenMs }, i) => (open[i + 1]?.writtenMs ?? nowMs) - writtenMs > slackMs)
      if (last < 0) return
      judgeTogether(line, open.splice(0, last + 1))
    }
  }

  return {
    write: (write) => {
      const atMs = retryOf(write, world.nowMs() - slackMs)
      if (atMs === undefined) return
      retriesMs.push(atMs)
      // The process that wrote this is dead, and only its file tells of the write. The time of the write is unknown.
      if (local === undefined || write.by.isDead()) return
      const { kind, metadata } = write.after.object
      const line = lineOf(write.by.name)
      line.open.push({ of: `${kind} ${metadata.name}`, atMs, writtenMs: world.nowMs() })
      judge(line, world.nowMs())
    },
    unmet: () => {
      for (const line of lines.values()) judge(line, Infinity)
      if (local !== undefined) return []
      const reserved = (table.reservations.get('all retries') ?? []).toSorted((a, b) => a - b)
      const early = retriesMs.toSorted((a, b) => a - b).find((atMs, i) => atMs < (reserved[i] ?? Infinity))
      return early === undefined ? [] : [`retry budget: a retry has no reservation of its own, at ${early}`]
    },
  }
}

/** A retry that took of the budget. */
interface Asked {
  readonly of: string
  readonly atMs: number
  readonly writtenMs: number
}

/** What one process of one machine has asked for, in the order of the writes. */
interface Line {
  count: number
  earliestMs: number
  /** Until those that asked before them have surely been written, too. */
  readonly open: Asked[]
}

/**
 * When what has failed by this write is tried again, if that takes of the budget: a failure ahead of its time takes
 * nothing of it, and of one whose runs did not end nobody has asked.
 */
function retryOf({ before, after }: TableWrite, sinceMs: number): number | undefined {
  const { wait } = after.engine
  if (wait?.kind !== 'Backoff' || wait.failure.error.startsWith('no run ended')) return undefined
  const knownMs = retryAtMsOf(before?.engine ?? {}) ?? -Infinity
  return knownMs === wait.atMs || knownMs > sinceMs ? undefined : wait.atMs
}
