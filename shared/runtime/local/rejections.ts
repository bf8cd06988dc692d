import { hasCode, OperatingError } from '../../model/errors.ts'
import type { Logger } from '../../ports/logger.ts'

/**
 * Tells of every promise that is rejected while nobody waits for it, where Node would end the process: one reconcile
 * function let go of it, and the runs of all other objects go on. The message of the error is not told, because nobody
 * knows which run it is of, and so not which values of Secrets may be in it.
 */
export function logUnhandledRejections(logger: Pick<Logger, 'error'>): void {
  process.on('unhandledRejection', (reason) => {
    logger.error('unhandled promise rejection: an await is missing', { error: describeRejection(reason) })
  })
}

/** What kind of error it is, and where it was made. */
export function describeRejection(reason: unknown): string {
  if (!(reason instanceof Error)) return `a value that is no Error, but ${reason === null ? 'null' : typeof reason}`
  const { constructor, stack = '' } = reason
  return [`${constructor.name}${ownWords(reason)}`, ...framesOf(reason, stack)].join('\n')
}

/** A call that comes too late says of which object it is, in the engine's own words. */
function ownWords(error: Error): string {
  return error instanceof OperatingError && hasCode(error, 'DEADLINE_EXCEEDED') ? `: ${error.message}` : ''
}

/** The lines below the message, which may have lines of its own. */
function framesOf({ message }: Error, stack: string): readonly string[] {
  const at = stack.indexOf(message)
  const below = at < 0 ? stack : stack.slice(at + message.length)
  return below.split('\n').filter((line) => frame.test(line))
}

const frame = /^ {4}at .*(?::\d+:\d+\)?|\(<anonymous>\)|\(native\))$/
