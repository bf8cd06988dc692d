import { Worker } from 'node:worker_threads'
import { OperatingError } from '../../model/errors.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http-handler.ts'
import { batched, type Failure, type FromHandler, type FromServer, type RequestHead } from './http-thread-messages.ts'
import { tooLarge, type NodeHttpServer, type NodeHttpServerOptions } from './node-http-server.ts'

/**
 * The HTTPS server in a thread of its own, and the handler in this one: TLS and HTTP take a quarter of the time of a change, and
 * nobody waits for a client here. Behaves as `startNodeHttpServer` does; what it costs is a few µs a request, and some 50 µs
 * until the other thread sees it. (docs/decisions/0021)
 */
export async function startHttpThread({ handler, logger, ...address }: NodeHttpServerOptions): Promise<NodeHttpServer> {
  const worker = new Worker(new URL('./http-thread-server.ts', import.meta.url), { workerData: address })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  const post = batched<FromHandler>((messages) => worker.postMessage(messages))
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const answer = createAnswers(handler, post)
  const url = await new Promise<string>((resolve, reject) => {
    const take = (message: FromServer): void => {
      if (message.kind === 'listening') resolve(message.url)
      else if (message.kind === 'refused') reject(errorOf(message.failure))
      else if (message.kind === 'error') logger.error(message.message, message.fields)
      else answer(message)
    }
    worker.on('message', (messages: readonly FromServer[]) => {
      for (const message of messages) take(message)
    })
  })
  return {
    url,
    close: async (deadlineMs) => {
      post({ kind: 'close', deadlineMs })
      await exited
    },
  }
}

/** The requests that are not over, by their numbers. */
function createAnswers(handler: HttpHandler, post: (message: FromHandler) => void) {
  const bodies = new Map<number, PromiseWithResolvers<Uint8Array>>()
  const followed = new Map<number, AbortController>()
  const rooms = new Map<number, Room>()

  const bodyOf =
    ({ id, body }: RequestHead): HttpRequest['body'] =>
    async (bytesMax) => {
      if (body !== undefined) return whole(body, bytesMax)
      const coming = Promise.withResolvers<Uint8Array>()
      bodies.set(id, coming)
      post({ kind: 'read', id, bytesMax })
      return coming.promise
    }

  const follow = (id: number): AbortController => {
    const known = followed.get(id)
    if (known !== undefined) return known
    const controller = new AbortController()
    followed.set(id, controller)
    post({ kind: 'follow', id })
    return controller
  }

  const requestOf = (head: RequestHead): HttpRequest => ({
    method: head.method,
    path: head.path,
    query: new URLSearchParams(head.query),
    header: (name) => head.headers[name],
    body: bodyOf(head),
    get signal() {
      return follow(head.id).signal
    },
  })

  /** Takes the next piece when the client has room for it. */
  const sendPieces = async (id: number, pieces: AsyncIterable<string>): Promise<void> => {
    const room = createRoom()
    rooms.set(id, room)
    try {
      for await (const piece of pieces) {
        post({ kind: 'piece', id, piece })
        if (!(await room.take(piece.length))) break
      }
      post({ kind: 'end', id })
    } catch (error) {
      broke(id, error)
    } finally {
      rooms.delete(id)
    }
  }

  const broke = (id: number, error: unknown): void =>
    post({ kind: 'end', id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })

  const respond = (id: number, { status, headers, body }: HttpResponse): void => {
    if (typeof body === 'string' || body instanceof Uint8Array) {
      post({ kind: 'response', id, status, headers, body })
    } else {
      post({ kind: 'stream', id, status, headers })
      void sendPieces(id, body)
    }
  }

  return (message: Exclude<FromServer, { readonly kind: 'listening' | 'refused' | 'error' }>): void => {
    const { id } = message
    switch (message.kind) {
      case 'request':
        return void handler(requestOf(message)).then(
          (response) => respond(id, response),
          (error: unknown) => broke(id, error),
        )
      case 'body':
        settle(bodies.get(id), message.body)
        return void bodies.delete(id)
      case 'taken':
        return rooms.get(id)?.add(message.characters)
      case 'unwanted':
        return rooms.get(id)?.close()
      case 'over':
        followed.get(id)?.abort()
        return void followed.delete(id)
    }
  }
}

function whole(body: Uint8Array | Failure, bytesMax: number): Uint8Array {
  if (!(body instanceof Uint8Array)) throw errorOf(body)
  if (body.length > bytesMax) throw tooLarge(bytesMax)
  return body
}

function settle(coming: PromiseWithResolvers<Uint8Array> | undefined, body: Uint8Array | Failure): void {
  if (body instanceof Uint8Array) coming?.resolve(body)
  else coming?.reject(errorOf(body))
}

function errorOf({ code, message }: Failure): OperatingError {
  return new OperatingError(code, message)
}

/** How much of a stream may be under way to the client. */
interface Room {
  /** Waits until there is room for more; false: nobody wants more. */
  take(characters: number): Promise<boolean>
  add(characters: number): void
  close(): void
}

const underWayMax = 256 * 1024

function createRoom(): Room {
  let left = underWayMax
  let goOn = (): void => {}
  const add = (characters: number): void => {
    left += characters
    if (left > 0) goOn()
  }
  return {
    take: async (characters) => {
      left -= characters
      while (left <= 0) await new Promise<void>((resolve) => (goOn = resolve))
      return left < Infinity
    },
    add,
    close: () => add(Infinity),
  }
}
