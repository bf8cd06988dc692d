import { createRequestParser, type ParserLimits } from '../../../../../shared/adapters/local/https/request-parser.ts'
import type { RequestHead } from '../../../../../shared/adapters/local/https/request-head.ts'

/** A request as the parser has read it; a body that has not ended is not there. */
export interface ParsedRequest {
  readonly head: RequestHead
  readonly body: string | undefined
}

export interface Parsed {
  readonly requests: readonly ParsedRequest[]
  /** The status of the refusal that ended it. */
  readonly refused: number | undefined
}

/** All that the parser reads of these pieces, one character a byte. */
export function parsePieces(pieces: readonly string[], limits?: ParserLimits): Parsed {
  const parser = createRequestParser(limits)
  const requests: { head: RequestHead; body: string | undefined }[] = []
  let body = ''
  let refused: number | undefined
  const take = (): boolean => {
    const event = parser.next()
    const last = requests.at(-1)
    if (event?.type === 'head') {
      requests.push({ head: event.head, body: undefined })
      body = ''
    } else if (event?.type === 'data') body += event.bytes.toString('latin1')
    else if (event?.type === 'end' && last !== undefined) last.body = body
    else if (event?.type === 'refused') refused = event.refusal.status
    return event !== undefined && refused === undefined
  }
  for (const piece of pieces) {
    parser.push(Buffer.from(piece, 'latin1'))
    while (take());
  }
  return { requests, refused }
}
