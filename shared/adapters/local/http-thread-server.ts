import { parentPort, workerData } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { InvariantError, OperatingError } from '../../model/errors.ts'
import { requestHeaders, type HttpRequest, type HttpResponse } from '../../ports/http-handler.ts'
import { batched, type Failure, type FromHandler, type FromServer, type RequestHead } from './http-thread-messages.ts'
import { startNodeHttpServer, type NodeHttpServer, type NodeHttpServerOptions } from './node-http-server.ts'

/** The thread of `startHttpThread`: the server, before a handler that asks the other thread. */

const port = parentPort as MessagePort
const post = batched<FromServer>((messages) => port.postMessage(messages))

interface Open {
  readonly request: HttpRequest
  readonly answer: PromiseWithResolvers<HttpResponse>
  stream?: Pieces
}

const open = new Map<number, Open>()
let requests = 0

/** Longer ones stay here until somebody wants to read them. */
const shortBody = 64 * 1024

const handler = async (request: HttpRequest): Promise<HttpResponse> => {
  const id = ++requests
  const head = await headOf(id, request)
  const answer = Promise.withResolvers<HttpResponse>()
  open.set(id, { request, answer })
  post(head)
  return answer.promise
}

async function headOf(id: number, request: HttpRequest): Promise<RequestHead> {
  const { method, path, query, header } = request
  const headers: Partial<Record<string, string>> = {}
  for (const name of requestHeaders) {
    const value = header(name)
    if (value !== undefined) headers[name] = value
  }
  const isShort = Number(header('content-length') ?? Infinity) <= shortBody
  const body = isShort ? await bodyOf(request, shortBody) : undefined
  return { kind: 'request', id, method, path, query: query.toString(), headers, body }
}

/** A copy: Node's buffers are parts of larger ones, and what is posted is posted whole. */
async function bodyOf(request: HttpRequest, bytesMax: number): Promise<Uint8Array | Failure> {
  return request.body(bytesMax).then((bytes) => Uint8Array.from(bytes), failureOf)
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof OperatingError)) throw error
  return { code: error.code, message: error.message }
}

function take(message: Exclude<FromHandler, { readonly kind: 'close' }>): void {
  const { id } = message
  const one = open.get(id)
  switch (message.kind) {
    case 'read':
      return void (one && bodyOf(one.request, message.bytesMax).then((body) => post({ kind: 'body', id, body })))
    case 'follow':
      return one === undefined ? post({ kind: 'over', id }) : follow(id, one.request.signal)
    case 'response':
      open.delete(id)
      return one?.answer.resolve(message)
    case 'stream':
      if (one !== undefined) one.stream = createPieces(id)
      return one?.answer.resolve({ ...message, body: one.stream?.all() ?? '' })
    case 'piece':
      return one?.stream?.add(message.piece)
    case 'end':
      open.delete(id)
      // Without a stream, what broke is the handler.
      if (one?.stream === undefined) return one?.answer.reject(new InvariantError(message.error))
      return one.stream.end(message.error)
  }
}

function follow(id: number, signal: AbortSignal): void {
  const over = (): void => post({ kind: 'over', id })
  if (signal.aborted) over()
  else signal.addEventListener('abort', over, { once: true })
}

/** The pieces of a stream that have come and not gone. */
interface Pieces {
  add(piece: string): void
  end(error?: string): void
  all(): AsyncIterable<string>
}

function createPieces(id: number): Pieces {
  const pieces: string[] = []
  let over: { readonly error: string | undefined } | undefined
  let goOn = (): void => {}
  async function* all(): AsyncGenerator<string> {
    try {
      while (over === undefined || pieces.length > 0) {
        for (const piece of pieces.splice(0)) {
          yield piece
          post({ kind: 'taken', id, characters: piece.length })
        }
        if (over === undefined && pieces.length === 0) await new Promise<void>((resolve) => (goOn = resolve))
      }
      if (over.error !== undefined) throw new InvariantError(over.error)
    } finally {
      if (over === undefined) post({ kind: 'unwanted', id })
    }
  }
  return {
    add: (piece) => {
      pieces.push(piece)
      goOn()
    },
    end: (error) => {
      over = { error }
      goOn()
    },
    all,
  }
}

async function close(server: NodeHttpServer, deadlineMs: number): Promise<void> {
  await server.close(deadlineMs)
  // What was posted last is on its way before the thread ends.
  setImmediate(() => setImmediate(() => port.close()))
}

try {
  const address = workerData as Omit<NodeHttpServerOptions, 'handler' | 'logger'>
  const logger = { error: (message: string, fields = {}) => post({ kind: 'error', message, fields }) }
  const server = await startNodeHttpServer({ ...address, handler, logger })
  port.on('message', (messages: readonly FromHandler[]) => {
    for (const message of messages) {
      if (message.kind === 'close') void close(server, message.deadlineMs)
      else take(message)
    }
  })
  post({ kind: 'listening', url: server.url })
} catch (error) {
  post({ kind: 'refused', failure: failureOf(error) })
}
