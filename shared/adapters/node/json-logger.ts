import type { JsonObject } from '../../model/json.ts'
import { microTimestamp } from '../../model/time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

/** From the least of matters to the gravest. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

export interface JsonLoggerOptions {
  readonly write: (line: string) => void
  readonly clock: Clock
  /** What is less grave is not written. */
  readonly level: LogLevel | LogSwitch
}

/** The least level that is written, which may change while the process runs. */
export interface LogSwitch {
  level: LogLevel
}

/** One JSON object per line: time, level, message, then the fields. */
export function createJsonLogger(options: JsonLoggerOptions, fields: JsonObject = {}): Logger {
  const { write, clock, level } = options
  const set = typeof level === 'string' ? { level } : level
  const log = (of: LogLevel): Logger['debug'] => {
    const index = logLevels.indexOf(of)
    return (message, given) => {
      if (index < logLevels.indexOf(set.level)) return
      const more = typeof given === 'function' ? given() : given
      write(`${JSON.stringify({ time: microTimestamp(clock.nowMs()), level: of, message, ...fields, ...more })}\n`)
    }
  }
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (more) => createJsonLogger(options, { ...fields, ...more }),
  }
}
