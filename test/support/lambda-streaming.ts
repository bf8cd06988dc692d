import { PassThrough, type Readable } from 'node:stream'

/**
 * `awslambda`, the global that Lambda's Node runtime gives to functions whose answer is a stream. The prelude (status
 * and headers) is kept apart here; on the wire it comes ahead of the body.
 */
export interface StreamedAnswer {
  readonly stream: Readable
  /** Once the function has begun to answer. */
  readonly prelude: Promise<Prelude>
  /** Once the function has ended. */
  readonly ended: Promise<unknown>
}

export interface Prelude {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
}

type StreamingHandler = (event: unknown, stream: PassThrough, context: unknown) => Promise<unknown>

const preludes = new WeakMap<PassThrough, PromiseWithResolvers<Prelude>>()

/** Gives this process the global; ahead of the import of a function that streams. */
export function installStreaming(): void {
  Object.assign(globalThis, { awslambda })
}

const awslambda = {
  streamifyResponse: (handler: StreamingHandler) => async (event: unknown, context: unknown) => {
    const stream = new PassThrough()
    const prelude = Promise.withResolvers<Prelude>()
    preludes.set(stream, prelude)
    const ended = handler(event, stream, context)
    ended.catch(prelude.reject)
    return { stream, prelude: prelude.promise, ended }
  },
  HttpResponseStream: {
    from: (stream: PassThrough, prelude: Prelude) => {
      preludes.get(stream)?.resolve(prelude)
      return stream
    },
  },
}
