import type { ServerHttp2Stream } from 'node:http2'
import type { HttpResponse } from '../../../ports/http-handler.ts'
import { isLong, partsOf } from './response-text.ts'
import { dismiss, isStream } from './unsent-body.ts'

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
  const isWhole = !isStream(body)
  if (stream.destroyed || stream.closed) return dismiss(body)
  const isBare = method === 'HEAD' || status === 204 || status === 304
  const length = isWhole && status !== 304 ? { 'content-length': byteLength(body) } : undefined
  stream.respond({ ':status': status, ...headers, ...length }, { endStream: isBare })
  if (isBare) await dismiss(body)
  else if (isStream(body)) await sendPieces(answer, body)
  else if (isLong(body)) await sendPieces(answer, partsOf(body))
  else stream.end(body)
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
