import { dueAtMs } from '../../../model/engine-state.ts'
import type { KindName } from '../../../ports/object-index.ts'
import type { SqliteChangeLog } from './sqlite-change-log.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { openSqliteKinds } from './sqlite-kinds.ts'

/**
 * Whether a timer of this kind can be due by then, out of memory: the soonest one is kept in step with what is
 * committed. A tick of an idle process reads nothing.
 */
export type CanBeDue = (kind: KindName, untilMs: number) => boolean

/** A commit of which nobody knows whether it is there is told to nobody: so the file is asked now and then. */
const keptMs = 60_000

export function createSoonestTimers({
  database,
  changeLog,
}: {
  readonly database: SqliteDatabase
  readonly changeLog: SqliteChangeLog
}): CanBeDue {
  const kinds = openSqliteKinds(database)
  const soonest = database.prepare(
    'SELECT min(next_run_at_ms) AS ms FROM heads WHERE kind = ? AND next_run_at_ms IS NOT NULL',
  )
  const kept = new Map<number, { soonestMs: number; readonly askedMs: number }>()

  changeLog.subscribe(({ kindId, change }) => {
    const known = kept.get(kindId)
    const dueMs = change.type === 'removed' ? undefined : dueAtMs(change.stored.engine)
    if (known !== undefined && dueMs !== undefined && dueMs < known.soonestMs) known.soonestMs = dueMs
  })

  const ask = (kindId: number): number => Number(database.readNow(() => soonest.get(kindId))?.['ms'] ?? Infinity)

  return (kind, untilMs) => {
    const kindId = kinds.find(kind)
    if (kindId === undefined) return false
    const known = kept.get(kindId)
    // A clock may go back, too.
    if (known !== undefined && untilMs < known.soonestMs && Math.abs(untilMs - known.askedMs) < keptMs) return false
    const soonestMs = ask(kindId)
    kept.set(kindId, { soonestMs, askedMs: untilMs })
    return soonestMs <= untilMs
  }
}
