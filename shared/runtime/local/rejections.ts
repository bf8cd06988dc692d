import { inspect } from 'node:util'
import type { Logger } from '../../ports/logger.ts'

/**
 * Tells of every promise that is rejected while nobody waits for it, where Node would end the process: one reconcile
 * function let go of it, and the runs of all other objects go on.
 */
export function logUnhandledRejections(logger: Pick<Logger, 'error'>): void {
  process.on('unhandledRejection', (reason) => {
    logger.error('unhandled promise rejection: an await is missing', { error: inspect(reason) })
  })
}
