import { digest } from '../../model/digest.ts'
import { keyText, type ObjectKey } from '../../model/object-key.ts'

/** How many queues a controller's wake-ups are spread over, from when on, in the order of time. */
export type QueuePlan = readonly QueueStep[]

type QueueStep = readonly [count: number, fromMs: number]

const firstStep: QueueStep = [1, 0]

/** Of a controller that has had one queue so far. */
export const oneQueue: QueuePlan = [firstStep]

/** So long a plan is relied on that was read before. */
export const planStaleMs = 60_000

/**
 * So long after it is noted a plan begins: by then every function knows the queues that it names, also where a
 * deployment takes its time.
 */
const noticeMs = 15 * 60_000

/** What clocks may differ by, twice. */
const slackMs = 10_000

/** So much later than it was decided on, at most, a plan is there for all to read: the tick has no more time. */
const savedMs = 60_000

/** As long before a step begins nobody knows otherwise: a plan of before is relied on no more, whatever clocks say. */
const knownMs = savedMs + planStaleMs + slackMs

/** A plan that ends with so many queues: noted once, by the tick. */
export function planQueues(plan: QueuePlan, count: number, nowMs: number): QueuePlan {
  const last = plan.at(-1) ?? firstStep
  if (last[0] === count) return plan
  // A deployment that was rolled back: what it noted is taken back, unless some might not learn of that in time.
  if (last[1] > nowMs + knownMs) return plan.slice(0, -1)
  // One step after the other, so that only the queues of two steps are ever in use.
  if (last[1] > nowMs - noticeMs) return plan
  // Fewer queues are known to all who know the plan.
  return [last, [count, nowMs + (count < last[0] ? knownMs : noticeMs)]]
}

/**
 * The queue of a key, for a sender that knows so many. With one more queue, only keys that go there change theirs: so
 * the best of those that are known is the key's queue, unless that is one of the others.
 */
export function findQueue(plan: QueuePlan, key: ObjectKey, nowMs: number, known = Infinity): number {
  return homeAmong(Math.min(stepAt(plan, nowMs)[0], known), key)
}

function homeAmong(count: number, key: ObjectKey): number {
  if (count === 1) return 0
  const base = Number.parseInt(digest(keyText(key)).slice(8), 16)
  const scores = Array.from({ length: count }, (_, queue) => mixBits(base ^ Math.imul(queue + 1, 0x9e3779b9)))
  return scores.indexOf(Math.max(...scores))
}

/** Every bit of the number has a part in every bit of the result: the last step of MurmurHash3. Fixed for ever. */
function mixBits(number: number): number {
  let value = Math.imul(number ^ (number >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}

function stepAt(plan: QueuePlan, nowMs: number): QueueStep {
  return plan.findLast(([, fromMs]) => fromMs <= nowMs) ?? firstStep
}

function beginAfter(plan: QueuePlan, nowMs: number): number | undefined {
  return plan.find(([, fromMs]) => fromMs > nowMs)?.[1]
}

/** So long a receiver waits that does not know the key's queue, where no end of that is noted. */
const unknownMs = 5 * 60_000

/**
 * What becomes of a message that came out of a queue. A key has one holder though its queue changes: what comes out of
 * its old queue is sent on to the new one, and what comes out of the new one waits until every run has ended that
 * began before. Who does not know the key's queue, as after a rollback, waits for a plan without it: another version
 * of the function may run the key from there.
 */
export type Arrival =
  | { readonly kind: 'run' }
  | { readonly kind: 'forward' }
  | { readonly kind: 'hold'; readonly ms: number }

export interface ArrivalFacts {
  readonly plan: QueuePlan
  /** Which of the controller's queues it came out of. */
  readonly queue: number
  /** How many of them the receiver knows. */
  readonly known: number
  /** A run is over after so long, whatever becomes of it. */
  readonly longestRunMs: number
  readonly nowMs: number
}

export function receiveArrival(key: ObjectKey, { plan, queue, known, longestRunMs, nowMs }: ArrivalFacts): Arrival {
  const [count, fromMs] = stepAt(plan, nowMs)
  const home = homeAmong(count, key)
  if (home >= known) return { kind: 'hold', ms: (beginAfter(plan, nowMs) ?? nowMs + unknownMs) - nowMs }
  if (home !== queue) return { kind: 'forward' }
  const ms = fromMs + longestRunMs + slackMs - nowMs
  const before = stepAt(plan, fromMs - 1)
  return ms > 0 && homeAmong(before[0], key) !== queue ? { kind: 'hold', ms } : { kind: 'run' }
}
