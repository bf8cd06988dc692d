import { addAbortListener } from 'node:events'
import { Client, type ClientConfig } from 'pg'
import { needsTls } from './transport.ts'

export interface SqlClientOptions {
  readonly config: ClientConfig & { readonly host: string }
  readonly signal: AbortSignal
  /** Told of a failure to connect; throws it in its own words. */
  readonly notConnected: (error: unknown) => never
}

/**
 * Lends a connected client for the time of `use`. When `signal` fires, the connection is cut, and the signal's reason
 * thrown whatever the driver says then.
 */
export async function withClient<T>(
  { config, signal, notConnected }: SqlClientOptions,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  // Whether it is TLS is said, since the driver would otherwise follow PGSSLMODE.
  const client = new Client({ ...config, ssl: needsTls(config.host) })
  // A connection that breaks between two statements says so here; the next statement fails and reports it.
  client.on('error', () => {})
  const aborted = addAbortListener(signal, () => void client.end())
  try {
    await client.connect().catch(notConnected)
    return await use(client)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    aborted[Symbol.dispose]()
    await client.end()
  }
}
