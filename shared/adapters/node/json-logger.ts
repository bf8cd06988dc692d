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

/**
 * One JSON object per line: time, level, message, then the fields. No field takes the place of one that is there
 * already: a `name` in a line of a run is told as `fields.name`, beside the name of its object.
 */
export function createJsonLogger(options: JsonLoggerOptions, given: JsonObject = {}): Logger {
  const { write, clock, level } = options
  const fields = besideThose(head, given)
  const set = typeof level === 'string' ? { level } : level
  const log = (of: LogLevel): Logger['debug'] => {
    const index = logLevels.indexOf(of)
    return (message, told = {}) => {
      if (index < logLevels.indexOf(set.level)) return
      const known = { time: microTimestamp(clock.nowMs()), level: of, message, ...fields }
      const more = besideThose(known, typeof told === 'function' ? told() : told)
      write(`${JSON.stringify({ ...known, ...more })}\n`)
    }
  }
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (more) => createJsonLogger(options, { ...fields, ...besideThose(fields, more) }),
  }
}

const head: JsonObject = { time: '', level: '', message: '' }

function besideThose(known: JsonObject, more: JsonObject): JsonObject {
  const isKnown = (name: string): boolean => Object.hasOwn(known, name)
  if (!Object.keys(more).some(isKnown)) return more
  return Object.fromEntries(
    Object.entries(more).map(([name, value]) => [isKnown(name) ? `fields.${name}` : name, value]),
  )
}
