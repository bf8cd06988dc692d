import type { Duplex } from 'node:stream'
import type { ClientCertificate } from '../../../ports/authenticator.ts'
import type { HttpHandler } from '../../../ports/http-handler.ts'
import type { Logger } from '../../../ports/logger.ts'
import type { HttpTiming } from './listener.ts'
import type { RequestHead } from './request-head.ts'
import type { RequestParser } from './request-parser.ts'

/** What the lean server's connections share. */
export interface Shell {
  readonly handler: HttpHandler
  readonly logger: Logger
  readonly timing: HttpTiming
  readonly connections: Set<Connection>
  /** Seconds that the server has run: what is due is compared with it, so that no request needs a timer. */
  second: number
  /** The text of now, as responses carry it. */
  date: string
  isClosing: boolean
}

/**
 * One client. It has one request at a time: the next is read when the one ahead is answered, however many were
 * sent.
 */
export interface Connection {
  readonly shell: Shell
  /** A TLS socket; tests take others. */
  readonly socket: Duplex
  readonly certificate: ClientCertificate | undefined
  readonly parser: RequestParser
  /** `over` as soon as nothing more is written: the socket may still be open then. */
  phase: 'idle' | 'head' | 'busy' | 'over'
  /** The second by which the client must have sent or taken what is waited for. */
  dueSecond: number
  exchange: Exchange | undefined
}

/** A request that is being answered. */
export interface Exchange {
  readonly head: RequestHead
  /** Whether the body has been read to its end. */
  isWhole: boolean
  /** Whether the client need not be told any more that it may send the body. */
  isContinued: boolean
  /** Of a handler that waits for more of the body. */
  onBytes: (() => void) | undefined
  /** Takes what the client sends over a websocket, should the request become one. */
  hear: ((bytes: Uint8Array) => void) | undefined
  /** Whether it has become one. */
  isSwitched: boolean
  /** Only of a request whose signal was asked for. */
  controller: AbortController | undefined
}

/** Nothing more is written: who waits for the client hears of it. */
export function markOver(connection: Connection): void {
  connection.phase = 'over'
  wake(connection)
  connection.exchange?.controller?.abort(overReason)
}

export function wake({ exchange }: Connection): void {
  const onBytes = exchange?.onBytes
  if (exchange === undefined || onBytes === undefined) return
  exchange.onBytes = undefined
  onBytes()
}

/** A text, since an error would be made with its stack each time. */
export const overReason = 'the request is over'
