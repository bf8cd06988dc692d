import type { ServerHttp2Stream } from 'node:http2'
import type { HttpResponse } from '../../../ports/http-handler.ts'

type Pieces = Exclude<HttpResponse['body'], string | Uint8Array>

/** Writes the response on its stream. */
export async function respondOn(stream: ServerHttp2Stream, method: string, response: HttpResponse): Promise<void> {
  const { status, headers, body } = response
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  if (stream.destroyed || stream.closed) {
    if (!isWhole) await body[Symbol.asyncIterator]().return?.()
    return
  }
  const isBare = method === 'HEAD' || status === 204 || status === 304
  const length = isWhole && status !== 304 ? { 'content-length': byteLength(body) } : undefined
  stream.respond({ ':status': status, ...headers, ...length }, { endStream: isBare })
  if (isBare && !isWhole) await body[Symbol.asyncIterator]().return?.()
  else if (!isBare && isWhole) stream.end(body)
  else if (!isBare && !isWhole) await sendPieces(stream, body)
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

/** Of one stream so much waits here; each has a window of its own at the client. */
const waitingMax = 16_384

async function sendPieces(stream: ServerHttp2Stream, pieces: Pieces): Promise<void> {
  for await (const piece of pieces) {
    if (stream.destroyed) return
    if (stream.writableLength + piece.length <= waitingMax) stream.write(piece)
    else await new Promise<void>((resolve) => stream.write(piece, () => resolve()))
  }
  if (!stream.destroyed) stream.end()
}
