import type { DatabaseSync } from 'node:sqlite'
import { OperatingError } from '../../../model/errors.ts'
import { isOfOnePlace, isStorageFailure, leavesFateOpen, translateError } from './sqlite-errors.ts'

/**
 * One commit, and so one fsync, for all writers of a turn of the event loop. The writes run when the turn ends, one
 * after the other inside one transaction that opens and closes without a pause: nobody else ever sees rows that are not
 * committed.
 */
export interface GroupCommit {
  /**
   * Runs `work` in the next commit and resolves with its result once that commit is on disk; `onCommit` is called just
   * before, in the order of the writes. An OperatingError thrown by `work` refuses this write alone, and must be thrown
   * before anything is written. `work` may run twice, if another write of its batch broke. When the commit fails, every
   * write of the batch is rejected, UNAVAILABLE or WRITE_UNKNOWN, and nothing of it is visible.
   */
  write<Result>(work: () => Result, onCommit?: (result: Result) => void): Promise<Result>

  /** Commits what waits, at once. */
  flush(): void
}

interface Write {
  /** Returns what to tell the writer once the commit is on disk. */
  readonly run: () => () => void
  readonly reject: (error: unknown) => void
}

/** Bounds the pause that one commit can cause. */
const writesMax = 1_000

export function createGroupCommit(connection: DatabaseSync, file: string): GroupCommit {
  const begin = connection.prepare('BEGIN IMMEDIATE')
  const end = connection.prepare('COMMIT')
  let waiting: Write[] = []

  const commit = (writes: readonly Write[]): void => {
    if (writes.length === 0) return
    const told: (() => void)[] = []
    let running: Write | undefined
    try {
      begin.run()
      for (running of writes) told.push(running.run())
      running = undefined
      end.run()
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK')
      if (running === undefined || (isStorageFailure(error) && !isOfOnePlace(error)))
        return rejectAll(writes, failure(error, running === undefined))
      running.reject(translateError(error, `write to ${file}`))
      return commit(writes.filter((write) => write !== running))
    }
    for (const tell of told) tell()
  }

  const failure = (error: unknown, committing: boolean): unknown => {
    if (!committing || !leavesFateOpen(error)) return translateError(error, `write to ${file}`)
    return new OperatingError('WRITE_UNKNOWN', `commit to ${file} failed: ${(error as Error).message}`, {
      cause: error,
    })
  }

  const commitNext = (): void => {
    const writes = waiting.slice(0, writesMax)
    waiting = waiting.slice(writesMax)
    if (waiting.length > 0) setImmediate(commitNext)
    commit(writes)
  }

  const write: GroupCommit['write'] = (work, onCommit) =>
    new Promise((resolve, reject) => {
      const run = (): (() => void) => {
        const outcome = attempt(work)
        if ('refusal' in outcome) return () => reject(outcome.refusal)
        return () => {
          onCommit?.(outcome.result)
          resolve(outcome.result)
        }
      }
      waiting.push({ run, reject })
      if (waiting.length === 1) setImmediate(commitNext)
    })

  const flush = (): void => {
    while (waiting.length > 0) commitNext()
  }
  return { write, flush }
}

function rejectAll(writes: readonly Write[], error: unknown): void {
  for (const write of writes) write.reject(error)
}

function attempt<Result>(work: () => Result): { readonly result: Result } | { readonly refusal: OperatingError } {
  try {
    return { result: work() }
  } catch (error) {
    if (error instanceof OperatingError) return { refusal: error }
    throw error
  }
}
