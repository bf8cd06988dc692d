import { buildApp } from 'fauxqs'
import { bufferOf, type Transport } from '../../shared/testing-aws/dynalite.ts'

/**
 * The SQS emulator in this process, on 127.0.0.1; its own way to start listens on all interfaces. Its time is
 * `Date.now()`.
 */
export async function startFauxqs(): Promise<AsyncDisposable & { readonly endpoint: string }> {
  const app = buildApp({ logger: false })
  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 })
  return { endpoint, [Symbol.asyncDispose]: () => app.close() }
}

/** The same without a socket: what a client's `requestHandler` can be. */
export function startFauxqsInProcess(): AsyncDisposable & { readonly transport: Transport } {
  const app = buildApp({ logger: false })
  return {
    transport: {
      handle: async ({ method, path, headers, body }) => {
        const {
          statusCode,
          headers: given,
          rawPayload,
        } = await app.inject({
          method: method as 'POST',
          url: path,
          headers: { ...headers },
          payload: bufferOf(body),
        })
        return { response: { statusCode, headers: textHeaders(given), body: rawPayload } }
      },
    },
    [Symbol.asyncDispose]: () => app.close(),
  }
}

function textHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
