import { execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cpuMs } from '../process-cpu.ts'
import { answers, freePort, type Peer } from './peer.ts'

const run = promisify(execFile)

/**
 * A bare etcd of one member: what Kubernetes writes its objects to. Starts the one that `ETCD` or the path names, and
 * builds its load. Throws what is missing, in words.
 */
export async function startEtcd(directory: string): Promise<Peer> {
  const program = process.env['ETCD'] ?? 'etcd'
  const version = await versionOf(program)
  const load = await buildLoad(directory)
  const url = `http://127.0.0.1:${await freePort()}`
  const peerUrl = `http://127.0.0.1:${await freePort()}`
  const child = spawn(program, optionsOf({ directory, url, peerUrl }), { stdio: 'ignore' })
  const exited = new Promise((resolve) => {
    child.once('exit', resolve)
  })
  await answers(`${url}/health`)
  return {
    name: 'bare etcd',
    unit: 'puts',
    version: `etcd ${version}`,
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
