import type { ErrorCode } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { RequestHeader } from '../../ports/http-handler.ts'

/** What the server's thread and the handler's tell each other. A request keeps its number until its response is over. */

export type FromServer =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | RequestHead
  | { readonly kind: 'body'; readonly id: number; readonly body: Uint8Array | Failure }
  /** The client has so many characters of a stream more. */
  | { readonly kind: 'taken'; readonly id: number; readonly characters: number }
  /** The client of a stream has left. */
  | { readonly kind: 'unwanted'; readonly id: number }
  /** The client has left, or the server closes: of requests that are followed. */
  | { readonly kind: 'over'; readonly id: number }
  | { readonly kind: 'error'; readonly message: string; readonly fields: JsonObject }

export interface RequestHead {
  readonly kind: 'request'
  readonly id: number
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Partial<Record<RequestHeader, string>>>
  /** Comes along if it is short. */
  readonly body: Uint8Array | Failure | undefined
}

export type FromHandler =
  /** To be told of the body. */
  | { readonly kind: 'read'; readonly id: number; readonly bytesMax: number }
  /** To be told when the request is over. */
  | { readonly kind: 'follow'; readonly id: number }
  | (ResponseHead & { readonly kind: 'response'; readonly body: string | Uint8Array })
  | (ResponseHead & { readonly kind: 'stream' })
  | { readonly kind: 'piece'; readonly id: number; readonly piece: string }
  /** Of a stream; with what broke it off. */
  | { readonly kind: 'end'; readonly id: number; readonly error?: string }
  | { readonly kind: 'close'; readonly deadlineMs: number }

export interface ResponseHead {
  readonly id: number
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** An expected failure as plain data. */
export interface Failure {
  readonly code: ErrorCode
  readonly message: string
}

/** Posts the messages of one turn of the event loop together: what crosses between threads costs by the crossing. */
export function batched<Message>(post: (messages: readonly Message[]) => void): (message: Message) => void {
  let waiting: Message[] = []
  const flush = (): void => {
    const messages = waiting
    waiting = []
    post(messages)
  }
  return (message) => {
    if (waiting.push(message) === 1) setImmediate(flush)
  }
}
