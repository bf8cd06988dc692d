import { steadyMsOf, type Clock } from '../ports/clock.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../ports/http-handler.ts'
import { withHeader } from './reply.ts'

/**
 * Tells a client that sends the header `Server-Timing` how long its answer took here, in milliseconds: until the last
 * byte is known, or of a stream the first. Who does not ask pays for one look at the head.
 */
export function withServerTiming(handler: HttpHandler, clock: Clock): HttpHandler {
  const time = async (request: HttpRequest): Promise<HttpResponse> => {
    const startMs = steadyMsOf(clock)
    const response = await handler(request)
    return withHeader(response, 'server-timing', `total;dur=${(steadyMsOf(clock) - startMs).toFixed(2)}`)
  }
  return (request) => (request.header('server-timing') === undefined ? handler(request) : time(request))
}
