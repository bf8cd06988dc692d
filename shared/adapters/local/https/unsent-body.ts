import type { HttpResponse } from '../../../ports/http-handler.ts'

type Body = HttpResponse['body']
type Stream = Exclude<Body, string | Uint8Array>

export function isStream(body: Body): body is Stream {
  return typeof body !== 'string' && !(body instanceof Uint8Array)
}

/**
 * Nobody takes it: a stream that has begun ends. One of Node's is destroyed, since it holds its file from the start:
 * its iterator is a generator, and one that has not begun does nothing when it is returned.
 */
export async function dismiss(body: Body): Promise<void> {
  if (!isStream(body)) return
  if (isDestroyable(body)) body.destroy()
  else await body[Symbol.asyncIterator]().return?.()
}

function isDestroyable(body: Stream): body is Stream & { destroy(): void } {
  return typeof (body as { readonly destroy?: unknown }).destroy === 'function'
}
