/**
 * `npm run clients -- NAME …` and `npm run clients -- all`: clients that others made against control planes of their
 * own. Each is fetched in its pinned version into a cache outside the tree. What cannot be had here is said and left
 * out. Exits 1 if a client failed, and says the request and the answer.
 */
import { startControlPlane } from '../support/control-plane-process.ts'
import { optionsOf, refuse } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { Client } from './client.ts'
import { clients } from './clients.ts'

type Result = 'passed' | 'failed' | 'left out'

async function tryClient(client: Client): Promise<Result> {
  const title = `${client.name} (${client.version})`
  try {
    await client.fetch()
  } catch (error) {
    console.log(`${title}: left out: ${error instanceof Error ? error.message : String(error)}`)
    return 'left out'
  }
  using directory = temporaryDirectory('clients')
  await using plane = await startControlPlane()
  const startMs = performance.now()
  const { code, stdout, stderr } = await client.run(plane.kubeconfig, directory.path)
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1)
  const lines = stdout.split('\n').filter((line) => /^(ok|failed|refused):/.test(line))
  console.log([`${title}:`, ...lines].join('\n  '))
  if (code !== 0) console.log(`${stdout.slice(-1_000)}\n${stderr.slice(-3_000)}`)
  console.log(`${title}: ${code === 0 ? 'passed' : `FAILED with ${code}`} in ${seconds} s`)
  return code === 0 ? 'passed' : 'failed'
}

const { positionals } = optionsOf(`npm run clients -- all|${clients.map(({ name }) => name).join('|')}`, {
  allowPositionals: true,
})
const isAll = positionals.includes('all')
const unknown = positionals.filter((name) => name !== 'all' && !clients.some((client) => client.name === name))
if (positionals.length === 0 || unknown.length > 0)
  refuse(`say which: all, ${clients.map(({ name }) => name).join(', ')}`)
const results: Result[] = []
for (const client of clients) if (isAll || positionals.includes(client.name)) results.push(await tryClient(client))
const count = (wanted: Result): number => results.filter((result) => result === wanted).length
console.log(`clients: ${count('passed')} passed, ${count('failed')} failed, ${count('left out')} left out`)
process.exit(count('failed') === 0 ? 0 : 1)
