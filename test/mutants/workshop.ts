import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importGraphOf } from '../architecture/circles.ts'
import { sourceFiles, type SourceFile } from '../architecture/source.ts'
import { copySources } from '../support/source-copy.ts'
import type { FileRecord } from './host-messages.ts'
import { HostProcess, memoryMax } from './host-process.ts'
import { instrument, type Numbered } from './instrument.ts'
import { testsThatReach } from './tests-that-reach.ts'

/** What a whole test file may take without a mutant. */
const coverLimits = { processorMs: 300_000, wallMs: 600_000 }

/** What all tests may have to do with. */
const isShared = /^(?!test\/(architecture|mutants)\/(?!find|instrument)).*(?<!\.test)\.ts$/

interface CoverOptions {
  readonly hosts: number
  readonly isWanted: (path: string) => boolean
}

/** A copy of the sources with all mutants in it, and what its tests come by. */
export class Workshop {
  readonly #copy = copySources('mutants')
  readonly #files = sourceFiles()
  readonly #graph = importGraphOf(this.#files)
  readonly #mutants: readonly Numbered[]
  /** Where records of tests are kept from run to run, if anywhere. */
  readonly #kept: string

  constructor(mutants: readonly Numbered[], kept: string) {
    this.#mutants = mutants
    this.#kept = kept
    if (kept !== '') mkdirSync(kept, { recursive: true })
    const byPath = Map.groupBy(mutants, ({ mutant }) => mutant.path)
    for (const { path, text } of this.#files) {
      const some = byPath.get(path)
      if (some) writeFileSync(join(this.#copy.path, path), instrument(path, text, some))
    }
  }

  [Symbol.dispose](): void {
    this.#copy[Symbol.dispose]()
  }

  start(mutant?: number): Promise<HostProcess> {
    const options = { directory: this.#copy.path, mutants: this.#mutants.length }
    return HostProcess.start(mutant === undefined ? options : { ...options, mutant })
  }

  /** The test files that reach a source file by their imports. */
  testsThatReach(path: string): readonly string[] {
    return testsThatReach([path], this.#graph)
  }

  /** Runs the tests that reach any of these files without a mutant, so many hosts at a time. */
  async cover(paths: ReadonlySet<string>, { hosts, isWanted }: CoverOptions): Promise<readonly FileRecord[]> {
    const wanted = new Set(testsThatReach(paths, this.#graph).filter(isWanted))
    const shared = digestOf(this.#files.filter(({ path }) => isShared.test(path)))
    const open = this.#files.filter(({ path }) => wanted.has(path)).values()
    const records: FileRecord[] = []
    const work = async (): Promise<void> => {
      using recorder = new Recorder(() => this.start())
      for (const file of open) {
        const at = this.#kept && join(this.#kept, digestOf([{ path: '', text: shared }, file]))
        const known = at && existsSync(at) ? (JSON.parse(readFileSync(at, 'utf8')) as FileRecord) : undefined
        const record = known ?? (await recorder.record(file.path))
        if (record) records.push(record)
        if (at && record && !known) writeFileSync(at, JSON.stringify(record))
      }
    }
    await Promise.all(Array.from({ length: hosts }, work))
    return records
  }
}

/** A process that records what test files do, and another one when it has grown. */
class Recorder {
  readonly #start: () => Promise<HostProcess>
  #host: HostProcess | undefined

  constructor(start: () => Promise<HostProcess>) {
    this.#start = start
  }

  async record(path: string): Promise<FileRecord | undefined> {
    if (this.#host && this.#host.memory > memoryMax) this.#host.stop()
    if (!this.#host?.isAlive) this.#host = await this.#start()
    const reply = await this.#host.ask({ do: 'cover', path }, coverLimits)
    return typeof reply !== 'string' && 'covered' in reply ? reply.covered : undefined
  }

  [Symbol.dispose](): void {
    this.#host?.stop()
  }
}

function digestOf(files: readonly Pick<SourceFile, 'path' | 'text'>[]): string {
  const hash = createHash('sha256')
  for (const { path, text } of files) hash.update(`${path}\0${text}\0`)
  return hash.digest('hex')
}
