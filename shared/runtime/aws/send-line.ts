import { hasCode } from '../../model/errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { InHand, Rank, SeenInHand } from '../../ports/in-hand.ts'
import type { Logger } from '../../ports/logger.ts'
import {
  assuredOf,
  burstOf,
  isQuick,
  noteQuick,
  slowMsMax,
  slowMsMin,
  ticketsLeft,
  type KnownQueue,
  type LoopPace,
  type WindowLimits,
} from './send-window.ts'

/** Who of a tick may send into one queue, and when: timers ahead of sweeps, and each in the order of asking. */
export interface SendLine {
  /** How many were waiting when the tick began. */
  readonly waiting: number
  /**
   * As many of these as there is room for, at least one, as soon as there is; none when the tick has to be over. What
   * is throttled or unavailable is asked again until then; throws what asking again does not mend.
   */
  take(want: number, asker: LineAsker): Promise<Allotment>
  /** Whether there is room for all of these at once; then they are taken. */
  takeAll(want: number, asker: LineAsker): boolean
  /** Whether as many as there are may be sent ahead, to be held until they are due. */
  mayHold(want: number, loop: string): boolean
  /** Turns of the loop are known to be quick. */
  isQuick(loop: string): boolean
  /** What the next tick is to know: the same if nothing was sent. */
  known(): KnownQueue | undefined
}

export interface LineAsker {
  readonly rank: Rank
  readonly loop: string
}

export interface Allotment {
  readonly count: number
  /** One for each, or none at all. */
  readonly tickets: readonly string[]
}

export interface SendLineOptions {
  readonly clock: Clock
  readonly queue: string
  readonly limits: WindowLimits
  readonly known: KnownQueue | undefined
  readonly depth: () => Promise<number>
  readonly inHand: InHand
  readonly newId: () => string
  readonly untilMs: number
  readonly logger: Logger
}

/** After a burst, the queue is asked so late whether it was taken; where turns are slow, not before they are noted. */
const lookMs = 100
const slowLookMs = slowMsMin + lookMs
/** While the queue is busy it is asked again later each time, up to that. */
const busyMsMax = 1_000
/** What is in hand is looked at so often while turns are quick. */
const boardMs = 1_000
/** While turns are slow, so often at the most and at the least. */
const ticketMsMin = 100
const ticketMsMax = 1_000
/** A ticket is on the board for so long until its turn begins. */
const notBegunMs = 20_000
/** What waits for so long though nobody else does is held up. */
const heldUpMs = 2_000
/** So many times what runs at once may be held where turns are quick. */
const heldMax = 5
const none: Allotment = { count: 0, tickets: [] }

export async function openSendLine(options: SendLineOptions): Promise<SendLine> {
  return new Line(options, await options.depth())
}

interface Ticket {
  readonly id: string
  readonly loop: string
  readonly sentMs: number
  /** As long as it is noted for, until its turn begins. */
  readonly untilMs: number
  readonly hasBegun: boolean
}

class Line implements SendLine {
  readonly waiting: number
  readonly #options: SendLineOptions
  /** How many ask. */
  readonly #asking: Record<Rank, number> = { timer: 0, sweep: 0 }
  /** What was asked for last. */
  #granted: Promise<unknown> = Promise.resolve()
  readonly #paces: Map<string, LoopPace>
  #tickets: readonly Ticket[] = []
  /** Each tick may send so many, though users or timers keep the function busy. */
  readonly #assured: Record<Rank, number>
  /** So many waited all the time. */
  readonly #stuck: number
  #waitedMin: number
  /** What waited when that was asked, what was sent since, and when to ask again. */
  #depth: { readonly waiting: number; readonly sent: number; readonly againMs: number }
  #busyMs = 0
  #board: SeenInHand & { readonly atMs: number } = { notes: [], slowMs: new Map(), atMs: -Infinity }
  /** The most of the last two looks: between two batches, a function has nothing in hand. */
  #notesMost: SeenInHand['notes'] = []
  /** Loops of which some were sent without tickets since the last look at what is in hand. */
  readonly #burstLoops = new Set<string>()
  #hasSent = false
  /** In this tick it was said once that the queue could not be asked. */
  #isFailureSaid = false

  constructor(options: SendLineOptions, waiting: number) {
    const { known, limits } = options
    this.#options = options
    this.waiting = waiting
    this.#waitedMin = waiting
    this.#stuck = Math.min(known?.stuck ?? 0, waiting)
    this.#paces = new Map(Object.entries(known?.loops ?? {}))
    this.#depth = { waiting, sent: 0, againMs: 0 }
    this.#assured = { timer: assuredOf(limits, 'timer'), sweep: assuredOf(limits, 'sweep') }
  }

  isQuick(loop: string): boolean {
    return isQuick(this.#paces.get(loop), this.#nowMs())
  }

  mayHold(want: number, loop: string): boolean {
    const { invocations, batchSize } = this.#options.limits
    return want <= invocations * batchSize * (this.#isSlow(loop) ? 1 : heldMax)
  }

  takeAll(want: number, { rank, loop }: LineAsker): boolean {
    if (want === 0) return true
    const isNext = rank === 'timer' || (this.isQuick(loop) && this.#asking.timer + this.#asking.sweep === 0)
    if (!isNext || want > this.#burstLeft()) return false
    this.#noteSent(want, { rank, loop })
    return true
  }

  async take(want: number, asker: LineAsker): Promise<Allotment> {
    const { clock, untilMs } = this.#options
    this.#asking[asker.rank]++
    try {
      while (clock.nowMs() < untilMs) {
        const granted = await this.#oneByOne(() => this.#grant(want, asker))
        if (granted.count > 0) return granted
        await clock.sleep(Math.max(1, Math.min(this.#pauseMs(asker), untilMs - clock.nowMs())))
      }
      return none
    } finally {
      this.#asking[asker.rank]--
    }
  }

  known(): KnownQueue | undefined {
    if (!this.#hasSent) return this.#options.known
    return { stuck: this.#waitedMin, loops: Object.fromEntries(this.#paces) }
  }

  /** In the order of asking. What fails for one keeps nobody behind it. */
  #oneByOne(grant: () => Promise<Allotment>): Promise<Allotment> {
    const granted = this.#granted.then(grant).catch((error: unknown) => this.#askAgain(error))
    this.#granted = granted.catch(() => {})
    return granted
  }

  /** What cannot be asked or noted now may be in a while. Anything else is for whoever asked. */
  #askAgain(error: unknown): Allotment {
    if (!hasCode(error, 'THROTTLED', 'UNAVAILABLE')) throw error
    const { logger, queue } = this.#options
    if (!this.#isFailureSaid)
      logger.warn('sweeps and timers wait: their queue cannot be asked', { queue, error: error.message })
    this.#isFailureSaid = true
    return none
  }

  #grant(want: number, asker: LineAsker): Promise<Allotment> {
    return this.#needsTickets(asker) ? this.#grantTickets(want, asker) : this.#grantBurst(want, asker)
  }

  #needsTickets({ rank, loop }: LineAsker): boolean {
    return rank === 'sweep' && !this.isQuick(loop)
  }

  async #grantTickets(want: number, asker: LineAsker): Promise<Allotment> {
    const { inHand, queue, limits, newId } = this.#options
    const { rank, loop } = asker
    await this.#look()
    const free = ticketsLeft(limits, await this.#ticketsInHand(), this.#nowMs())
    const left = this.#isSecond(rank) ? Math.min(free, this.#assured[rank]) : free
    const count = this.#needsTickets(asker) ? Math.min(want, left) : 0
    if (count === 0) return none
    this.#assured[rank] = Math.max(0, this.#assured[rank] - count)
    const sentMs = this.#nowMs()
    const untilMs = sentMs + notBegunMs
    const tickets = Array.from({ length: count }, newId)
    await inHand.note(
      queue,
      tickets.map((id) => ({ id, rank, untilMs })),
    )
    this.#tickets = [...this.#tickets, ...tickets.map((id) => ({ id, loop, sentMs, untilMs, hasBegun: false }))]
    this.#hasSent = true
    return { count, tickets }
  }

  /**
   * Of sweeps, so many take an invocation, or may do so soon. What waits though nobody else does stands behind a held
   * message of its object; what neither waits nor has begun is in a function that starts.
   */
  async #ticketsInHand(): Promise<number> {
    const unbegun = this.#tickets.filter(({ hasBegun }) => !hasBegun)
    const ids = new Set(unbegun.map(({ id }) => id))
    const begun = this.#board.notes.filter(({ id, rank }) => rank === 'sweep' && !ids.has(id)).length
    const old = unbegun.filter(({ sentMs }) => this.#nowMs() - sentMs >= heldUpMs).length
    const waiting = old === 0 ? 0 : (await this.#askDepth()) - this.#stuck
    const heldUp = waiting <= unbegun.length ? Math.min(old, Math.max(0, waiting)) : 0
    return begun + unbegun.length - heldUp
  }

  async #grantBurst(want: number, asker: LineAsker): Promise<Allotment> {
    const { rank, loop } = asker
    if (this.#nowMs() - this.#board.atMs >= (this.#isSlow(loop) ? lookMs : boardMs)) await this.#look()
    if (this.#needsTickets(asker)) return none
    const isStale = this.#burstLeft() === 0 || (this.#isSlow(loop) && this.#hasSent)
    if (isStale && this.#nowMs() < this.#depth.againMs) return none
    if (isStale) await this.#askDepth()
    const isBusy = this.#depth.waiting > this.#stuck
    const count = Math.min(want, isBusy || this.#isSecond(rank) ? this.#assured[rank] : this.#burstLeft())
    if (count > 0) this.#noteSent(count, asker)
    else if (isBusy) this.#askLater()
    return { count, tickets: [] }
  }

  /** Timers go first. */
  #isSecond(rank: Rank): boolean {
    return rank === 'sweep' && this.#asking.timer > 0
  }

  /** Of what may be sent at once if nothing waits. */
  #burstLeft(): number {
    const { waiting, sent } = this.#depth
    return waiting > this.#stuck ? 0 : Math.max(0, burstOf(this.#options.limits, this.#notesMost) - sent)
  }

  async #askDepth(): Promise<number> {
    const waiting = await this.#options.depth()
    this.#waitedMin = Math.min(this.#waitedMin, waiting)
    this.#depth = { waiting, sent: 0, againMs: this.#nowMs() }
    return waiting
  }

  #askLater(): void {
    this.#busyMs = Math.min(busyMsMax, Math.max(lookMs, 2 * this.#busyMs))
    this.#depth = { ...this.#depth, againMs: this.#nowMs() + this.#busyMs }
  }

  #noteSent(count: number, { rank, loop }: Pick<LineAsker, 'rank' | 'loop'>): void {
    this.#hasSent = true
    this.#burstLoops.add(loop)
    this.#busyMs = 0
    this.#assured[rank] = Math.max(0, this.#assured[rank] - count)
    const { waiting, sent } = this.#depth
    const againMs = this.#nowMs() + (this.#isSlow(loop) ? slowLookMs : lookMs)
    this.#depth = { waiting, sent: sent + count, againMs }
  }

  /** What is in hand, and what that says of turns. */
  async #look(): Promise<void> {
    const { inHand, queue } = this.#options
    const seen = await inHand.look(queue)
    const nowMs = this.#nowMs()
    this.#notesMost = [seen.notes, this.#board.notes].reduce((most, one) => (one.length > most.length ? one : most))
    this.#board = { ...seen, atMs: nowMs }
    const slow = [...seen.slowMs].filter(([loop, slowMs]) => slowMs !== this.#paces.get(loop)?.slowMs)
    for (const [loop, slowMs] of slow) this.#paces.set(loop, { quick: 0, seenMs: nowMs, slowMs })
    const ended = this.#endTickets(nowMs)
    const seenQuick = [...ended.map(({ loop }) => loop), ...[...this.#burstLoops].filter((loop) => this.isQuick(loop))]
    const slowLoops = new Set(slow.map(([loop]) => loop))
    for (const loop of seenQuick)
      if (!slowLoops.has(loop)) this.#paces.set(loop, noteQuick(this.#paces.get(loop), nowMs))
    this.#burstLoops.clear()
  }

  /** Those whose turns are over: what was noted is struck. */
  #endTickets(nowMs: number): readonly Ticket[] {
    const noted = new Map(this.#board.notes.map(({ id, untilMs }) => [id, untilMs]))
    const isOver = ({ id, untilMs, hasBegun }: Ticket): boolean => !noted.has(id) && (hasBegun || nowMs < untilMs)
    const [ended, left] = [this.#tickets.filter(isOver), this.#tickets.filter((one) => !isOver(one))]
    const hasBegun = (one: Ticket): boolean => one.hasBegun || (noted.get(one.id) ?? one.untilMs) !== one.untilMs
    this.#tickets = left.map((one) => ({ ...one, hasBegun: hasBegun(one) }))
    return ended
  }

  #pauseMs(asker: LineAsker): number {
    if (!this.#needsTickets(asker)) return Math.max(lookMs / 2, this.#depth.againMs - this.#nowMs())
    const { sentMs = 0 } = this.#tickets.at(-1) ?? {}
    return Math.min(ticketMsMax, Math.max(ticketMsMin, sentMs === 0 ? 0 : (this.#nowMs() - sentMs) / 16))
  }

  #isSlow(loop: string): boolean {
    return this.#nowMs() - (this.#board.slowMs.get(loop) ?? -Infinity) < slowMsMax
  }

  #nowMs(): number {
    return this.#options.clock.nowMs()
  }
}
