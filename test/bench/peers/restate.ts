import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { dirname, join } from 'node:path'
import { cpuMs } from '../process-cpu.ts'
import { closedLoop } from './closed-loop.ts'
import { answers, freePort, peerFile, type Peer } from './peer.ts'

/**
 * Restate with one virtual object for each key: the change is a call of it, its state is the status, and its reply says
 * that both are durable. Four partitions, which suit a small machine better than its default. Throws what is missing,
 * in words.
 */
export async function startRestate(directory: string): Promise<Peer> {
  const sdk = peerFile('@restatedev/restate-sdk')
  const program = peerFile('@restatedev/restate-server/lib/index.js')
  const ports = {
    ingress: await freePort(),
    admin: await freePort(),
    node: await freePort(),
    service: await freePort(),
  }
  const server = spawn(process.execPath, [program, '--base-dir', join(directory, 'restate')], {
    stdio: 'ignore',
    env: { ...process.env, ...settings(ports) },
    detached: true,
  })
  await answers(`http://127.0.0.1:${ports.admin}/health`)
  const service = fork(new URL('restate-service.ts', import.meta.url), [sdk, String(ports.service)], {
    env: { ...process.env, NODE_ENV: 'production', RESTATE_LOGGING: 'ERROR' },
  })
  await once(service, 'message')
  await register(ports)
  const agent = new Agent({ keepAlive: true })
  const call = (key: string, text: string) => converge({ agent, port: ports.ingress }, key, text)
  return {
    name: 'Restate',
    unit: 'converged',
    version: `Restate ${versionOf(program)}`,
    measure: (clients, durationMs) => measure([...family(server), service.pid ?? 0], call, { clients, durationMs }),
    end: async () => {
      agent.destroy()
      await ended(service, () => service.kill())
      await ended(server, () => process.kill(-(server.pid ?? 0)))
    },
  }
}

type Ports = Readonly<Record<'ingress' | 'admin' | 'node' | 'service', number>>

function settings({ ingress, admin, node }: Ports): NodeJS.ProcessEnv {
  return {
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_DEFAULT_NUM_PARTITIONS: '4',
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LOG_FILTER: 'error',
    SCARF_ANALYTICS: 'false',
  }
}

async function register({ admin, service }: Ports): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${service}` }),
  })
  if (!reply.ok) throw new Error(`it does not take our service: ${await reply.text()}`)
}

interface Ingress {
  readonly agent: Agent
  readonly port: number
}

function converge({ agent, port }: Ingress, key: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': body.length }
    const asked = request({ agent, host: '127.0.0.1', port, method: 'POST', path: `/Gadget/${key}/converge`, headers })
    asked.once('response', (reply) => {
      reply
        .resume()
        .once('end', () => (reply.statusCode === 200 ? resolve() : reject(new Error(`${reply.statusCode}`))))
    })
    asked.once('error', reject).end(body)
  })
}

async function measure(
  pids: readonly number[],
  call: (key: string, text: string) => Promise<void>,
  { clients, durationMs }: { readonly clients: number; readonly durationMs: number },
) {
  const used = (): number => pids.reduce((sum, pid) => sum + cpuMs(pid), 0)
  const [startMs, before] = [performance.now(), used()]
  const done = await closedLoop(clients, durationMs, ({ key, text }) => call(key, text))
  return { perSecond: (done / (performance.now() - startMs)) * 1_000, serverUs: ((used() - before) / done) * 1_000 }
}

/** The launcher and the server it has started. */
function family({ pid = 0 }: ChildProcess): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return [pid, ...children.split(' ').filter(Boolean).map(Number)]
}

async function ended(child: ChildProcess, kill: () => void): Promise<void> {
  const exit = once(child, 'exit')
  kill()
  await exit
}

function versionOf(program: string): string {
  const manifest = join(dirname(dirname(program)), 'package.json')
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}
