import type { Turn, TurnRunner } from '../../engine/state/turn.ts'
import type { Clock } from '../../ports/clock.ts'
import type { InHand, Rank } from '../../ports/in-hand.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Random } from '../../ports/random.ts'
import { slowMsMax, slowMsMin } from './send-window.ts'

export interface SlowTurnsOptions {
  readonly inHand: InHand
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** The name of a loop's queue. */
  readonly queueNameOf: (loop: string) => string
}

/** A note of this process for all turns of a rank that it has in hand. */
interface Noted {
  readonly id: string
  turns: number
}

/** That a loop is slow is said again so long after. */
const saidMsMax = 5 * 60_000

/**
 * Says of the turns of one process what the tick wants to know: that a sweep with a ticket begins and ends, and which
 * other turns of the background take longer than those that are quick. A quick turn without a ticket costs no request.
 */
export class SlowTurns {
  readonly #options: SlowTurnsOptions
  readonly #noted = new Map<string, Noted>()
  /** When it was said of a loop that it is slow. */
  readonly #saidMs = new Map<string, number>()
  #untilMs = 0

  constructor(options: SlowTurnsOptions) {
    this.#options = options
  }

  /** The invocation is over by then. */
  begin(untilMs: number): void {
    this.#untilMs = untilMs
  }

  watch(loop: string, run: TurnRunner): TurnRunner {
    return async (turn, signal) => {
      const rank = rankOf(turn)
      const tickets = turn.wakeUps.flatMap(({ ticket }) => ticket ?? [])
      if (tickets.length > 0) await this.#runTickets({ loop, rank, tickets }, () => run(turn, signal))
      else if (rank === undefined) await run(turn, signal)
      else await this.#runPlain({ loop, rank }, () => run(turn, signal))
    }
  }

  async #runTickets({ loop, rank, tickets }: Watched & Ticketed, run: () => Promise<void>): Promise<void> {
    const { inHand, clock, queueNameOf } = this.#options
    const queue = queueNameOf(loop)
    const beganMs = clock.nowMs()
    const notes = tickets.map((id) => ({ id, rank: 'sweep', untilMs: this.#untilMs }) as const)
    const noting = inHand.note(queue, notes).catch(this.#logUntold)
    try {
      await run()
    } finally {
      await noting
      const isSlow = rank !== undefined && clock.nowMs() - beganMs > slowMsMin
      await inHand.strike(queue, tickets, isSlow ? [loop] : []).catch(this.#logUntold)
    }
  }

  async #runPlain(watched: Watched & { readonly rank: Rank }, run: () => Promise<void>): Promise<void> {
    const over = new AbortController()
    const noting = this.#noteLate(watched, over.signal).catch(this.#logUntold)
    try {
      await run()
    } finally {
      // Without a reason, every abort makes an error with a stack.
      over.abort('over')
      const noted = await noting
      if (noted !== undefined && --noted.turns === 0) await this.#strike(watched, noted)
    }
  }

  /** A turn that may be quick is noted only when it is not. */
  async #noteLate(watched: Watched & { readonly rank: Rank }, signal: AbortSignal): Promise<Noted | undefined> {
    const { clock } = this.#options
    const saidMs = this.#saidMs.get(watched.loop) ?? -Infinity
    const isSlow = clock.nowMs() - saidMs < slowMsMax
    const early = isSlow ? await this.#note(watched) : undefined
    await clock.sleep(slowMsMin, signal)
    if (signal.aborted || clock.nowMs() - saidMs < saidMsMax) return early
    this.#saidMs.set(watched.loop, clock.nowMs())
    return this.#note(watched, { slowLoop: watched.loop, early })
  }

  async #note(
    { loop, rank }: Watched & { readonly rank: Rank },
    { slowLoop, early }: { readonly slowLoop?: string; readonly early?: Noted | undefined } = {},
  ): Promise<Noted> {
    const { inHand, random, queueNameOf } = this.#options
    const queue = queueNameOf(loop)
    const name = `${rank} ${queue}`
    const known = early ?? this.#noted.get(name)
    const noted = known ?? { id: random.uuid().slice(0, 8), turns: 0 }
    this.#noted.set(name, noted)
    if (early === undefined) noted.turns++
    if (known !== undefined && slowLoop === undefined) return noted
    const note = { id: noted.id, rank, untilMs: this.#untilMs, ...(slowLoop !== undefined && { slowLoop }) }
    await inHand.note(queue, [note]).catch(this.#logUntold)
    return noted
  }

  async #strike({ loop, rank }: Watched, { id }: Noted): Promise<void> {
    const queue = this.#options.queueNameOf(loop)
    this.#noted.delete(`${rank} ${queue}`)
    await this.#options.inHand.strike(queue, [id], []).catch(this.#logUntold)
  }

  readonly #logUntold = (error: unknown): undefined => {
    this.#options.logger.warn('the tick does not know of a turn that is slow', { error: String(error) })
  }
}

interface Watched {
  readonly loop: string
  readonly rank: Rank | undefined
}

interface Ticketed {
  readonly tickets: readonly string[]
}

/** Undefined: a change is in it, which may take as long as it does. */
function rankOf({ wakeUps }: Turn): Rank | undefined {
  if (wakeUps.some(({ lane }) => lane === 'urgent')) return undefined
  return wakeUps.every(({ origin }) => origin === 'timer') ? 'timer' : 'sweep'
}
