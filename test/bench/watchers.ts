import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { connect, requestText, type Connection, type Target } from './connection.ts'
import { residentMb } from './memory.ts'
import { cpuMs } from './process-cpu.ts'
import { benchDirectory, startPlane, startServer, type Server } from './processes.ts'
import { maps, type Writing } from './watched-changes.ts'

/** Many watchers of one collection in which something changes all the time. */
export interface WatcherFigures {
  readonly name: string
  readonly watchers: number
  /** Made per second, of as many as were asked for. */
  readonly changesPerSecond: number
  /** Of those, how many each watcher was told per second. */
  readonly eventsPerSecond: number
  /** Of one core, with what the changes cost. */
  readonly cpuShare: number
  /** What a watcher costs at rest: of resident memory, with the buffers of its TLS connection, and of the heap. */
  readonly kbPerWatcher: { readonly resident: number; readonly heap: number }
  /** What is alive on the heap: before the watchers came, while they watch, and when they have gone. */
  readonly heapMb: { readonly before: number; readonly during: number; readonly after: number }
}

const seconds = 10
const settleMs = 5_000

/** The control plane beside the least that a server of Node does for as many connections. */
export async function measureWatchers(watchers: number, changesPerSecond: number): Promise<readonly WatcherFigures[]> {
  const options = { watchers, changesPerSecond }
  return [
    await measureOne('same bytes to each connection', (path) => startServer(bareProgram, path, heapOptions), {
      ...options,
      isWritten: false,
    }),
    await measureOne('Setpoint', (path) => startPlane(path, heapOptions), { ...options, isWritten: true }),
  ]
}

interface Options {
  readonly watchers: number
  readonly changesPerSecond: number
}

const bareProgram = new URL('broadcast.ts', import.meta.url)
const heapOptions = ['--expose-gc']

async function measureOne(
  name: string,
  start: (directory: string) => Promise<Server>,
  { isWritten, ...options }: Options & { readonly isWritten: boolean },
): Promise<WatcherFigures> {
  using directory = benchDirectory()
  const server = await start(join(directory.path, 'data'))
  try {
    return { name, ...options, ...(await watchAll(server, options, isWritten)) }
  } finally {
    await server.end()
  }
}

async function watchAll(
  { pid, ready, heapMb }: Server,
  { watchers, changesPerSecond }: Options,
  isWritten: boolean,
): Promise<Omit<WatcherFigures, 'name' | 'watchers'>> {
  if (isWritten) await change(ready, changesPerSecond, 2)
  await sleep(settleMs)
  const before = { heap: await heapMb(), resident: residentMb(pid) }
  const told = { events: 0 }
  const open = await openAll(ready, watchers, told)
  await sleep(settleMs)
  const atRest = { heap: await heapMb(), resident: residentMb(pid) }
  told.events = 0
  const cpuBefore = cpuMs(pid)
  const startMs = performance.now()
  const made = isWritten ? await change(ready, changesPerSecond, seconds) : changesPerSecond
  if (!isWritten) await sleep(seconds * 1_000)
  const tookMs = performance.now() - startMs
  const kbPerWatcher = (of: keyof typeof atRest): number => ((atRest[of] - before[of]) * 1_024) / watchers
  const figures = {
    changesPerSecond: made,
    eventsPerSecond: told.events / watchers / (tookMs / 1_000),
    cpuShare: (cpuMs(pid) - cpuBefore) / tookMs,
    kbPerWatcher: { resident: kbPerWatcher('resident'), heap: kbPerWatcher('heap') },
  }
  for (const connection of open) connection.close()
  await sleep(settleMs)
  return { ...figures, heapMb: { before: before.heap, during: atRest.heap, after: await heapMb() } }
}

async function openAll(target: Target, count: number, told: { events: number }): Promise<readonly Connection[]> {
  const open: Connection[] = []
  while (open.length < count) {
    const some = await Promise.all(Array.from({ length: Math.min(50, count - open.length) }, () => connect(target)))
    for (const connection of some)
      connection.stream(requestText(target, { method: 'GET', path: `${maps}?watch=1` }), (piece) => {
        for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', at + 1)) told.events++
      })
    open.push(...some)
  }
  return open
}

/** In a thread of its own: this one is busy with what the watchers are told. */
async function change(target: Target, perSecond: number, forSeconds: number): Promise<number> {
  const writer = new Worker(new URL('watched-writer.ts', import.meta.url), {
    workerData: { target, perSecond, forSeconds } satisfies Writing,
  })
  const [made] = (await once(writer, 'message')) as [number]
  return made
}

function sleep(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms))
}

export function watcherTable(figures: readonly WatcherFigures[]): string {
  const head =
    '| | watchers | changes/s | events/s each | of a core | µs an event | KB a watcher, of which heap | heap before · with · after, MB |'
  const rows = figures.map(({ name, watchers, changesPerSecond, eventsPerSecond, cpuShare, kbPerWatcher, heapMb }) => {
    const microseconds = (cpuShare * 1e6) / (eventsPerSecond * watchers)
    const heap = [heapMb.before, heapMb.during, heapMb.after].map((mb) => mb.toFixed(0)).join(' · ')
    const kb = `${kbPerWatcher.resident.toFixed(0)}, ${kbPerWatcher.heap.toFixed(0)}`
    return `| ${name} | ${watchers} | ${changesPerSecond.toFixed(0)} | ${eventsPerSecond.toFixed(0)} | ${(cpuShare * 100).toFixed(0)} % | ${microseconds.toFixed(1)} | ${kb} | ${heap} |`
  })
  return [head, '|---|---|---|---|---|---|---|---|', ...rows].join('\n')
}
