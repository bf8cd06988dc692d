import { buildApp } from 'fauxqs'

/** The SQS emulator in this process, on 127.0.0.1; its own way to start listens on all interfaces. Its time is `Date.now()`. */
export async function startFauxqs(): Promise<AsyncDisposable & { readonly endpoint: string }> {
  const app = buildApp({ logger: false })
  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 })
  return { endpoint, [Symbol.asyncDispose]: () => app.close() }
}
