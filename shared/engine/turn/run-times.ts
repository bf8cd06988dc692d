import { OperatingError } from '../../model/errors.ts'
import { steadyMsOf, type Clock } from '../../ports/clock.ts'

/** A reason made once: without one, every abort would make an error with a stack. */
const timeIsOver = new OperatingError('DEADLINE_EXCEEDED', 'the run is over')

/**
 * The time of the runs of one controller. One timer and one listener serve all runs that are under way: they have the
 * same timeout, so the run that began first is the first one whose time is over.
 */
export class RunTimes {
  readonly #timeoutMs: number
  readonly #clock: Clock
  /** In the order of their ends. */
  readonly #underWay = new Set<RunTime>()
  readonly #heard = new WeakSet<AbortSignal>()
  #timer: AbortController | undefined

  constructor(timeoutMs: number, clock: Clock) {
    this.#timeoutMs = timeoutMs
    this.#clock = clock
  }

  /** The time of a run that begins now. It is over after the timeout, when `stop` aborts, or when the run ends it. */
  begin(stop: AbortSignal): RunTime {
    const time = new RunTime(stop, steadyMsOf(this.#clock) + this.#timeoutMs, this.#clock.nowMs() + this.#timeoutMs)
    this.#underWay.add(time)
    if (this.#timer === undefined) this.#setTimer()
    this.#listen(stop)
    if (stop.aborted) time.expire(stop.reason)
    return time
  }

  /** The run has ended: whatever it left behind is refused. */
  end(time: RunTime): void {
    time.expire(timeIsOver)
    this.#underWay.delete(time)
    if (this.#underWay.size > 0) return
    this.#timer?.abort(timeIsOver)
    this.#timer = undefined
  }

  /** AbortSignal.any would leave a weak reference at `stop` for every run, until garbage is collected. */
  #listen(stop: AbortSignal): void {
    if (this.#heard.has(stop)) return
    this.#heard.add(stop)
    stop.addEventListener('abort', () => {
      for (const time of this.#underWay) if (time.stop === stop) time.expire(stop.reason)
    })
  }

  #setTimer(): void {
    const timer = new AbortController()
    this.#timer = timer
    void this.#expireDue(timer.signal)
  }

  /** Sleeps from one end to the next for as long as runs are under way. */
  async #expireDue(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const nowMs = steadyMsOf(this.#clock)
      let nextMs = this.#timeoutMs
      for (const time of this.#underWay) {
        if (time.endsAtMs > nowMs) {
          nextMs = time.endsAtMs - nowMs
          break
        }
        time.expire(timeIsOver)
      }
      await this.#clock.sleep(nextMs, signal)
    }
  }
}

/** The time of one run. */
export class RunTime {
  readonly stop: AbortSignal
  /** By the clock that only passes. */
  readonly endsAtMs: number
  /** By the clock of people. */
  readonly deadlineMs: number
  #isOver = false
  #reason: unknown
  #controller: AbortController | undefined
  #onOver: (() => void) | undefined

  constructor(stop: AbortSignal, endsAtMs: number, deadlineMs: number) {
    this.stop = stop
    this.endsAtMs = endsAtMs
    this.deadlineMs = deadlineMs
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Why the time is over. */
  get reason(): unknown {
    return this.#reason
  }

  /** Aborts when the time is over. It is made when somebody asks for it, because most runs never do. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isOver) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  throwIfOver(): void {
    if (this.#isOver) throw this.#reason
  }

  /** Calls once the time is over; at once if it is. It serves one caller. */
  onOver(call: () => void): void {
    if (this.#isOver) call()
    else this.#onOver = call
  }

  /** The first reason counts. */
  expire(reason: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#onOver?.()
  }
}
