import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../architecture/source.ts'
import { copySources } from '../support/source-copy.ts'
import { applyMutant, type Mutant } from './find-mutants.ts'

/** What the tests made of a mutant. A run that takes too long was brought to stand still by it. */
export type Judgement = 'killed' | 'timed out' | 'survived'

/** A copy of the sources in which one mutant at a time lives. */
export class Judge {
  readonly #copy = copySources('mutants')
  readonly #timeoutMs: number

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Runs the tests that reach the file, until the first one fails. */
  judge(mutant: Mutant): Judgement {
    const path = join(this.#copy.path, mutant.path)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, applyMutant(mutant, text))
    try {
      return this.#run(mutant.path)
    } finally {
      writeFileSync(path, text)
    }
  }

  [Symbol.dispose](): void {
    this.#copy[Symbol.dispose]()
  }

  #run(path: string): Judgement {
    const program = join(root, 'node_modules/vitest/vitest.mjs')
    const args = ['related', path, '--run', '--project', 'pure', '--bail', '1', '--reporter', 'dot']
    const { status, error } = spawnSync(process.execPath, [program, ...args], {
      cwd: this.#copy.path,
      timeout: this.#timeoutMs,
      stdio: 'ignore',
    })
    if (error !== undefined) return 'timed out'
    return status === 0 ? 'survived' : 'killed'
  }
}
