import type { ClientCertificate } from './authenticator.ts'

/**
 * An HTTP exchange as plain data, so that one API stands behind any server: a shell turns what arrives into a request,
 * and writes the response as it is. A handler never throws: a failure is a response too.
 */
export type HttpHandler = (request: HttpRequest) => Promise<HttpResponse>

export interface HttpRequest {
  readonly method: string
  /** As it stands in the request line: percent-encoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Of the connection. */
  readonly certificate?: ClientCertificate | undefined
  /** By lower-case name. */
  header(name: string): string | undefined
  /** Every line of the head whose name begins so, each apart, by lower-case name. */
  fieldsUnder(prefix: string): readonly HeaderField[]
  /** The whole body, once. Throws TOO_LARGE as soon as it is longer than `bytesMax`. */
  body(bytesMax: number): Promise<Uint8Array>
  /** Where the client asks for a websocket and the connection can become one. */
  readonly websocket?: WebsocketOffer | undefined
  /** Aborts when the client leaves or the server closes: a stream then ends. */
  readonly signal: AbortSignal
}

/** An answer with status 101 takes it: the pieces of its body are frames. Any other answer refuses it. */
export interface WebsocketOffer {
  /** Hands over what the client sends behind the answer, as it comes. Asked for before the answer. */
  hear(onBytes: (bytes: Uint8Array) => void): void
}

export type HeaderField = readonly [name: string, value: string]

export interface HttpResponse {
  readonly status: number
  /** By lower-case name, without the length: the shell knows it. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * A stream is sent piece by piece, the headers ahead of the first, and its iterator is returned when the client
   * leaves.
   */
  readonly body: string | Uint8Array | AsyncIterable<string | Uint8Array>
}
