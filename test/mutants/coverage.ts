import type { Batch, FileRecord } from './host-messages.ts'

/** Tests of one file that come by a mutant, and how long they take without it. */
export interface Chosen extends Batch {
  readonly ms: number
}

/** Which tests come by which mutants. */
export class Coverage {
  readonly #files: ReadonlyMap<string, Covered>
  readonly #loading: Buffer

  constructor(records: readonly FileRecord[], mutants: number) {
    this.#files = new Map(records.map((record) => [record.path, coveredOf(record)]))
    this.#loading = Buffer.alloc(Math.ceil(mutants / 8))
    for (const { loading, around } of this.#files.values())
      addTo(this.#loading, Buffer.from(loading.map((bits, i) => bits & ~(around[i] ?? 0))))
  }

  /** Whether it does something when its module is loaded. */
  isInLoading(mutant: number): boolean {
    return has(this.#loading, mutant)
  }

  /** The cheapest file first. What a suite does around its tests is done for all of them. */
  testsOf(mutant: number): readonly Chosen[] {
    return [...this.#files.values()]
      .flatMap(({ path, aroundMs, around, tests }) => {
        const isAround = has(around, mutant)
        const some = tests.filter(({ reached }) => isAround || has(reached, mutant))
        const ms = some.reduce((sum, test) => sum + test.ms, aroundMs)
        return some.length === 0 ? [] : [{ path, ids: some.map(({ id }) => id), ms }]
      })
      .toSorted((a, b) => a.ms - b.ms)
  }

  /** Of these mutants, the share that any test of a file comes by. */
  shareOf(path: string, mutants: readonly number[]): number {
    const all = this.#files.get(path)?.all
    return all === undefined ? 0 : mutants.filter((mutant) => has(all, mutant)).length / mutants.length
  }

  /** All tests of a file. */
  wholeOf(path: string): Chosen | undefined {
    const file = this.#files.get(path)
    if (file === undefined || file.tests.length === 0) return undefined
    return {
      path,
      ids: file.tests.map(({ id }) => id),
      ms: file.tests.reduce((sum, { ms }) => sum + ms, file.aroundMs),
    }
  }
}

interface Covered {
  readonly path: string
  readonly aroundMs: number
  readonly around: Buffer
  readonly loading: Buffer
  /** Around and in all of its tests. */
  readonly all: Buffer
  readonly tests: readonly { readonly id: string; readonly ms: number; readonly reached: Buffer }[]
}

/** Tests that fail without any mutant say nothing. */
function coveredOf({ path, aroundMs, around, loading, tests }: FileRecord): Covered {
  const passing = tests
    .filter(({ state }) => state === 'pass')
    .map(({ id, ms, reached }) => ({ id, ms, reached: Buffer.from(reached, 'base64') }))
  const all = Buffer.from(around, 'base64')
  for (const { reached } of passing) addTo(all, reached)
  return {
    path,
    aroundMs,
    around: Buffer.from(around, 'base64'),
    loading: Buffer.from(loading, 'base64'),
    all,
    tests: passing,
  }
}

function addTo(sum: Buffer, bits: Buffer): void {
  for (const [i, some] of bits.entries()) sum[i] = (sum[i] ?? 0) | some
}

function has(bits: Buffer, mutant: number): boolean {
  return ((bits[mutant >> 3] ?? 0) & (1 << (mutant & 7))) !== 0
}
