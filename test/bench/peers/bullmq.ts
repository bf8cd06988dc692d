import { execFile, fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cpuMs } from '../process-cpu.ts'
import type { BullMq, BullMqQueue } from './bullmq-api.ts'
import { closedLoop } from './closed-loop.ts'
import { freePort, loadPeer, peerFile, type Peer } from './peer.ts'

/**
 * BullMQ over a Redis that syncs its log with every command, as everything here does: a job for each change, and its
 * result is the status. A worker as a process of its own runs 64 at once, one per key. Throws what is missing, in
 * words.
 */
export async function startBullMq(directory: string): Promise<Peer> {
  const file = peerFile('bullmq')
  peerFile('ioredis')
  await promisify(execFile)('redis-server', ['--version']).catch(() => {
    throw new Error('there is no redis-server: install it')
  })
  const { Queue, QueueEvents } = loadPeer(file) as BullMq
  const port = await freePort()
  const redis = startRedis(join(directory, 'redis'), port)
  const worker = fork(new URL('bullmq-worker.ts', import.meta.url), [file, String(port)])
  await once(worker, 'message')
  const connection = { host: '127.0.0.1', port }
  const queue = new Queue('gadgets', { connection })
  const events = new QueueEvents('gadgets', { connection })
  await events.waitUntilReady()
  const completed = new Map<string, () => void>()
  events.on('completed', ({ jobId }) => completed.get(jobId)?.())
  return {
    name: 'BullMQ',
    unit: 'converged',
    version: `BullMQ ${versionBeside(file)}, appendfsync always`,
    measure: (clients, durationMs) => measure({ queue, completed, servers: [redis, worker] }, clients, durationMs),
    end: async () => {
      await queue.close()
      await events.close()
      await Promise.all([worker, redis].map(ended))
    },
  }
}

interface Running {
  readonly queue: BullMqQueue
  /** Who waits for which job. */
  readonly completed: Map<string, () => void>
  readonly servers: readonly ChildProcess[]
}

let jobs = 0

async function measure({ queue, completed, servers }: Running, clients: number, durationMs: number) {
  const used = (): number => servers.reduce((sum, { pid = 0 }) => sum + cpuMs(pid), 0)
  const [startMs, before] = [performance.now(), used()]
  const done = await closedLoop(clients, durationMs, async (change) => {
    const jobId = `job-${++jobs}`
    const end = new Promise<void>((resolve) => completed.set(jobId, resolve))
    await queue.add('change', change, { jobId, removeOnComplete: true })
    await end
    completed.delete(jobId)
  })
  return { perSecond: (done / (performance.now() - startMs)) * 1_000, serverUs: ((used() - before) / done) * 1_000 }
}

function startRedis(directory: string, port: number): ChildProcess {
  mkdirSync(directory, { recursive: true })
  const options = { port, dir: directory, bind: '127.0.0.1', appendonly: 'yes', appendfsync: 'always', save: '' }
  return spawn(
    'redis-server',
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    { stdio: 'ignore' },
  )
}

async function ended(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.kill()
  await exit
}

/** The entry file is somewhere below the package's own manifest. */
function versionBeside(file: string): string {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>
      if (name === 'bullmq') return version ?? ''
    } catch {
      continue
    }
  }
  return 'of unknown version'
}
