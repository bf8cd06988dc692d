import { basename } from 'node:path'
import type { Coverage, Chosen } from './coverage.ts'
import type { HostReply, HostTask, Judged } from './host-messages.ts'
import { memoryMax, type HostProcess, type Limits, type Silence } from './host-process.ts'
import type { Numbered } from './instrument.ts'
import { isNear } from './room.ts'
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
  /** Of the processor, for tests of one mutant from outside its room, as long as they take without it. */
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
    const { coverage, budgetMs } = this.#options
    const chosen = this.#order(numbered, coverage.testsOf(id), budgetMs)
    const warm = await this.#judgeWarm(id, chosen)
    if (warm !== undefined) return warm
    const isLoading = numbered.mutant.isAtLoad || coverage.isInLoading(id)
    if (chosen.length === 0 && !isLoading) return { judgement: 'unreached' }
    const others = isLoading ? this.#order(numbered, this.#testsOfFile(numbered), budgetMs) : within(chosen, freshMs)
    return (await this.#judgeFresh(id, others)) ?? { judgement: 'survived' }
  }

  /** Undefined: it has to be tried in a process of its own. */
  async #judgeWarm(id: number, some: readonly Chosen[]): Promise<Verdict | undefined> {
    for (const one of some) {
      const host = await this.#warmHost()
      const reply = await host.ask(taskOf(id, one), limitsOf(one.ms))
      if (reply === 'hung') return this.#judgeFresh(id, [one])
      const judged = judgedIn(reply)
      if (judged?.killed === false) continue
      if (judged?.isSure === true) return { judgement: 'killed', by: one.path }
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
    for (const one of some) {
      const reply = await host.ask(taskOf(id, one), limitsOf(one.ms))
      if (judgedIn(reply)?.killed === false) continue
      const warm = await this.#warmHost()
      const without = judgedIn(await warm.ask(taskOf(none, one), limitsOf(one.ms)))
      if (without?.killed !== false) return undefined
      return { judgement: reply === 'hung' ? 'timed out' : 'killed', by: one.path }
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

  /**
   * Tests that come by anything in the file, and those of its room that reach it: a constant may be for other files.
   * All that reach it where it does nothing once it is loaded.
   */
  #testsOfFile({ mutant }: Numbered): readonly Chosen[] {
    const { coverage } = this.#options
    const reaching = this.#workshop.testsThatReach(mutant.path)
    const paths = new Set(this.#idsIn(mutant.path).flatMap((id) => coverage.testsOf(id).map(({ path }) => path)))
    if (paths.size > 0) for (const path of reaching.filter((one) => isNear(one, mutant.path))) paths.add(path)
    return [...(paths.size > 0 ? paths : reaching)].flatMap((path) => coverage.wholeOf(path) ?? [])
  }

  /**
   * All unit tests of its room, then as many others as there is time for. Of each the cheapest first; one that comes by
   * much of the source file, or has noticed mutants of it, or has its name may cost more.
   */
  #order(numbered: Numbered, some: readonly Chosen[], budgetMs: number): readonly Chosen[] {
    const [near, far] = [true, false].map((is) =>
      some.filter(({ path }) => isNear(path, numbered.mutant.path) === is),
    ) as [Chosen[], Chosen[]]
    return [...this.#cheapestFirst(numbered, near), ...within(this.#cheapestFirst(numbered, far), budgetMs)]
  }

  #cheapestFirst(numbered: Numbered, some: readonly Chosen[]): readonly Chosen[] {
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

/** What waits for something that never comes is given up soon: most tests take milliseconds. */
function taskOf(mutant: number, { path, ids, ms }: Chosen): HostTask {
  return { do: 'judge', mutant, batch: { path, ids }, timeoutMs: 4_000 + 10 * ms }
}

/** The first tests of a process load the modules. */
function limitsOf(ms: number): Limits {
  return { processorMs: 4_000 + 10 * ms, wallMs: 40_000 + 30 * ms }
}
