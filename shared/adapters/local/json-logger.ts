import type { JsonObject } from '../../model/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { microTimestamp } from '../../model/time.ts'

/** One JSON object per line: time, level, message, then the fields. */
export function createJsonLogger(write: (line: string) => void, clock: Clock, fields: JsonObject = {}): Logger {
  const log =
    (level: string) =>
    (message: string, more: JsonObject = {}) =>
      write(`${JSON.stringify({ time: microTimestamp(clock.nowMs()), level, message, ...fields, ...more })}\n`)
  return {
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (more) => createJsonLogger(write, clock, { ...fields, ...more }),
  }
}
