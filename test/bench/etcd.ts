import { execFile, spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cpuMs } from './process-cpu.ts'

/** A bare etcd of one member, on the same disk and without TLS: what Kubernetes writes its objects to. */
export interface Etcd {
  readonly version: string
  measure(clients: number, durationMs: number): Promise<EtcdResult>
  end(): Promise<void>
}

export interface EtcdResult {
  readonly perSecond: number
  readonly serverUs: number
}

const run = promisify(execFile)

/** Starts the etcd that `ETCD` or the path names, and builds its load. Throws what is missing, in words. */
export async function startEtcd(directory: string): Promise<Etcd> {
  const program = process.env['ETCD'] ?? 'etcd'
  const version = await versionOf(program)
  const load = await buildLoad(directory)
  const url = `http://127.0.0.1:${await freePort()}`
  const peerUrl = `http://127.0.0.1:${await freePort()}`
  const child = spawn(program, optionsOf({ directory, url, peerUrl }), { stdio: 'ignore' })
  const exited = new Promise((resolve) => {
    child.once('exit', resolve)
  })
  await healthy(url)
  return {
    version,
    measure: async (clients, durationMs) => {
      const beforeMs = cpuMs(child.pid ?? 0)
      const perSecond = Number((await run(load, [url, String(clients), String(durationMs)])).stdout)
      const puts = (perSecond * durationMs) / 1000
      return { perSecond, serverUs: ((cpuMs(child.pid ?? 0) - beforeMs) / puts) * 1000 }
    },
    end: async () => {
      child.kill()
      await exited
    },
  }
}

function optionsOf({ directory, url, peerUrl }: Readonly<Record<'directory' | 'url' | 'peerUrl', string>>): string[] {
  return Object.entries({
    'data-dir': join(directory, 'etcd'),
    'log-level': 'error',
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
  }).map(([name, value]) => `--${name}=${value}`)
}

async function versionOf(program: string): Promise<string> {
  try {
    const { stdout } = await run(program, ['--version'])
    return /etcd Version: (\S+)/.exec(stdout)?.[1] ?? 'of unknown version'
  } catch {
    throw new Error(`there is no ${program}: install etcd-server, or name the program in ETCD`)
  }
}

async function buildLoad(directory: string): Promise<string> {
  const program = join(directory, 'etcd-puts')
  try {
    await run('go', ['build', '-o', program, '.'], { cwd: fileURLToPath(new URL('etcd-puts', import.meta.url)) })
    return program
  } catch (error) {
    throw new Error(`its load cannot be built: ${(error as Error).message}`, { cause: error })
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

async function healthy(url: string): Promise<void> {
  for (let triesLeft = 100; triesLeft > 0; triesLeft--) {
    const answer = await fetch(`${url}/health`).catch(() => ({ ok: false }))
    if (answer.ok) return
    await pause(100)
  }
  throw new Error('it did not get healthy within ten seconds')
}
