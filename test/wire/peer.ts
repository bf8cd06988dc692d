import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { startProgram } from '../support/program.ts'

/**
 * A server that nobody here wrote, so that what it accepts is not what we believe. It is fetched in a pinned version,
 * and serves on 127.0.0.1, in memory; any credentials will do.
 */
export interface Peer {
  readonly name: string
  readonly version: string
  /** The variable that tells the tests its endpoint; a person may set it to a server of their own. */
  readonly variable: string
  /** Tests outside of test/wire that it is for. */
  readonly tests?: readonly string[]
  /** Puts it into the cache unless it is there. Rejects where that cannot be, with what was tried. */
  fetch(): Promise<void>
  /** It ends with this process at the latest. */
  start(): Promise<RunningPeer>
}

export interface RunningPeer extends AsyncDisposable {
  readonly endpoint: string
}

/** Starts a program that says when it serves, on either output. */
export async function startPeer(
  command: readonly string[],
  options: { readonly says: RegExp; readonly env?: Readonly<Record<string, string>>; readonly endpoint?: string },
): Promise<RunningPeer> {
  const { env = {} } = options
  const program = await startProgram('sh', ['-c', 'exec "$0" "$@" 2>&1', ...command], { env })
  const [, said = ''] = await program.says(options.says, 60_000)
  return { endpoint: options.endpoint ?? said, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() }
}

/** One that was free just now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
