import type { JsonObject } from '../../model/json.ts'
import type { Logger } from '../../ports/logger.ts'
import type { RunLine } from '../../ports/run-history.ts'
import type { SecretValues } from './secret-values.ts'

export interface RunLoggerOptions {
  readonly identify: () => JsonObject
  readonly secrets: () => SecretValues | undefined
  /** Told of each line but those for debugging, as it is logged. */
  readonly keep?: (line: Omit<RunLine, 'atMs'>) => void
}

/**
 * The logger of one run, which says whose run it is in every line. Who that is, is found out by its first line. What
 * the run says in a line is told without the values of its Secrets.
 */
export class RunLogger implements Logger {
  readonly #logger: Logger
  readonly #identify: () => JsonObject
  readonly #secrets: () => SecretValues | undefined
  readonly #keep: RunLoggerOptions['keep']
  #identity: JsonObject | undefined
  #own: Logger | undefined

  constructor(logger: Logger, { identify, secrets, keep }: RunLoggerOptions) {
    this.#keep = keep
    this.#logger = logger
    this.#identify = identify
    this.#secrets = secrets
  }

  debug(message: string, fields?: JsonObject | (() => JsonObject)): void {
    const given = (): JsonObject | undefined => (typeof fields === 'function' ? fields() : fields)
    this.#logger.debug(this.#text(message), () => ({ ...this.#who(), ...this.#fields(given()) }))
  }

  info(message: string, fields?: JsonObject): void {
    this.#say('info', message, fields)
  }

  warn(message: string, fields?: JsonObject): void {
    this.#say('warn', message, fields)
  }

  error(message: string, fields?: JsonObject): void {
    this.#say('error', message, fields)
  }

  with(fields: JsonObject): Logger {
    return new LoggerWithFields(this, fields)
  }

  #say(level: RunLine['level'], message: string, fields: JsonObject | undefined): void {
    const line = { level, message: this.#text(message) }
    const told = this.#fields(fields)
    this.#keep?.(told === undefined ? line : { ...line, fields: told })
    this.#whose()[level](line.message, told)
  }

  #text(message: string): string {
    return this.#secrets()?.mask(message) ?? message
  }

  #fields(fields: JsonObject | undefined): JsonObject | undefined {
    return fields && (this.#secrets()?.maskJson(fields) ?? fields)
  }

  #who(): JsonObject {
    return (this.#identity ??= this.#identify())
  }

  #whose(): Logger {
    return (this.#own ??= this.#logger.with(this.#who()))
  }
}

/** Its fields go through the run's logger with every line: a value in them may become known between two lines. */
class LoggerWithFields implements Logger {
  readonly #logger: Logger
  readonly #fields: JsonObject

  constructor(logger: Logger, fields: JsonObject) {
    this.#logger = logger
    this.#fields = fields
  }

  debug(message: string, fields?: JsonObject | (() => JsonObject)): void {
    this.#logger.debug(message, () => ({ ...this.#fields, ...(typeof fields === 'function' ? fields() : fields) }))
  }

  info(message: string, fields?: JsonObject): void {
    this.#logger.info(message, { ...this.#fields, ...fields })
  }

  warn(message: string, fields?: JsonObject): void {
    this.#logger.warn(message, { ...this.#fields, ...fields })
  }

  error(message: string, fields?: JsonObject): void {
    this.#logger.error(message, { ...this.#fields, ...fields })
  }

  with(fields: JsonObject): Logger {
    return new LoggerWithFields(this.#logger, { ...this.#fields, ...fields })
  }
}
