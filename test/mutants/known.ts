import type { Mutant } from './find-mutants.ts'
import type { KnownSurvivor } from './survivors.ts'

/** Those of a file's mutants that an entry of the survivors stands for. */
export function mutantsOf(
  { path, line, replacement, nth }: KnownSurvivor,
  mutants: readonly Mutant[],
  text: string,
): readonly Mutant[] {
  const some = mutants.filter(
    (one) => one.path === path && one.replacement === replacement && lineOf(text, one.line) === line,
  )
  return nth === undefined ? some : some.slice(nth - 1, nth)
}

function lineOf(text: string, line: number): string {
  return (text.split('\n')[line - 1] ?? '').trim()
}
