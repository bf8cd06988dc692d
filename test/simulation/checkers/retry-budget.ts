import type { StoredObject } from '../../../shared/model/stored-object.ts'
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
  /** From the reservation to its write. */
  const slackMs = local === undefined ? 2 * latencyMsMax + 50 : 1_000
  const slotMs = 1_000 / retryBudget.perSecond
  const retriesMs: number[] = []
  const lines = new Map<string, { count: number; earliestMs: number }>()

  /** Of one machine, until those that asked before them have surely been written, too. */
  const open: { readonly name: string; readonly of: string; readonly atMs: number; readonly writtenMs: number }[] = []

  const soonestMs = (name: string, writtenMs: number): number => {
    const line = lines.get(name) ?? { count: 0, earliestMs: -Infinity }
    lines.set(name, line)
    line.earliestMs = Math.max(line.earliestMs, writtenMs - slackMs - line.count * slotMs)
    line.count += 1
    return line.earliestMs + (line.count - retryBudget.burst) * slotMs
  }

  /** In the order in which they asked: who asks later is given a later time. */
  const judge = (untilMs: number): void => {
    open.sort((a, b) => a.atMs - b.atMs)
    for (let next = open[0]; next !== undefined && next.writtenMs <= untilMs; next = open[0]) {
      const { name, of, atMs, writtenMs } = next
      open.shift()
      if (atMs < soonestMs(name, writtenMs)) report(`retry budget: ${of} is tried again too soon`)
    }
  }

  return {
    write: (write) => {
      const atMs = retryOf(write, world.nowMs() - slackMs)
      if (atMs === undefined) return
      retriesMs.push(atMs)
      if (local === undefined) return
      const { kind, metadata } = write.after.object
      open.push({ name: write.by.name, of: `${kind} ${metadata.name}`, atMs, writtenMs: world.nowMs() })
      judge(world.nowMs() - slackMs)
    },
    unmet: () => {
      judge(Infinity)
      if (local !== undefined) return []
      const reserved = (table.reservations.get('all retries') ?? []).toSorted((a, b) => a - b)
      const early = retriesMs.toSorted((a, b) => a - b).find((atMs, i) => atMs < (reserved[i] ?? Infinity))
      return early === undefined ? [] : [`retry budget: a retry has no reservation of its own, at ${early}`]
    },
  }
}

/**
 * When what has failed by this write is tried again, if that takes of the budget: a failure ahead of its time takes
 * nothing of it, and of one whose runs did not end nobody has asked.
 */
function retryOf({ before, after }: TableWrite, sinceMs: number): number | undefined {
  const { wait } = after.engine
  if (wait?.kind !== 'Backoff' || wait.failure.error.startsWith('no run ended')) return undefined
  return waitMsOf(before) === wait.atMs || waitMsOf(before) > sinceMs ? undefined : wait.atMs
}

function waitMsOf(stored: StoredObject | undefined): number {
  const wait = stored?.engine.wait
  return wait?.kind === 'Backoff' || wait?.kind === 'Stopped' ? (wait.atMs ?? -Infinity) : -Infinity
}
