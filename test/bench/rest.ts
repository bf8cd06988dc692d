import { join } from 'node:path'
import { slotsBetween, wheelSlot } from '../../shared/model/wheel.ts'
import { connect, requestText } from './connection.ts'
import { cpuMs } from './process-cpu.ts'
import { fillStore, uidOf } from './resting-objects.ts'
import { startPlane, benchDirectory, type Server } from './processes.ts'

/** A process with so many objects at rest, beside one with none. */
export interface RestFigures {
  readonly objects: number
  /** How long it took to put them into the store, which is no part of what is measured. */
  readonly fillSeconds: number
  readonly storeMb: number
  readonly empty: ProcessFigures
  readonly full: ProcessFigures
  /** Since the process began. */
  readonly runs: number
  /** How many objects were due for their resync by then, downtime included. */
  readonly dueRuns: number
  /** Runs that wrote something. */
  readonly writingRuns: number
}

export interface ProcessFigures {
  /** From the start of the process until it takes requests. */
  readonly readySeconds: number
  readonly heapMb: number
  readonly residentMb: number
  /** Of one processor, while nothing happens. */
  readonly cpuShare: number
}

const idleMs = 20_000
const resyncMs = 36_000_000

/**
 * What objects at rest cost the process that keeps them. The store is filled through its adapter, with objects as a
 * process leaves them that has reconciled them all; then the control plane is started over it as `npm start` does.
 */
export async function measureRest(objects: number): Promise<RestFigures> {
  const directory = benchDirectory()
  try {
    const emptyPath = join(directory.path, 'empty')
    await lifeOf(emptyPath)
    const empty = await measureLife(emptyPath)
    const path = join(directory.path, 'full')
    await lifeOf(path)
    const { turnedMs, ...filled } = await fillStore(path, objects)
    const { endMs, ...full } = await measureLife(path)
    return {
      objects,
      ...filled,
      empty: empty.figures,
      ...full,
      full: full.figures,
      dueRuns: due(objects, turnedMs, endMs),
    }
  } finally {
    directory[Symbol.dispose]()
  }
}

/** Starts the control plane and stops it again: kinds, credentials and checkpoints are there. */
async function lifeOf(path: string): Promise<void> {
  const server = await startPlane(path)
  await sleep(2_500)
  await server.end()
}

interface Life {
  readonly figures: ProcessFigures
  readonly runs: number
  readonly writingRuns: number
  readonly endMs: number
}

async function measureLife(path: string): Promise<Life> {
  const startMs = performance.now()
  const server = await startPlane(path)
  const readySeconds = (performance.now() - startMs) / 1_000
  try {
    await sleep(idleMs / 2)
    const cpuBefore = cpuMs(server.pid)
    await sleep(idleMs / 2)
    const cpuShare = (cpuMs(server.pid) - cpuBefore) / (idleMs / 2)
    const value = await metricsOf(server)
    const mb = (name: string): number => value(name) / 2 ** 20
    const figures = {
      readySeconds,
      heapMb: mb('nodejs_heap_size_used_bytes'),
      residentMb: mb('process_resident_memory_bytes'),
      cpuShare,
    }
    return {
      figures,
      runs: value('controller_runtime_reconcile_time_seconds_count{controller="gadget"}'),
      writingRuns: value('setpoint_steady_runs_total{controller="gadget",result="wrote"}'),
      endMs: Date.now(),
    }
  } finally {
    await server.end()
  }
}

async function metricsOf({ ready }: Server): Promise<(series: string) => number> {
  const connection = await connect(ready)
  const { body } = await connection.send(requestText(ready, { method: 'GET', path: '/metrics' }))
  connection.close()
  const lines = body.toString('utf8').split('\n')
  return (series) => {
    const line = lines.find((one) => one.startsWith(`${series} `))
    if (line === undefined) throw new Error(`/metrics has no ${series}`)
    return Number(line.slice(series.length + 1))
  }
}

/** Objects whose slot the wheel passes between two times. */
function due(objects: number, fromMs: number, toMs: number): number {
  const slots = slotsBetween(fromMs, toMs, resyncMs)
  let count = 0
  for (let i = 0; i < objects; i++) {
    const slot = wheelSlot(uidOf(i))
    if (slots.some(({ from, to }) => slot >= from && slot < to)) count++
  }
  return count
}

export function restTable(figures: RestFigures): string {
  const { objects, empty, full } = figures
  const perObject = ((full.residentMb - empty.residentMb) * 2 ** 20) / objects
  const heapPerObject = ((full.heapMb - empty.heapMb) * 2 ** 20) / objects
  const row = (name: string, ...cells: readonly string[]): string =>
    `${name.padEnd(36)}${cells.map((cell) => cell.padStart(16)).join('')}`
  return [
    row('objects at rest', '0', objects.toLocaleString('en'), 'per object'),
    row('ready after, s', empty.readySeconds.toFixed(2), full.readySeconds.toFixed(2)),
    row('heap, MB', empty.heapMb.toFixed(0), full.heapMb.toFixed(0), `${heapPerObject.toFixed(1)} B`),
    row('resident memory, MB', empty.residentMb.toFixed(0), full.residentMb.toFixed(0), `${perObject.toFixed(1)} B`),
    row('processor, % of one', (empty.cpuShare * 100).toFixed(1), (full.cpuShare * 100).toFixed(1)),
    row('runs since the start', '', figures.runs.toLocaleString('en')),
    row('due for their resync by then', '', figures.dueRuns.toLocaleString('en')),
    row('runs that wrote', '', figures.writingRuns.toLocaleString('en')),
    row('file of the store, MB', '', figures.storeMb.toFixed(0)),
    row('(filling it took, s)', '', figures.fillSeconds.toFixed(0)),
    '',
    `About 1 KB each, converged. Looked at for ${idleMs / 1_000} s after the start; no collection of garbage is forced.`,
  ].join('\n')
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
