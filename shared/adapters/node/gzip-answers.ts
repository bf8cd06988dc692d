import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import { pipeline, Readable } from 'node:stream'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http-handler.ts'

/**
 * Long answers compressed for who takes gzip, as Kubernetes does from 128 KiB on, at its level 1. The work is done on
 * Node's other threads. Watches stay as they are: each event is to arrive at once.
 */
export function withGzipAnswers(handler: HttpHandler): HttpHandler {
  return async (request) => {
    const response = await handler(request)
    const { body } = response
    if (isShort(body) || request.method === 'HEAD' || !takesGzip(request) || isWatch(request)) return response
    const headers = { ...response.headers, 'content-encoding': 'gzip', vary: varyOf(response) }
    return { ...response, headers, body: isWhole(body) ? await compress(body, { level }) : compressStream(body) }
  }
}

const shortMax = 128 * 1024
const level = constants.Z_BEST_SPEED
const compress = promisify<string | Uint8Array, { readonly level: number }, Uint8Array>(gzip)

type Body = HttpResponse['body']

function isWhole(body: Body): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

function isShort(body: Body): boolean {
  return isWhole(body) && body.length <= shortMax
}

function isWatch({ query }: HttpRequest): boolean {
  return query.has('watch')
}

function takesGzip(request: HttpRequest): boolean {
  const ranges = (request.header('accept-encoding') ?? '').split(',')
  return ranges.some((range) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(range))
}

function varyOf({ headers }: HttpResponse): string {
  const { vary } = headers
  return vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
}

/** The list is read as the client takes what is compressed of it; a failure on either side ends both. */
function compressStream(body: AsyncIterable<string | Uint8Array>): AsyncIterable<Uint8Array> {
  return pipeline(Readable.from(body, { objectMode: false }), createGzip({ level }), () => {
    // Whoever reads it is told of a failure by the stream itself.
  })
}
