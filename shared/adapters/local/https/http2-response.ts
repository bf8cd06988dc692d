import type { ServerHttp2Stream } from 'node:http2'
import type { HttpResponse } from '../../../ports/http-handler.ts'
import { isLong, partsOf } from './response-text.ts'

type Stream = Exclude<HttpResponse['body'], string | Uint8Array>

interface Answer {
  readonly stream: ServerHttp2Stream
  /** Called for each part that the client has taken. */
  readonly onTaken: () => void
}

/** Writes the response on its stream. */
export async function respondOn(answer: Answer, method: string, response: HttpResponse): Promise<void> {
  const { stream } = answer
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
  else if (!isBare && isWhole && !isLong(body)) stream.end(body)
  else if (!isBare && isWhole) await sendPieces(answer, partsOf(body))
  else if (!isBare && !isWhole) await sendPieces(answer, body)
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length
}

/** Of one stream so much waits here; each has a window of its own at the client. */
const waitingMax = 16_384

async function sendPieces({ stream, onTaken }: Answer, pieces: Stream | Iterable<string | Uint8Array>): Promise<void> {
  for await (const piece of pieces)
    for (const part of partsOf(piece)) {
      if (stream.destroyed) return
      if (stream.writableLength + part.length <= waitingMax) stream.write(part, onTaken)
      else {
        await new Promise<void>((resolve) => stream.write(part, () => resolve()))
        onTaken()
      }
    }
  if (!stream.destroyed) stream.end()
}
