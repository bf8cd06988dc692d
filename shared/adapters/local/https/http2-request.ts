import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { OperatingError } from '../../../model/errors.ts'
import type { ClientCertificate } from '../../../ports/authenticator.ts'
import type { HeaderField, HttpRequest } from '../../../ports/http-handler.ts'
import { BodyPieces } from './body-pieces.ts'
import { fieldsUnder, splitTarget } from './request-head.ts'

interface Http2Exchange {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  /** Names and values by turns. */
  readonly fields: readonly string[]
  readonly certificate: ClientCertificate | undefined
  /** Calls `expire` if the body is waited for in vain; the returned function ends the wait. */
  readonly awaitBody: (expire: () => void) => () => void
  readonly signal: () => AbortSignal
}

/** The request as handlers see it: what few of them look at is made when they do. */
export class Http2Request implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly #queryText: string
  readonly #exchange: Http2Exchange
  #query: URLSearchParams | undefined

  constructor(exchange: Http2Exchange) {
    const { ':method': method = '', ':path': target = '' } = exchange.headers
    const { path, queryText } = splitTarget(target)
    this.method = method
    this.path = path
    this.#queryText = queryText
    this.#exchange = exchange
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.#queryText))
  }

  get certificate(): ClientCertificate | undefined {
    return this.#exchange.certificate
  }

  header(name: string): string | undefined {
    const { headers } = this.#exchange
    const value = headers[name] ?? (name === 'host' ? headers[':authority'] : undefined)
    return Array.isArray(value) ? value.join(', ') : value
  }

  fieldsUnder(prefix: string): readonly HeaderField[] {
    return fieldsUnder(this.#exchange.fields, prefix)
  }

  body(bytesMax: number): Promise<Uint8Array> {
    return readBody(this.#exchange, bytesMax)
  }

  get signal(): AbortSignal {
    return this.#exchange.signal()
  }
}

function readBody({ stream, headers, awaitBody }: Http2Exchange, bytesMax: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): OperatingError =>
      new OperatingError('TOO_LARGE', `Request entity too large: limit is ${bytesMax}`)
    if (Number(headers['content-length'] ?? 0) > bytesMax) return reject(tooLarge())
    if (stream.destroyed || stream.closed) return reject(hasLeft())
    const pieces = new BodyPieces()
    const refuse = (error: OperatingError): void => {
      settle()
      stream.pause()
      reject(error)
    }
    const leave = (): void => refuse(hasLeft())
    const settle = awaitBody(() => refuse(new OperatingError('BAD_REQUEST', 'the body did not come in time')))
    // A client may wait with its body for as long as nobody has told it to send it (RFC 9110 section 10.1.1).
    if (headers.expect?.toLowerCase() === '100-continue') stream.additionalHeaders({ ':status': 100 })
    stream.on('data', (chunk: Buffer) => {
      pieces.add(chunk)
      if (pieces.length > bytesMax) refuse(tooLarge())
    })
    stream.once('end', () => {
      settle()
      stream.off('close', leave)
      resolve(pieces.join())
    })
    stream.once('close', leave)
  })
}

function hasLeft(): OperatingError {
  return new OperatingError('BAD_REQUEST', 'the client left before its body was whole')
}
