import type { Clock } from '../../ports/clock.ts'
import type { WakeUp, WorkQueue } from '../../ports/work-queue.ts'
import type { LineAsker, Allotment, SendLine } from './send-line.ts'

/**
 * How fast background work may get into a queue at most: as fast as it can be run where turns are quick, or as the
 * rate limit of a controller has it. How much of it there may be at a time says the line (`send-line.ts`).
 */
export interface SendPace {
  /** Takes room in this tick for so many keys, or for those that there is room for. */
  grant(keys: number): number
  readonly left: number
  /** Resolves when so many keys may be sent, or when the tick has to end: with the time at which they may be run. */
  take(keys: number): Promise<number>
  /** How many are sent at once. */
  readonly handful: number
  /** So long after so many keys the next ones follow at the latest, where nobody waits for them: at half the pace. */
  evenMs(keys: number): number
  /** When the tick has to be over. */
  readonly untilMs: number
  /** There is room for what may be run by then. */
  readonly roomUntilMs: number
}

export interface SendPaceOptions {
  readonly clock: Clock
  readonly perSecond: number
  readonly untilMs: number
  /** Default: while the tick lasts. */
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
    evenMs: (keys) => (2_000 * keys) / perSecond,
    untilMs,
    roomUntilMs,
  }
}

export interface Sending {
  readonly clock: Clock
  readonly pace: SendPace
  readonly line: SendLine
  readonly asker: LineAsker
  /** `evenly`: over what is left of the tick; what nobody waits for disturbs least so. */
  readonly haste: 'soon' | 'evenly'
}

/** A queue in which keys are put as there is room for them, in their order. */
export interface PacedQueue extends WorkQueue {
  /** How many there was no room for: those at the end of what was sent last. */
  readonly unsent: number
}

export function pacedQueue(queue: WorkQueue, sending: Sending): PacedQueue {
  let unsent = 0
  const send = async (wakeUps: readonly WakeUp[]): Promise<void> => {
    unsent = wakeUps.length - (await sendPaced(queue, wakeUps, sending))
  }
  return {
    ...queue,
    send,
    get unsent() {
      return unsent
    },
  }
}

/** A handful of timers goes at once, to be held. Of more, each is sent when it is due: being awake costs less. */
async function sendPaced(queue: WorkQueue, wakeUps: readonly WakeUp[], sending: Sending): Promise<number> {
  const { clock, pace, line, asker } = sending
  const isAhead = ({ notBeforeMs = 0 }: WakeUp): boolean => notBeforeMs > clock.nowMs() + aheadMs
  const dueNow = wakeUps.filter((one) => !isAhead(one)).length
  const isHandful = wakeUps.length <= pace.handful && line.mayHold(wakeUps.length, asker.loop)
  if (isHandful && line.takeAll(dueNow, asker)) {
    await pace.take(wakeUps.length)
    await queue.send(wakeUps)
    return wakeUps.length
  }
  let count = 0
  for (const some of secondsOf(wakeUps, clock.nowMs())) {
    const own = await sendSecond(queue, some, { ...sending, behind: wakeUps.length - count })
    count += own
    if (own < some.length) break
  }
  return count
}

/** What is due so soon is not ahead of its time. */
const aheadMs = 1_000

/** Those of one second, as there is room for them; how many. */
async function sendSecond(
  queue: WorkQueue,
  some: readonly WakeUp[],
  { clock, pace, line, asker, haste, behind }: Sending & { readonly behind: number },
): Promise<number> {
  await sleepUntil(clock, Math.min(pace.untilMs, secondOf(some[0])))
  let count = 0
  let paid = 0
  let atMs = 0
  while (count < some.length) {
    if (paid === 0) {
      paid = Math.min(pace.handful, some.length - count)
      atMs = await pace.take(paid)
    }
    const isOver = clock.nowMs() >= pace.untilMs
    if (isOver && atMs >= pace.roomUntilMs) break
    const { count: own, tickets } = isOver ? takeLast(paid, line, asker) : await line.take(paid, asker)
    if (own === 0) break
    const next = some.slice(count, count + own).map((one, i) => withTicket(one, tickets[i]))
    await queue.send(atMs <= clock.nowMs() ? next : next.map((one) => notBefore(one, atMs)))
    count += own
    paid -= own
    const restMs = ((pace.untilMs - clock.nowMs()) * own) / (behind - count + own)
    if (haste === 'evenly' && count < behind) await clock.sleep(Math.max(0, Math.min(pace.evenMs(own), restMs)))
  }
  return count
}

/** What a rate limit has room for behind the end of the tick goes now: nobody waits for room any more. */
function takeLast(want: number, line: SendLine, asker: LineAsker): Allotment {
  return { count: line.isQuick(asker.loop) || line.takeAll(want, asker) ? want : 0, tickets: [] }
}

function withTicket(wakeUp: WakeUp, ticket: string | undefined): WakeUp {
  return ticket === undefined ? wakeUp : { ...wakeUp, ticket }
}

/** What is in hand when the tick has to end is held for the rest. */
function notBefore(wakeUp: WakeUp, atMs: number): WakeUp {
  return { ...wakeUp, notBeforeMs: Math.max(atMs, wakeUp.notBeforeMs ?? 0) }
}

/** In their order; those of one second each, if that is to come. */
function secondsOf(wakeUps: readonly WakeUp[], nowMs: number): readonly (readonly WakeUp[])[] {
  return [...Map.groupBy(wakeUps, (one) => Math.max(nowMs, secondOf(one))).values()]
}

/** The first whole second at which it is due. */
function secondOf(wakeUp: WakeUp | undefined): number {
  return 1_000 * Math.ceil((wakeUp?.notBeforeMs ?? 0) / 1_000)
}

async function sleepUntil(clock: Clock, atMs: number): Promise<void> {
  const ms = atMs - clock.nowMs()
  if (ms > 0) await clock.sleep(ms)
}
