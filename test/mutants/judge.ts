import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importGraphOf } from '../architecture/circles.ts'
import { root, sourceFiles } from '../architecture/source.ts'
import { copySources } from '../support/source-copy.ts'
import { applyMutant, type Mutant } from './find-mutants.ts'
import { nearestTests } from './nearest-tests.ts'

/** What the tests made of a mutant. A run that takes too long was brought to stand still by it. */
export type Judgement = 'killed' | 'timed out' | 'survived'

/** After so many test files, and after so many, the judge looks whether the mutant is killed already. */
const stages = [8, 40, Infinity]

export interface JudgeOptions {
  /** Of one stage. */
  readonly timeoutMs: number
  /** No tests beyond the first stage: a quick look. A mutant that survives it may be killed by others. */
  readonly near: boolean
}

/** A copy of the sources in which one mutant at a time lives. */
export class Judge {
  readonly #copy = copySources('mutants')
  readonly #graph = importGraphOf(sourceFiles())
  readonly #timeoutMs: number
  readonly #stages: readonly number[]

  constructor({ timeoutMs, near }: JudgeOptions) {
    this.#timeoutMs = timeoutMs
    this.#stages = near ? stages.slice(0, 1) : stages
  }

  /** Runs the tests that reach the file, the nearest first, until one fails. */
  judge(mutant: Mutant): Judgement {
    const path = join(this.#copy.path, mutant.path)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, applyMutant(mutant, text))
    try {
      return this.#judgeInStages(nearestTests(mutant.path, this.#graph))
    } finally {
      writeFileSync(path, text)
    }
  }

  [Symbol.dispose](): void {
    this.#copy[Symbol.dispose]()
  }

  #judgeInStages(tests: readonly string[]): Judgement {
    let from = 0
    for (const to of this.#stages) {
      const some = tests.slice(from, to)
      const judgement = some.length === 0 ? 'survived' : this.#run(some)
      if (judgement !== 'survived') return judgement
      from = to
    }
    return 'survived'
  }

  #run(tests: readonly string[]): Judgement {
    const program = join(root, 'node_modules/vitest/vitest.mjs')
    const args = ['run', ...tests, '--bail', '1', '--reporter', 'dot']
    const { status, error } = spawnSync(process.execPath, [program, ...args], {
      cwd: this.#copy.path,
      // However long the form is in which this was started.
      env: { ...process.env, SETPOINT_TESTS: 'short' },
      timeout: this.#timeoutMs,
      stdio: 'ignore',
    })
    if (error !== undefined) return 'timed out'
    return status === 0 ? 'survived' : 'killed'
  }
}
