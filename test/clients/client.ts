import type { Ended } from '../support/program.ts'

/** A client that others made, and the program that tries it. */
export interface Client {
  readonly name: string
  /** What is pinned. */
  readonly version: string
  /** Builds it into the cache, once. Rejects, saying what is missing, where that cannot be done. */
  fetch(): Promise<void>
  /** Runs it on a control plane of its own. It ends with 0, or says what failed. */
  run(kubeconfig: string, directory: string): Promise<Ended>
}
