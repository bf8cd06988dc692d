/** What the judge says to a host, and what that answers. */
export type HostTask =
  | { readonly do: 'cover'; readonly path: string }
  /** `timeoutMs`: of one test or hook. */
  | { readonly do: 'judge'; readonly mutant: number; readonly batch: Batch; readonly timeoutMs: number }

/** Tests of one file. */
export interface Batch {
  readonly path: string
  readonly ids: readonly string[]
}

export type HostReply =
  | { readonly ready: true }
  | { readonly covered: FileRecord }
  | { readonly judged: Judged }
  | { readonly broken: string }

export interface Judged {
  readonly killed: boolean
  /** The same test passes without the mutant in the same process. */
  readonly isSure: boolean
}

export interface RunResult {
  /** The test, suite or file. */
  readonly failed?: string
}

/** What a test file does without a mutant. Which mutants are come by is a bit each, in base64. */
export interface FileRecord extends RunResult {
  readonly path: string
  readonly aroundMs: number
  readonly around: string
  /** When modules were loaded: such a mutant needs a process of its own. */
  readonly loading: string
  readonly tests: readonly TestRecord[]
}

export interface TestRecord {
  readonly id: string
  readonly state: string
  readonly ms: number
  readonly reached: string
}
