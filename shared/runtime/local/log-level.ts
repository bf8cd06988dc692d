import { logLevels, type LogSwitch } from '../../adapters/node/json-logger.ts'
import type { Page, PlaneOperation } from '../../api/call.ts'
import { OperatingError } from '../../model/errors.ts'
import type { HttpHandler } from '../../ports/http-handler.ts'
import type { Logger } from '../../ports/logger.ts'

/** Where the log level is read and set. */
export const logLevelPath = 'log-level'

const type = 'text/plain; charset=utf-8'

export function logLevelPage(set: LogSwitch): Page {
  return { type, text: () => `${set.level}\n` }
}

/** The body is the level, as it is or as a JSON string. It holds until the process ends. */
export function createLogLevelOperation(set: LogSwitch, logger: Logger): PlaneOperation {
  return async (request) => {
    const text = Buffer.from(await request.body(100)).toString('utf8')
    const word = text.trim().replaceAll('"', '')
    const level = logLevels.find((one) => one === word)
    if (level === undefined)
      throw new OperatingError('BAD_REQUEST', `no log level: give one of ${logLevels.join(', ')}`)
    logger.warn('log level changed', { from: set.level, to: level })
    set.level = level
    return { status: 200, headers: { 'content-type': type }, body: `${level}\n` }
  }
}

/** A line for each request, at the level debug; below it, requests pass as they are. */
export function withRequestLog(handler: HttpHandler, set: LogSwitch, logger: Logger): HttpHandler {
  return async (request) => {
    if (set.level !== 'debug') return handler(request)
    const startMs = performance.now()
    const response = await handler(request)
    logger.debug('request', {
      method: request.method,
      path: request.path,
      ...(request.query.has('watch') ? { watch: true } : {}),
      status: response.status,
      ms: Math.round(performance.now() - startMs),
      agent: request.header('user-agent')?.split(' ', 1)[0]?.slice(0, 100) ?? '',
    })
    return response
  }
}
