import type { JsonObject } from '../../model/json.ts'
import type { Logger } from '../../ports/logger.ts'

/** The logger of one run, which says whose run it is in every line. Made when it first writes: most runs never do. */
export function createRunLogger(logger: Logger, identity: () => JsonObject): Logger {
  let known: JsonObject | undefined
  let made: Logger | undefined
  const who = (): JsonObject => (known ??= identity())
  const own = (): Logger => (made ??= logger.with(who()))
  return {
    debug: (message, fields) =>
      logger.debug(message, () => ({ ...who(), ...(typeof fields === 'function' ? fields() : fields) })),
    info: (message, fields) => own().info(message, fields),
    warn: (message, fields) => own().warn(message, fields),
    error: (message, fields) => own().error(message, fields),
    with: (fields) => own().with(fields),
  }
}
