/**
 * `npm run test:wire`: the tests of test/wire against servers that nobody here wrote, and those that a public document
 * is held against. Fetches each in its pinned version into a cache outside the tree, starts it on 127.0.0.1, runs the
 * tests, and stops it. What cannot be had here is said, and its tests are skipped. Exits 1 if a test failed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { optionsOf } from '../support/command-line.ts'
import { elasticmq } from './elasticmq.ts'
import { konnectDocument } from './konnect-document.ts'
import { localstack } from './localstack.ts'
import { cfnLint, moto, motoOfQueues } from './moto.ts'
import type { Peer, RunningPeer } from './peer.ts'

interface Reached {
  readonly peer: Peer
  /** A person's own server has none. */
  readonly running?: RunningPeer
  readonly endpoint: string
}

async function reach(peer: Peer): Promise<Reached | undefined> {
  const own = process.env[peer.variable]
  if (own !== undefined) return { peer, endpoint: own }
  try {
    await peer.fetch()
    const running = await peer.start()
    return { peer, running, endpoint: running.endpoint }
  } catch (error) {
    console.log(
      `not reachable: ${peer.name} ${peer.version}: ${error instanceof Error ? error.message : String(error)}`,
    )
    return undefined
  }
}

async function runTests(files: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(process.execPath, ['test/run.ts', ...files], {
    stdio: 'inherit',
    // One file at a time: the servers are on the same machine, and tests in real time fail where it does not keep up.
    env: { ...process.env, ...env, VITEST_MAX_WORKERS: '1' },
  })
  const [code] = (await once(child, 'exit')) as [number | null]
  return code ?? 1
}

optionsOf('npm run test:wire', {})
const startMs = performance.now()
const peers = [moto, motoOfQueues, cfnLint, elasticmq, localstack, konnectDocument]
const reached = (await Promise.all(peers.map(reach))).filter((one) => one !== undefined)
for (const { peer, endpoint } of reached) console.log(`runs: ${peer.name} ${peer.version} on ${endpoint}`)

const endpoints = Object.fromEntries(reached.map(({ peer, endpoint }) => [peer.variable, endpoint]))
const files = ['test/wire', ...reached.flatMap(({ peer }) => peer.tests ?? [])]
const code = reached.length === 0 ? 0 : await runTests(files, endpoints)
for (const { running } of reached) await running?.[Symbol.asyncDispose]()

const names = reached.map(({ peer }) => `${peer.name} ${peer.version}`).join(', ')
const seconds = ((performance.now() - startMs) / 1_000).toFixed(0)
console.log(
  `test:wire: ${names === '' ? 'nothing was reachable, nothing was run' : `ran on ${names}`}, in ${seconds} s`,
)
process.exit(code)
