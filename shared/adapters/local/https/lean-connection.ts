import type { Duplex } from 'node:stream'
import type { ClientCertificate } from '../../../ports/authenticator.ts'
import { LeanRequest } from './lean-request.ts'
import { respond } from './lean-response.ts'
import { markOver, overReason, wake, type Connection, type Exchange, type Shell } from './lean-state.ts'
import { breakOff, lingerSeconds } from './listener.ts'
import type { RequestRefusal, RequestHead } from './request-head.ts'
import { createRequestParser } from './request-parser.ts'
import { refusalText } from './response-text.ts'

/** Serves one client until it leaves, is too slow, sends what is no request, or the server closes. */
export function serveConnection(shell: Shell, socket: Duplex, certificate?: ClientCertificate): void {
  const connection: Connection = {
    shell,
    socket,
    certificate,
    parser: createRequestParser(),
    phase: 'idle',
    dueSecond: shell.second + shell.timing.requestSeconds,
    exchange: undefined,
  }
  shell.connections.add(connection)
  socket.on('data', (bytes: Buffer) => receive(connection, bytes))
  socket.on('end', () => markOver(connection))
  // What breaks a connection closes it.
  socket.on('error', () => {})
  socket.on('close', () => {
    shell.connections.delete(connection)
    markOver(connection)
  })
  // Its handshake began before the server closed.
  if (shell.isClosing) end(connection)
}

/** More than one request ahead need not wait in our memory. */
const waitingBytesMax = 65_536

function receive(connection: Connection, bytes: Buffer): void {
  const { parser, phase, socket, exchange } = connection
  if (phase === 'over') return
  if (exchange?.isSwitched === true) return exchange.hear?.(bytes)
  parser.push(bytes)
  if (phase !== 'busy') return takeNext(connection)
  if (exchange?.onBytes !== undefined) wake(connection)
  else if (parser.waiting > waitingBytesMax) socket.pause()
}

function takeNext(connection: Connection): void {
  const event = connection.parser.next()
  if (event === undefined) return waitForHead(connection)
  if (event.type === 'refused') return refuse(connection, event.refusal)
  if (event.type === 'head') begin(connection, event.head)
}

function waitForHead(connection: Connection): void {
  const { parser, phase, shell, socket } = connection
  if (socket.isPaused()) socket.resume()
  if (parser.waiting > 0 && phase !== 'head') {
    connection.phase = 'head'
    connection.dueSecond = shell.second + shell.timing.requestSeconds
  } else if (parser.waiting === 0 && phase === 'busy') {
    connection.phase = 'idle'
    connection.dueSecond = shell.second + shell.timing.idleSeconds
  }
}

function begin(connection: Connection, head: RequestHead): void {
  const exchange: Exchange = {
    head,
    isWhole: false,
    isContinued: !head.expectsContinue,
    onBytes: undefined,
    hear: undefined,
    isSwitched: false,
    controller: undefined,
  }
  connection.phase = 'busy'
  connection.dueSecond = Infinity
  connection.exchange = exchange
  void answer(connection, exchange)
}

async function answer(connection: Connection, exchange: Exchange): Promise<void> {
  const { shell, socket } = connection
  try {
    const response = await shell.handler(new LeanRequest(connection, exchange))
    if (connection.phase === 'busy') connection.dueSecond = Infinity
    const keeps = await respond(connection, exchange, response)
    exchange.controller?.abort(overReason)
    connection.exchange = undefined
    if (connection.phase === 'over') return
    if (keeps && !shell.isClosing) takeNext(connection)
    else end(connection)
  } catch (error) {
    // The client sees that the response aborted.
    breakOff(shell.logger, error)
    markOver(connection)
    socket.destroy()
  }
}

function refuse(connection: Connection, { status }: RequestRefusal): void {
  connection.socket.write(refusalText(status), 'latin1')
  end(connection)
}

/**
 * Says the last word and stays to hear the client's: closed with bytes unread, a socket is reset, and the reset may
 * overtake what was written (RFC 9112 section 9.6). What still waits for the client has the time of any answer.
 */
export function end(connection: Connection): void {
  const { shell, socket } = connection
  const { requestSeconds } = shell.timing
  markOver(connection)
  connection.dueSecond = shell.second + requestSeconds
  socket.end(() => {
    connection.dueSecond = shell.second + lingerSeconds
  })
  socket.resume()
}

/** The client has not sent in time what it had to, or has not taken what was sent. */
export function expire(connection: Connection): void {
  const { exchange, parser, phase, socket } = connection
  if (phase === 'over' || socket.writableNeedDrain) socket.destroy()
  else if (exchange !== undefined || parser.waiting > 0) refuse(connection, { status: 408 })
  else end(connection)
}
