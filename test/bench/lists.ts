import { request } from 'node:https'
import { join } from 'node:path'
import { collection } from './changes.ts'
import type { Target } from './connection.ts'
import { peakMb, residentMb, resetPeak } from './memory.ts'
import { benchDirectory, startPlane, startServer, type Server } from './processes.ts'
import { fillStore } from './resting-objects.ts'
import { serverHalfOf } from './server-half.ts'

/** One list of everything, read whole by one client. */
export interface ListFigures {
  readonly name: string
  readonly objects: number
  readonly mb: number
  readonly seconds: number
  /** What the server needed beyond what it had before: its peak, the first time and when it has done so before. */
  readonly addedMb: { readonly first: number; readonly again: number }
}

/** The control plane beside a server that has the same bytes at hand, and beside another commit if one is named. */
export async function measureLists(objects: number, against: string | undefined): Promise<readonly ListFigures[]> {
  using directory = benchDirectory()
  const data = join(directory.path, 'data')
  await (await startPlane(data)).end()
  await fillStore(data, objects)
  const figures = [
    await measureOne(
      'same bytes, made one after the other',
      () => startServer(bareProgram, join(data, 'bare')),
      objects,
    ),
    await measureOne('Setpoint', () => startPlane(data), objects),
  ]
  if (against === undefined) return figures
  using half = serverHalfOf(against, directory.path)
  return [...figures, await measureOne(`Setpoint at ${against}`, () => startServer(half.program, data), objects)]
}

const bareProgram = new URL('list-bytes.ts', import.meta.url)

async function measureOne(name: string, start: () => Promise<Server>, objects: number): Promise<ListFigures> {
  const started = await start()
  try {
    await sleep(settleMs)
    const first = await readList(started, objects)
    await sleep(settleMs)
    const again = await readList(started, objects)
    return {
      name,
      objects,
      mb: again.mb,
      seconds: again.seconds,
      addedMb: { first: first.addedMb, again: again.addedMb },
    }
  } finally {
    await started.end()
  }
}

const settleMs = 3_000

async function readList(
  { pid, ready }: Server,
  objects: number,
): Promise<{ mb: number; seconds: number; addedMb: number }> {
  resetPeak(pid)
  const before = residentMb(pid)
  const startMs = performance.now()
  const bytes = await download(ready, `${collection}?objects=${objects}`)
  const seconds = (performance.now() - startMs) / 1_000
  return { mb: bytes / 2 ** 20, seconds, addedMb: peakMb(pid) - before }
}

/** How many bytes the body has. Throws if the status is not 200. */
function download({ port, authority, token }: Target, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, ca: authority, headers: { authorization: `Bearer ${token}` } }
    const asked = request(options, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`GET ${path}: ${response.statusCode}`))
      let bytes = 0
      response.on('data', (piece: Buffer) => (bytes += piece.length))
      response.once('end', () => resolve(bytes))
      response.once('error', reject)
    })
    asked.once('error', reject)
    asked.end()
  })
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export function listTable(figures: readonly ListFigures[]): string {
  const head = '| | objects | MB | seconds | memory added, MB: first · again |'
  const rows = figures.map(
    ({ name, objects, mb, seconds, addedMb: { first, again } }) =>
      `| ${name} | ${objects} | ${mb.toFixed(0)} | ${seconds.toFixed(2)} | ${first.toFixed(0)} · ${again.toFixed(0)} |`,
  )
  return [head, '|---|---|---|---|---|', ...rows].join('\n')
}
