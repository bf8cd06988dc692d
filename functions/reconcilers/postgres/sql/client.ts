import { addAbortListener } from 'node:events'
import { Client, type ClientConfig } from 'pg'
import { needsTls } from './transport.ts'

export interface SqlClientOptions {
  readonly config: ClientConfig & { readonly host: string; readonly password: string }
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
  const client = createClient(config)
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

/**
 * A client that answers SCRAM, which tells the server nothing. A server on this machine that asks for the password
 * itself, or for its MD5, is none of ours: somebody else has its port. Over TLS the server has proved who it is, and on
 * RDS a login of an older time may have an MD5 only.
 */
function createClient(config: SqlClientOptions['config']): Client {
  const ssl = needsTls(config.host)
  let refused: string | undefined
  const password = (): string => {
    if (refused === undefined) return config.password
    throw new Error(`the server asks for ${refused}, and not by SCRAM`)
  }
  // Whether it is TLS is said, since the driver would otherwise follow PGSSLMODE.
  const client = new Client({ ...config, password, ssl })
  // Before the driver's own listeners, which ask for the password.
  client.connection.on('authenticationCleartextPassword', () => (refused = 'the password itself'))
  if (!ssl) client.connection.on('authenticationMD5Password', () => (refused = 'the MD5 of the password'))
  return client
}
