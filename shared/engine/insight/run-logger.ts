import type { JsonObject } from '../../model/json.ts'
import type { Logger } from '../../ports/logger.ts'

/** The logger of one run, which says whose run it is in every line. Who that is, is found out by its first line. */
export class RunLogger implements Logger {
  readonly #logger: Logger
  readonly #identify: () => JsonObject
  #identity: JsonObject | undefined
  #own: Logger | undefined

  constructor(logger: Logger, identify: () => JsonObject) {
    this.#logger = logger
    this.#identify = identify
  }

  debug(message: string, fields?: JsonObject | (() => JsonObject)): void {
    this.#logger.debug(message, () => ({ ...this.#who(), ...(typeof fields === 'function' ? fields() : fields) }))
  }

  info(message: string, fields?: JsonObject): void {
    this.#whose().info(message, fields)
  }

  warn(message: string, fields?: JsonObject): void {
    this.#whose().warn(message, fields)
  }

  error(message: string, fields?: JsonObject): void {
    this.#whose().error(message, fields)
  }

  with(fields: JsonObject): Logger {
    return this.#whose().with(fields)
  }

  #who(): JsonObject {
    return (this.#identity ??= this.#identify())
  }

  #whose(): Logger {
    return (this.#own ??= this.#logger.with(this.#who()))
  }
}
