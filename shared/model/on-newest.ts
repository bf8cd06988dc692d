import { hasCode } from './errors.ts'

/** So often a write is tried while other writers are ahead; then its error is thrown. */
export const newestTriesMax = 10

/**
 * Tries a conditional write on the newest state. `attempt` reads that state itself; it is called again when another
 * writer was ahead (VERSION_CONFLICT), ten times at most. Other errors, and those that `isConflict` does not name, are
 * thrown at once.
 */
export async function onNewest<Result>(
  attempt: (tries: number) => Promise<Result> | Result,
  isConflict: (error: unknown) => boolean = (error) => hasCode(error, 'VERSION_CONFLICT'),
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(tries)
    } catch (error) {
      if (tries === newestTriesMax || !isConflict(error)) throw error
    }
  }
}

/** Another writer changed the object, or removed it. */
export function isOvertakenWrite(error: unknown): boolean {
  return hasCode(error, 'VERSION_CONFLICT', 'NOT_FOUND')
}
