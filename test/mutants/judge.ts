import { basename } from 'node:path'
import type { Coverage, Chosen } from './coverage.ts'
import type { HostReply, Judged } from './host-messages.ts'
import { memoryMax, type HostProcess, type Limits, type Silence } from './host-process.ts'
import type { Numbered } from './instrument.ts'
import type { Workshop } from './workshop.ts'

/** What the tests made of a mutant. A run that takes too long was brought to stand still by it. */
export type Judgement = 'killed' | 'timed out' | 'survived' | 'unreached'

export interface Verdict {
  readonly judgement: Judgement
  /** The test file that noticed it. */
  readonly by?: string | undefined
}

/** After so many mutants it is another process's turn. */
const tasksMax = 300
/** What a survivor is tried with once more. */
const freshMs = 2_000
const none = -1

export interface JudgeOptions {
  readonly coverage: Coverage
  /** Of the processor, for the tests of one mutant, as long as they take without it. */
  readonly budgetMs: number
  /** How often a test file has noticed a mutant of a source file. */
  readonly killers: Map<string, Map<string, number>>
  readonly all: readonly Numbered[]
}

/**
 * Judges mutants one after the other in a process that stays. A kill counts if the same test passes there without the
 * mutant; what survives is tried once more in a process that loads its modules with the mutant in them.
 */
export class Judge {
  readonly #workshop: Workshop
  readonly #options: JudgeOptions
  #warm: HostProcess | undefined

  constructor(workshop: Workshop, options: JudgeOptions) {
    this.#workshop = workshop
    this.#options = options
  }

  [Symbol.dispose](): void {
    this.#warm?.stop()
  }

  async judge(numbered: Numbered): Promise<Verdict> {
    const verdict = await this.#judge(numbered)
    if (verdict.by !== undefined) {
      const killers = this.#killersOf(numbered)
      killers.set(verdict.by, (killers.get(verdict.by) ?? 0) + 1)
    }
    return verdict
  }

  async #judge(numbered: Numbered): Promise<Verdict> {
    const { id } = numbered
    const chosen = this.#order(numbered, this.#options.coverage.testsOf(id))
    const warm = await this.#judgeWarm(id, within(chosen, this.#options.budgetMs))
    if (warm !== undefined) return warm
    const isLoading = this.#options.coverage.isInLoading(id)
    if (chosen.length === 0 && !isLoading) return { judgement: 'unreached' }
    const others = isLoading ? this.#order(numbered, this.#testsOfFile(numbered)) : chosen
    return (
      (await this.#judgeFresh(id, within(others, isLoading ? this.#options.budgetMs : freshMs))) ?? {
        judgement: 'survived',
      }
    )
  }

  /** Undefined: it has to be tried in a process of its own. */
  async #judgeWarm(id: number, some: readonly Chosen[]): Promise<Verdict | undefined> {
    for (const one of some) {
      const { path, ids, ms } = one
      const host = await this.#warmHost()
      const reply = await host.ask({ do: 'judge', mutant: id, batch: { path, ids } }, limitsOf(ms))
      if (reply === 'hung') return this.#judgeFresh(id, [one])
      const judged = judgedIn(reply)
      if (judged?.killed === false) continue
      if (judged?.isSure === true) return { judgement: 'killed', by: path }
      // The process may remember what the mutant made of it.
      this.#stopWarm()
      return undefined
    }
    return undefined
  }

  /** Undefined: it is not killed by these. */
  async #judgeFresh(id: number, some: readonly Chosen[]): Promise<Verdict | undefined> {
    if (some.length === 0) return undefined
    using host = await this.#workshop.start(id)
    for (const { path, ids, ms } of some) {
      const batch = { path, ids }
      const reply = await host.ask({ do: 'judge', mutant: id, batch }, limitsOf(ms))
      if (judgedIn(reply)?.killed === false) continue
      const warm = await this.#warmHost()
      const without = judgedIn(await warm.ask({ do: 'judge', mutant: none, batch }, limitsOf(ms)))
      if (without?.killed !== false) return undefined
      return { judgement: reply === 'hung' ? 'timed out' : 'killed', by: path }
    }
    return undefined
  }

  async #warmHost(): Promise<HostProcess> {
    if (this.#warm && (this.#warm.tasks >= tasksMax || this.#warm.memory > memoryMax)) this.#stopWarm()
    if (!this.#warm?.isAlive) this.#warm = await this.#workshop.start()
    return this.#warm
  }

  #stopWarm(): void {
    this.#warm?.stop()
    this.#warm = undefined
  }

  /** Tests that come by anything in the file; all that reach it where it does nothing once it is loaded. */
  #testsOfFile({ mutant }: Numbered): readonly Chosen[] {
    const { coverage } = this.#options
    const paths = new Set(this.#idsIn(mutant.path).flatMap((id) => coverage.testsOf(id).map(({ path }) => path)))
    const reaching = paths.size > 0 ? [...paths] : this.#workshop.testsThatReach(mutant.path)
    return reaching.flatMap((path) => coverage.wholeOf(path) ?? [])
  }

  /**
   * The cheapest first; one that comes by much of the source file, or has noticed mutants of it, or has its name may
   * cost more.
   */
  #order(numbered: Numbered, some: readonly Chosen[]): readonly Chosen[] {
    const killers = this.#killersOf(numbered)
    const source = numbered.mutant.path
    const ids = this.#idsIn(source)
    const weightOf = ({ path, ms }: Chosen): number => {
      const share = this.#options.coverage.shareOf(path, ids)
      const likeness = basename(path).split('.')[0] === basename(source, '.ts') ? 20 : 1
      return (ms + 1) / ((1 + 5 * (killers.get(path) ?? 0)) * (0.02 + share ** 3) * likeness)
    }
    return some
      .map((one) => ({ one, weight: weightOf(one) }))
      .toSorted((a, b) => a.weight - b.weight)
      .map(({ one }) => one)
  }

  #idsIn(source: string): readonly number[] {
    return this.#options.all.filter(({ mutant }) => mutant.path === source).map(({ id }) => id)
  }

  #killersOf({ mutant: { path } }: Numbered): Map<string, number> {
    const known = this.#options.killers.get(path) ?? new Map<string, number>()
    this.#options.killers.set(path, known)
    return known
  }
}

/** As many as the time suffices for, and one. */
function within(some: readonly Chosen[], budgetMs: number): readonly Chosen[] {
  let usedMs = 0
  return some.filter(({ ms }) => {
    const isIn = usedMs < budgetMs
    usedMs += ms
    return isIn
  })
}

/** A process that ended has judged nothing. */
function judgedIn(reply: HostReply | Silence): Judged | undefined {
  return typeof reply !== 'string' && 'judged' in reply ? reply.judged : undefined
}

/** The first tests of a process load the modules. */
function limitsOf(ms: number): Limits {
  return { processorMs: 4_000 + 10 * ms, wallMs: 90_000 + 30 * ms }
}
