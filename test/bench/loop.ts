import { join } from 'node:path'
import type { CellResult } from './messages.ts'
import { startBullMq } from './peers/bullmq.ts'
import { startEtcd } from './peers/etcd.ts'
import type { Peer, PeerResult } from './peers/peer.ts'
import { startRestate } from './peers/restate.ts'
import { startGenerator, startPlane, startServer, benchDirectory, type Generator } from './processes.ts'
import { openSqliteWrites } from './sqlite-writes.ts'

/**
 * The whole loop from a change to its status, beside what the same machine can do at the best: all of it in turn,
 * `reps` times.
 */
export interface LoopOptions {
  readonly reps: number
  readonly clients: readonly number[]
  readonly peers: boolean
}

/** What was measured at one number of clients in one repetition. */
export interface LoopSample {
  readonly clients: number
  readonly create: CellResult
  readonly update: CellResult
  /** HTTPS with the same JSON, and nothing behind it. */
  readonly echo: CellResult
  /** The same rows in SQLite, changes per second, in commits as large as those of `update` were. */
  readonly sqlitePerSecond: number
  /** By the peer's name. */
  readonly peers: Readonly<Record<string, PeerResult>>
}

export interface LoopResult {
  readonly samples: readonly LoopSample[]
  readonly peers: readonly Pick<Peer, 'name' | 'unit' | 'version'>[]
  /** Peers that were asked for and are not there, and why. */
  readonly skipped: readonly string[]
}

const keys = 1_000
/** After so many changes of a process V8 has compiled what is worth it. Each of the first ten thousand costs more. */
const warmChanges = 20_000
const changesMs = 3_000
const limitMs = 1_500

export async function measureLoop({ reps, clients, peers: wanted }: LoopOptions): Promise<LoopResult> {
  const directory = benchDirectory()
  const skipped: string[] = []
  const peers = wanted ? await startPeers(directory.path, skipped) : []
  const samples: LoopSample[] = []
  try {
    // These go on to the end, so that one time is enough.
    for (const peer of peers) await peer.measure(64, 10 * limitMs)
    for (let rep = 0; rep < reps; rep++) {
      samples.push(...(await measureOnce({ directory: join(directory.path, `rep-${rep}`), clients, peers })))
    }
  } finally {
    await Promise.all(peers.map((peer) => peer.end()))
    directory[Symbol.dispose]()
  }
  return { samples, peers: peers.map(({ name, unit, version }) => ({ name, unit, version })), skipped }
}

const peerStarts = { etcd: startEtcd, BullMQ: startBullMq, Restate: startRestate }

async function startPeers(directory: string, skipped: string[]): Promise<readonly Peer[]> {
  const started: Peer[] = []
  for (const [name, start] of Object.entries(peerStarts)) {
    const peer = await orSkipped(name, start(directory), skipped)
    if (peer !== undefined) started.push(peer)
  }
  return started
}

async function orSkipped(name: string, starting: Promise<Peer>, skipped: string[]): Promise<Peer | undefined> {
  try {
    return await starting
  } catch (error) {
    skipped.push(`${name}: ${(error as Error).message}`)
    return undefined
  }
}

interface Once {
  readonly directory: string
  readonly clients: readonly number[]
  readonly peers: readonly Peer[]
}

/** Every repetition has processes and data of its own: what one of them was lucky in does not last. */
async function measureOnce({ directory, clients, peers }: Once): Promise<readonly LoopSample[]> {
  const plane = await startPlane(join(directory, 'plane'))
  const echo = await startServer(new URL('echo.ts', import.meta.url), join(directory, 'echo'))
  const generator = startGenerator()
  const sqlite = openSqliteWrites(directory)
  try {
    await generator.connect('plane', plane.ready, true)
    await generator.connect('echo', echo.ready, false)
    await warmUp(generator)
    const samples: LoopSample[] = []
    for (const count of clients) {
      const create = await generator.measure({
        ...creating,
        clients: count,
        durationMs: limitMs,
        prefix: `new-${count}`,
      })
      const update = await generator.measure({ ...updating, clients: count, durationMs: changesMs })
      samples.push({
        clients: count,
        create,
        update,
        echo: await generator.measure({ ...echoing, clients: count, durationMs: limitMs }),
        sqlitePerSecond: sqlite.measure(Math.max(1, Math.round(update.eventsTogether)), limitMs),
        peers: await measurePeers(peers, count),
      })
    }
    return samples
  } finally {
    sqlite.close()
    await Promise.all([generator.end(), plane.end(), echo.end()])
  }
}

async function measurePeers(peers: readonly Peer[], clients: number): Promise<LoopSample['peers']> {
  const results: Record<string, PeerResult> = {}
  for (const peer of peers) results[peer.name] = await peer.measure(clients, limitMs)
  return results
}

const prefix = 'gadget'
const creating = { server: 'plane', verb: 'create' } as const
const updating = { server: 'plane', verb: 'update', prefix } as const
const echoing = { server: 'echo', verb: 'echo', prefix } as const

/** Makes the keys that are updated from then on, and gives compilers the time they need. */
async function warmUp(generator: Generator): Promise<void> {
  await generator.measure({ ...creating, clients: 16, durationMs: 60_000, changesMax: keys, prefix })
  await generator.measure({ ...updating, clients: 64, durationMs: 60_000, changesMax: warmChanges })
  await generator.measure({ ...echoing, clients: 64, durationMs: 1_500 })
}
