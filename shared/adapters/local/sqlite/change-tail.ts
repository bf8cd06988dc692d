import { objectText } from '../../../model/object-text.ts'
import type { Change, ChangeBatch } from '../../../ports/change-feed.ts'
import type { SqliteChangeLog } from './sqlite-change-log.ts'

const bufferedMax = 1_000
const bufferedCharactersMax = 1_000_000
const quietMax = 1_000

/** The changes that are committed from now on, in a buffer that gives up when it is full. */
export interface Tail {
  /** What was committed since the last call, or what is committed next. Undefined: aborted, or too much to keep. */
  next(signal: AbortSignal): Promise<ChangeBatch | undefined>
  end(): void
}

export function followTail(changeLog: SqliteChangeLog, matches: (kindId: number) => boolean): Tail {
  let buffered: Change[] = []
  let characters = 0
  let full = false
  let seen = changeLog.latest()
  let told = seen
  let wake: (() => void) | undefined

  const isDue = (): boolean => full || buffered.length > 0 || seen - told >= quietMax

  const keep = (change: Change): void => {
    buffered.push(change)
    characters += objectText(change.stored.object).length
    // One change alone may be larger.
    full = buffered.length > 1 && (buffered.length > bufferedMax || characters > bufferedCharactersMax)
    if (full) buffered = []
  }

  const end = changeLog.subscribe(({ rv, kindId, change }) => {
    seen = rv
    if (!full && matches(kindId)) keep(change)
    if (isDue()) wake?.()
  })

  const due = async (signal: AbortSignal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = () => resolve()
    signal.addEventListener('abort', wake)
    await promise
    signal.removeEventListener('abort', wake)
    wake = undefined
  }

  const take = (): ChangeBatch => {
    const batch = { changes: buffered, resourceVersion: String(seen) }
    buffered = []
    characters = 0
    told = seen
    return batch
  }

  const next: Tail['next'] = async (signal) => {
    if (!isDue() && !signal.aborted) await due(signal)
    return full || signal.aborted ? undefined : take()
  }

  return { next, end }
}
