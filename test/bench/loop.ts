import { join } from 'node:path'
import { startEtcd, type Etcd, type EtcdResult } from './etcd.ts'
import type { CellResult } from './messages.ts'
import { startGenerator, startServer, temporaryDirectory, type Generator } from './processes.ts'
import { openSqliteWrites } from './sqlite-writes.ts'

/** The whole loop from a change to its status, beside what the same machine can do at the best: all of it in turn, `reps` times. */
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
  readonly etcd: EtcdResult | undefined
}

export interface LoopResult {
  readonly samples: readonly LoopSample[]
  readonly etcdVersion: string | undefined
  /** Peers that were asked for and are not there, and why. */
  readonly skipped: readonly string[]
}

const keys = 1_000
const changesMs = 1_500
const limitMs = 1_000

export async function measureLoop({ reps, clients, peers }: LoopOptions): Promise<LoopResult> {
  const directory = temporaryDirectory()
  const skipped: string[] = []
  const etcd = peers ? await orSkipped(startEtcd(directory.path), skipped) : undefined
  const samples: LoopSample[] = []
  try {
    await etcd?.measure(64, limitMs)
    for (let rep = 0; rep < reps; rep++) {
      samples.push(...(await measureOnce({ directory: join(directory.path, `rep-${rep}`), clients, etcd })))
    }
  } finally {
    await etcd?.end()
    directory.remove()
  }
  return { samples, etcdVersion: etcd?.version, skipped }
}

async function orSkipped(starting: Promise<Etcd>, skipped: string[]): Promise<Etcd | undefined> {
  try {
    return await starting
  } catch (error) {
    skipped.push(`etcd: ${(error as Error).message}`)
    return undefined
  }
}

interface Once {
  readonly directory: string
  readonly clients: readonly number[]
  readonly etcd: Etcd | undefined
}

/** Every repetition has processes and data of its own: what one of them was lucky in does not last. */
async function measureOnce({ directory, clients, etcd }: Once): Promise<readonly LoopSample[]> {
  const plane = await startServer(new URL('control-plane.ts', import.meta.url), join(directory, 'plane'))
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
        etcd: await etcd?.measure(count, limitMs),
      })
    }
    return samples
  } finally {
    sqlite.close()
    await Promise.all([generator.end(), plane.end(), echo.end()])
  }
}

const prefix = 'gadget'
const creating = { server: 'plane', verb: 'create' } as const
const updating = { server: 'plane', verb: 'update', prefix } as const
const echoing = { server: 'echo', verb: 'echo', prefix } as const

/** Makes the keys that are updated from then on, and gives compilers the time they need. */
async function warmUp(generator: Generator): Promise<void> {
  await generator.measure({ ...creating, clients: 16, durationMs: 60_000, changesMax: keys, prefix })
  await generator.measure({ ...updating, clients: 64, durationMs: 3_000 })
  await generator.measure({ ...echoing, clients: 64, durationMs: 1_500 })
}
