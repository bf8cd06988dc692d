import type { JsonObject } from '../model/json.ts'

/** Structured log lines. Secrets never go in: callers pass keys and reasons, not objects. */
export interface Logger {
  /** What went as it should; off unless somebody asks for it. Fields given as a function are made only then. */
  debug(message: string, fields?: JsonObject | (() => JsonObject)): void
  info(message: string, fields?: JsonObject): void
  warn(message: string, fields?: JsonObject): void
  error(message: string, fields?: JsonObject): void
  /** A logger that adds these fields to every line. */
  with(fields: JsonObject): Logger
}
