import { learnsAtMs } from '../aws/deployments.ts'
import type { KindName, QueueDeployment, QueueTrouble, Scenario } from '../scenario.ts'
import { beginMs } from '../world.ts'

/**
 * How much longer a wake-up may wait at this time because the number of queues changes, where ticks come in time
 * (docs/aws.md). What comes out of its new queue waits for all runs that began before: once, for the timeout of a run
 * and 25 seconds. Where a deployment is taken back after its queues were used, objects of those wait for 25 minutes at
 * most.
 */
export function movingMs({ seed, queues }: Scenario, nowMs: number, promptMs: number): number {
  if (queues === undefined) return 0
  const sinceMs = nowMs - beginMs
  // What is due before it waits for it, where a change of before keeps it waiting that long.
  const earlyMs = promptMs + minuteMs + oldRunsMs
  const short = queues.deployments.find(
    (one) => isShort(queues, one) && isWithin(sinceMs, one.atMs - earlyMs, endOf(one)),
  )
  if (short !== undefined) return backMs + oldRunsMs
  const isGradual = queues.deployments.some((one) => one.isGradual === true && isWithin(sinceMs, one.atMs, endOf(one)))
  const known = moments.get(queues) ?? momentsIn(seed, queues)
  moments.set(queues, known)
  const isNear = known.some((atMs) => isWithin(sinceMs, atMs - promptMs - minuteMs, atMs + oldRunsMs + promptMs))
  return isGradual || isNear ? oldRunsMs : 0
}

const moments = new WeakMap<QueueTrouble, readonly number[]>()

/** When other numbers are used: a quarter of an hour after the tick notes more, two minutes after less. */
function momentsIn(seed: number, { first, deployments }: QueueTrouble): readonly number[] {
  const kinds = [...new Set([first, ...deployments.map(({ used }) => used)].flatMap((used) => Object.keys(used)))]
  return kinds.flatMap((kind) => {
    const found: { readonly atMs: number; readonly count: number }[] = [
      { atMs: -noticeMs, count: first[kind as KindName] ?? 1 },
    ]
    for (let tickMs = minuteMs; tickMs < latestMs; tickMs += minuteMs) {
      const known = deployments.findLast((one, i) => tickMs >= learnsAtMs(seed, i + 1, one, 'resync'))
      const count = (known?.used ?? first)[kind as KindName] ?? 1
      const { atMs, count: last } = found.at(-1) ?? { atMs: 0, count }
      if (count === last) continue
      if (atMs > tickMs + lessMs) found.pop()
      else if (atMs <= tickMs - noticeMs) found.push({ atMs: tickMs + (count > last ? noticeMs : lessMs), count })
    }
    return found.map(({ atMs }) => atMs)
  })
}

/**
 * It knows fewer queues than those that were in use before, or were about to be when the tick was to take that back.
 */
function isShort({ deployments }: QueueTrouble, known: QueueDeployment): boolean {
  const before = deployments[deployments.indexOf(known) - 1]
  if (before === undefined || known.atMs + known.takesMs + lateMs < before.atMs + noticeMs) return false
  const kinds = Object.keys(known.queues) as (keyof QueueDeployment['queues'])[]
  return kinds.some((kind) => (known.queues[kind] ?? 1) < (before.used[kind] ?? 1))
}

/** What a deployment leads to is over. */
function endOf({ atMs, takesMs }: QueueDeployment): number {
  return atMs + takesMs + 2 * noticeMs + changeMs
}

function isWithin(ms: number, fromMs: number, untilMs: number): boolean {
  return ms >= fromMs && ms <= untilMs
}

const minuteMs = 60_000
/** Of all kinds here. */
const timeoutMs = 30_000
const oldRunsMs = timeoutMs + 25_000
const backMs = 25 * minuteMs

const noticeMs = 15 * minuteMs
const lessMs = 130_000
/** A tick notes it, and what is held then has its turn. */
const changeMs = 5 * minuteMs
/** A tick, and what is noted so short before it begins is not taken back. */
const lateMs = 195_000
const latestMs = 4 * 60 * minuteMs
