import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { ClientCertificate } from '../../../ports/authenticator.ts'
import type { HttpHandler } from '../../../ports/http-handler.ts'
import type { Logger } from '../../../ports/logger.ts'
import { Http2Request } from './http2-request.ts'
import { respondOn } from './http2-response.ts'
import { breakOff, lingerSeconds, type HttpTiming } from './listener.ts'
import { watchUnread } from './unread-answer.ts'

/** Connections on which HTTP/2 was agreed: node:http2 before a handler, with limits on what a client makes it do. */
export interface Http2Sessions {
  serve(socket: TLSSocket, certificate?: ClientCertificate): void
  /** Takes no new requests and ends streams; requests that run finish. */
  close(): void
}

export interface Http2Options {
  readonly handler: HttpHandler
  readonly logger: Logger
  readonly timing: HttpTiming
}

/** As many as kube-apiserver lets a connection have. */
const streamsMax = 250
/** Requests that were reset run on. A client with so many more of them than streams does nothing but open and reset. */
const runningMax = 2 * streamsMax
/** In a second. Clients ask for a sign of life every few seconds, and say their settings once. */
const pingsMax = 100
const settingsMax = 20

const limits = {
  maxHeaderListPairs: 200,
  maxSessionMemory: 64,
  maxSessionInvalidFrames: 100,
  streamResetBurst: 500,
  streamResetRate: 50,
  settings: {
    maxConcurrentStreams: streamsMax,
    maxHeaderListSize: 16_384,
    enablePush: false,
  },
} as const

/** What is known of one connection. */
interface Session {
  readonly session: Http2Session
  readonly socket: TLSSocket
  readonly certificate: ClientCertificate | undefined
  /** Requests that the client waits for, and handlers that run, also for clients that wait no more. */
  open: number
  running: number
  readonly answers: Set<Answer>
  /** The second by which the client must have sent a request, while it has none. */
  dueSecond: number
  /** In this second. */
  pings: number
  settings: number
}

/** Of a stream that is open. */
interface Answer {
  readonly stream: ServerHttp2Stream
  isUnread(): boolean
}

/** For the body of a request. */
interface Wait {
  readonly dueSecond: number
  expire(): void
}

interface State extends Http2Options {
  readonly sessions: Set<Session>
  readonly streams: Set<AbortController>
  readonly waits: Set<Wait>
  second: number
  isClosing: boolean
}

export function createHttp2Sessions(options: Http2Options): Http2Sessions {
  const state: State = {
    ...options,
    sessions: new Set(),
    streams: new Set(),
    waits: new Set(),
    second: 0,
    isClosing: false,
  }
  const server = createServer(limits)
  // What breaks a session closes it.
  server.on('sessionError', () => {})
  const ticking = setInterval(() => tick(state), 1000).unref()
  return {
    serve: (socket, certificate) => {
      const take = (session: Http2Session): void => follow(state, session, { socket, certificate })
      // A session begins within the call, or never: the next one must not get this certificate.
      server.on('session', take)
      try {
        if (!socket.destroyed) server.emit('connection', socket)
      } finally {
        server.off('session', take)
      }
    },
    close: () => {
      state.isClosing = true
      clearInterval(ticking)
      for (const stream of state.streams) stream.abort(overReason)
      for (const { session } of state.sessions) session.close()
    },
  }
}

/** A text, since an error would be made with its stack each time. */
const overReason = 'the request is over'

function follow(state: State, session: Http2Session, of: Pick<Session, 'socket' | 'certificate'>): void {
  const dueSecond = state.second + state.timing.requestSeconds
  const one: Session = {
    session,
    ...of,
    open: 0,
    running: 0,
    answers: new Set(),
    dueSecond,
    pings: 0,
    settings: 0,
  }
  state.sessions.add(one)
  session.on('error', () => {})
  session.on('close', () => state.sessions.delete(one))
  session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, fields: string[]) => {
    begin(state, one, { stream, headers, fields, isWhole: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0 })
  })
  session.on('ping', () => {
    if (++one.pings > pingsMax) calm(one)
  })
  session.on('remoteSettings', () => {
    if (++one.settings > settingsMax) calm(one)
  })
  // Its handshake began before the server closed.
  if (state.isClosing) session.close()
}

/** Ends a connection without waiting for what it is doing, and tells the client why. */
function calm({ session }: Session): void {
  session.destroy(tooMuch, constants.NGHTTP2_ENHANCE_YOUR_CALM)
}

const tooMuch = new Error('the client does what no client needs')

function tick(state: State): void {
  state.second++
  for (const wait of state.waits) if (wait.dueSecond < state.second) wait.expire()
  for (const one of state.sessions) {
    one.pings = 0
    one.settings = 0
    // An answer of which the client takes nothing is given up.
    for (const { stream, isUnread } of one.answers) if (isUnread()) stream.close(constants.NGHTTP2_CANCEL)
    if (one.open > 0 || one.dueSecond >= state.second) continue
    one.session.close()
    // Node waits for the client's end, too, for as long as that takes.
    if (one.dueSecond + lingerSeconds < state.second) one.socket.destroy()
  }
}

interface Arrived {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  /** Names and values by turns. */
  readonly fields: readonly string[]
  /** Whether no body follows. */
  readonly isWhole: boolean
}

function begin(state: State, one: Session, { stream, headers, fields, isWhole }: Arrived): void {
  stream.on('error', () => {})
  // It may have been reset by the same bytes that opened it: whatever is asked of it then throws.
  if (stream.closed) return
  if (one.running >= runningMax) return calm(one)
  if (isTooLong(fields)) return stream.respond({ ':status': 431 }, { endStream: true })
  one.open++
  one.running++
  let controller: AbortController | undefined
  let taken = 0
  const look = () => ({ waiting: stream.writableLength, taken })
  const written: Answer = { stream, isUnread: watchUnread(look, state.timing.requestSeconds) }
  one.answers.add(written)
  stream.once('close', () => {
    one.answers.delete(written)
    if (--one.open === 0) one.dueSecond = state.second + state.timing.idleSeconds
    if (controller === undefined) return
    state.streams.delete(controller)
    controller.abort(overReason)
  })
  const signal = (): AbortSignal => {
    if (controller === undefined) {
      controller = new AbortController()
      if (stream.destroyed || state.isClosing) controller.abort(overReason)
      else state.streams.add(controller)
    }
    return controller.signal
  }
  const request = new Http2Request({
    stream,
    headers,
    fields,
    certificate: one.certificate,
    awaitBody: (expire) => awaitIn(state, expire),
    signal,
  })
  void answer(state, request, { stream, isWhole, onTaken: () => taken++ }).finally(() => one.running--)
}

/** One timer for all who wait. */
function awaitIn(state: State, expire: () => void): () => void {
  const wait: Wait = { dueSecond: state.second + state.timing.requestSeconds, expire }
  state.waits.add(wait)
  return () => state.waits.delete(wait)
}

/** Clients that have not heard of the limit yet may send four times as much. */
function isTooLong(fields: readonly string[]): boolean {
  let length = 0
  for (const text of fields) length += text.length
  return length > limits.settings.maxHeaderListSize
}

interface Answered extends Pick<Arrived, 'stream' | 'isWhole'> {
  /** Called for each part of the answer that the client has taken. */
  readonly onTaken: () => void
}

async function answer({ handler, logger }: State, request: Http2Request, answered: Answered): Promise<void> {
  const { stream, isWhole, onTaken } = answered
  try {
    await respondOn({ stream, onTaken }, request.method, await handler(request))
    if (!isWhole && !stream.readableEnded && !stream.destroyed) leaveRest(stream)
  } catch (error) {
    // The client sees that the response aborted.
    breakOff(logger, error)
    stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
}

/** The answer is whole: the client need not send what is left of the request (RFC 9113 section 8.1). */
function leaveRest(stream: ServerHttp2Stream): void {
  if (stream.writableFinished) stream.close(constants.NGHTTP2_NO_ERROR)
  else stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR))
}
