import { hasCode } from './errors.ts'
import type { Eventual } from './eventual.ts'

/** So often a write is tried while other writers are ahead; then its error is thrown. */
export const newestTriesMax = 10

export interface NewestOptions {
  /** Whether another writer was ahead. Default: a VERSION_CONFLICT. */
  readonly isConflict?: (error: unknown) => boolean
  /** The error in the words of who asked. */
  readonly reword?: (error: unknown) => unknown
}

/**
 * Tries a conditional write on the newest state. `attempt` reads that state itself; it is called again when another
 * writer was ahead (VERSION_CONFLICT), ten times at most. Other errors, and those that `isConflict` does not name, are
 * thrown at once.
 */
export async function onNewest<Result>(
  attempt: (tries: number) => Eventual<Result>,
  { isConflict = isVersionConflict, reword }: NewestOptions = {},
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries)
    } catch (error) {
      if (tries === newestTriesMax || !isConflict(error)) throw reword === undefined ? error : reword(error)
    }
  }
}

function isVersionConflict(error: unknown): boolean {
  return hasCode(error, 'VERSION_CONFLICT')
}

/** Another writer changed the object, or removed it. */
export function isOvertakenWrite(error: unknown): boolean {
  return hasCode(error, 'VERSION_CONFLICT', 'NOT_FOUND')
}
