import type { Clock } from '../../ports/clock.ts'
import type { WakeUp, WorkQueue } from '../../ports/work-queue.ts'

/**
 * How background work gets into a queue. A FIFO queue has one lane, so whatever is in it stands before a user's change:
 * a tick puts keys in as they can be run, a part of a second's work at a time, and not a minute's at once.
 */
export interface SendPace {
  /** Takes room in this tick for so many keys, or for those that there is room for. */
  grant(keys: number): number
  readonly left: number
  /** Resolves when so many keys may be sent, or when the tick has to end: with the time at which they may be run. */
  take(keys: number): Promise<number>
  /** How many are sent at once. */
  readonly handful: number
  /** When the tick has to be over. */
  readonly untilMs: number
}

export interface SendPaceOptions {
  readonly clock: Clock
  readonly perSecond: number
  readonly untilMs: number
  /** There is room for what may be run by then. Default: while the tick lasts. */
  readonly roomUntilMs?: number
  /** That of a queue in which others send, too. */
  readonly within?: SendPace
}

export function createSendPace({
  clock,
  perSecond,
  untilMs,
  roomUntilMs = untilMs,
  within,
}: SendPaceOptions): SendPace {
  let freeMs = clock.nowMs()
  let granted = 0
  const all = keysIn(roomUntilMs - freeMs)
  const handful = Math.max(1, Math.floor(perSecond / 2))

  function keysIn(ms: number): number {
    return Math.max(0, Math.floor((ms * perSecond) / 1_000))
  }

  const left = (): number =>
    Math.min(all - granted, keysIn(roomUntilMs - Math.max(freeMs, clock.nowMs())), within?.left ?? Infinity)

  return {
    grant: (keys) => {
      const own = Math.min(keys, left())
      granted += own
      return within?.grant(own) ?? own
    },
    get left() {
      return left()
    },
    take: async (keys) => {
      const atMs = Math.max(freeMs, clock.nowMs())
      freeMs = atMs + (1_000 * keys) / perSecond
      await sleepUntil(clock, Math.min(untilMs, atMs))
      return Math.max(atMs, (await within?.take(keys)) ?? 0)
    },
    handful: Math.min(handful, within?.handful ?? handful),
    untilMs,
  }
}

/** `evenly`: over what is left of the tick; what nobody waits for disturbs least so. */
export type Haste = 'soon' | 'evenly'

/**
 * A queue in which keys are put at a pace. A handful goes at once. Of more, those with a time to come are put in at
 * that time: to stay awake for them costs less than to have each of them held.
 */
export function pacedQueue(queue: WorkQueue, pace: SendPace, { clock, haste }: Pacing): WorkQueue {
  const send = async (wakeUps: readonly WakeUp[]): Promise<void> => {
    const nowMs = clock.nowMs()
    const handfuls = handfulsOf(wakeUps, pace.handful, nowMs)
    const everyMs = haste === 'soon' ? 0 : Math.min(1_000, (pace.untilMs - nowMs) / handfuls.length)
    for (const [i, some] of handfuls.entries()) {
      const dueMs = handfuls.length === 1 ? 0 : secondOf(some[0])
      await sleepUntil(clock, Math.min(pace.untilMs, Math.max(nowMs + i * everyMs, dueMs)))
      const atMs = Math.min(await pace.take(some.length), pace.untilMs + heldMsMax)
      await queue.send(atMs <= clock.nowMs() ? some : some.map((one) => notBefore(one, atMs)))
    }
  }
  return { ...queue, send }
}

/** What is further ahead than a minute is not held but let go, and clocks may differ. */
const heldMsMax = 50_000

/** What is in hand when the tick has to end is held for the rest. */
function notBefore(wakeUp: WakeUp, atMs: number): WakeUp {
  return { ...wakeUp, notBeforeMs: Math.max(atMs, wakeUp.notBeforeMs ?? 0) }
}

export interface Pacing {
  readonly clock: Clock
  readonly haste: Haste
}

/** In their order; of one second each, if that is to come. */
function handfulsOf(wakeUps: readonly WakeUp[], size: number, nowMs: number): readonly (readonly WakeUp[])[] {
  if (wakeUps.length <= size) return [wakeUps]
  const seconds = Map.groupBy(wakeUps, (one) => Math.max(nowMs, secondOf(one)))
  return [...seconds.values()].flatMap((some) =>
    Array.from({ length: Math.ceil(some.length / size) }, (_, i) => some.slice(i * size, (i + 1) * size)),
  )
}

/** The first whole second at which it is due. */
function secondOf(wakeUp: WakeUp | undefined): number {
  return 1_000 * Math.ceil((wakeUp?.notBeforeMs ?? 0) / 1_000)
}

async function sleepUntil(clock: Clock, atMs: number): Promise<void> {
  const ms = atMs - clock.nowMs()
  if (ms > 0) await clock.sleep(ms)
}
