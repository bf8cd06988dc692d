import { OperatingError } from '../../../model/errors.ts'
import type { ClientCertificate } from '../../../ports/authenticator.ts'
import type { HeaderField, HttpRequest, WebsocketOffer } from '../../../ports/http-handler.ts'
import { BodyPieces } from './body-pieces.ts'
import { overReason, type Connection, type Exchange } from './lean-state.ts'
import { fieldsUnder, fieldValue, splitTarget, type RequestHead } from './request-head.ts'
import { continueText } from './response-text.ts'
import { opensWebsocket } from './websocket-text.ts'

/**
 * The request as handlers see it. What few of them look at is made when they do; a class, since a getter of each
 * object costs a µs.
 */
export class LeanRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly #queryText: string
  readonly #connection: Connection
  readonly #exchange: Exchange
  #query: URLSearchParams | undefined

  constructor(connection: Connection, exchange: Exchange) {
    const { method, target } = exchange.head
    const { path, queryText } = splitTarget(target)
    this.method = method
    this.path = path
    this.#queryText = queryText
    this.#connection = connection
    this.#exchange = exchange
  }

  get query(): URLSearchParams {
    return (this.#query ??= new URLSearchParams(this.#queryText))
  }

  get certificate(): ClientCertificate | undefined {
    return this.#connection.certificate
  }

  header(name: string): string | undefined {
    return fieldValue(this.#exchange.head.fields, name)
  }

  fieldsUnder(prefix: string): readonly HeaderField[] {
    return fieldsUnder(this.#exchange.head.fields, prefix)
  }

  body(bytesMax: number): Promise<Uint8Array> {
    return readBody(this.#connection, this.#exchange, bytesMax)
  }

  get websocket(): WebsocketOffer | undefined {
    const exchange = this.#exchange
    if (!offersWebsocket(exchange.head)) return undefined
    return {
      hear: (onBytes) => {
        exchange.hear = onBytes
      },
    }
  }

  get signal(): AbortSignal {
    this.#exchange.controller ??= newController(this.#connection, this.#exchange)
    return this.#exchange.controller.signal
  }
}

function offersWebsocket({ method, version, body, fields }: RequestHead): boolean {
  if (method !== 'GET' || version !== '1.1' || body !== 0) return false
  return opensWebsocket(fieldValue(fields, 'upgrade'), fieldValue(fields, 'connection'))
}

function newController(connection: Connection, exchange: Exchange): AbortController {
  const controller = new AbortController()
  const isOver = connection.phase === 'over' || connection.exchange !== exchange
  if (isOver || connection.shell.isClosing) controller.abort(overReason)
  return controller
}

async function readBody(connection: Connection, exchange: Exchange, bytesMax: number): Promise<Uint8Array> {
  const { body } = exchange.head
  if (typeof body === 'number' && body > bytesMax) throw tooLarge(bytesMax)
  try {
    return await collectPieces(connection, exchange, bytesMax)
  } finally {
    // The client has no more to send: what follows takes the time that the handler needs.
    if (connection.phase === 'busy' && connection.exchange === exchange) connection.dueSecond = Infinity
  }
}

async function collectPieces(connection: Connection, exchange: Exchange, bytesMax: number): Promise<Uint8Array> {
  const pieces = new BodyPieces()
  while (!exchange.isWhole) {
    const piece = takePiece(connection, exchange)
    if (piece === undefined) await moreBytes(connection, exchange)
    else pieces.add(piece)
    if (pieces.length > bytesMax) throw tooLarge(bytesMax)
  }
  return pieces.join()
}

function tooLarge(bytesMax: number): OperatingError {
  return new OperatingError('TOO_LARGE', `Request entity too large: limit is ${bytesMax}`)
}

/** What has come of the body, empty at its end; `undefined` if nothing has. Throws BAD_REQUEST. */
function takePiece(connection: Connection, exchange: Exchange): Buffer | undefined {
  if (connection.phase === 'over' || connection.exchange !== exchange)
    throw new OperatingError('BAD_REQUEST', 'the client left before its body was whole')
  const event = connection.parser.next()
  if (event === undefined) return undefined
  if (event.type === 'data') return event.bytes
  if (event.type !== 'end')
    throw new OperatingError('BAD_REQUEST', 'the body is not in chunks as HTTP/1.1 defines them')
  exchange.isWhole = true
  return noBytes
}

const noBytes = Buffer.alloc(0)

/** Waits for the client, which is told to go on if it asked, and has a time to do so. */
function moreBytes(connection: Connection, exchange: Exchange): Promise<void> {
  const { shell, socket } = connection
  if (!exchange.isContinued) socket.write(continueText, 'latin1')
  exchange.isContinued = true
  if (connection.dueSecond === Infinity) connection.dueSecond = shell.second + shell.timing.requestSeconds
  if (socket.isPaused()) socket.resume()
  return new Promise((resolve) => {
    exchange.onBytes = resolve
  })
}

/** Whether the body is behind us: what of it nobody has read, and has come, is dropped. */
export function skipBody({ parser }: Connection, exchange: Exchange): boolean {
  while (!exchange.isWhole) {
    const event = parser.next()
    if (event === undefined || event.type === 'refused') return false
    exchange.isWhole = event.type === 'end'
  }
  return true
}
