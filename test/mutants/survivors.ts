/** Mutants that no test can notice, each with the reason. Found by its file, its line's text and its replacement. */
export interface KnownSurvivor {
  readonly path: string
  /** The line that holds it, without the space around it. */
  readonly line: string
  readonly replacement: string
  /** Why the program does the same with it. */
  readonly why: string
}

export const knownSurvivors: readonly KnownSurvivor[] = [
  {
    path: 'shared/adapters/local/queue/merge-wake-ups.ts',
    line: 'return BigInt(a) >= BigInt(b) ? a : b',
    replacement: '>',
    why: 'of two equal versions either may be kept',
  },
]
