import { createServer, type AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Another system under the same load, on the same disk and without TLS. */
export interface Peer {
  readonly name: string
  readonly version: string
  /** What one of its changes is. */
  readonly unit: string
  measure(clients: number, durationMs: number): Promise<PeerResult>
  end(): Promise<void>
}

export interface PeerResult {
  readonly perSecond: number
  /** CPU time of all its processes in µs for each change. */
  readonly serverUs: number
}

/**
 * Where peers from npm are looked for. They are no dependencies of ours: whoever wants to see them installs them there.
 */
const peersDirectory = process.env['BENCH_PEERS'] ?? join(homedir(), '.cache', 'setpoint-peers')

/** A file of a package in that directory. Throws what to install, in words. */
export function peerFile(specifier: string): string {
  try {
    return createRequire(join(peersDirectory, 'package.json')).resolve(specifier)
  } catch {
    throw new Error(`it is not there: npm install --prefix ${peersDirectory} ${specifier}`)
  }
}

/** What a package of that directory exports. */
export function loadPeer(file: string): unknown {
  return createRequire(import.meta.url)(file)
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** Waits until the address answers, for ten seconds at most. */
export async function answers(url: string): Promise<void> {
  for (let triesLeft = 100; triesLeft > 0; triesLeft--) {
    const answer = await fetch(url).catch(() => ({ ok: false }))
    if (answer.ok) return
    await pause(100)
  }
  throw new Error(`${url} did not answer within ten seconds`)
}
