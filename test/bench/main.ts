import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { accessTable, measureAccess } from './access.ts'
import { againstTable, measureAgainst } from './against.ts'
import { engineTable, measureEngine } from './engine.ts'
import { keysTable, measureKeys } from './keys.ts'
import { listTable, measureLists } from './lists.ts'
import { measureLoop } from './loop.ts'
import { loopFigures, loopTable } from './loop-report.ts'
import { measureRest, restTable } from './rest.ts'
import { measureSchema, schemaTable } from './schema.ts'
import { measureWatchers, watcherTable } from './watchers.ts'

/**
 * `npm run bench`: how many changes per second converge, how long each takes and what it costs, beside what the same
 * machine does at the best in the same run. Every reply of 2xx is on disk (fsync) before it is sent, here and in what
 * stands beside it.
 *
 *     npm run bench -- [--reps N] [--clients 1,16,64] [--peers] [--json]
 *     npm run bench -- --engine [--json]      what the engine alone adds to each reconcile
 *     npm run bench -- --schema [--json]      what it costs to know that an object is as its schema wants it
 *     npm run bench -- --rest [N] [--json]    what N objects at rest cost, 1,000,000 if not said
 *     npm run bench -- --watchers [N] [--json]  what N watchers cost at 100 changes/s, 1,000 if not said
 *     npm run bench -- --lists [N] [--against COMMIT]   what a list of N objects costs in memory, 100,000 if not said
 *     npm run bench -- --access [--reps N]    what roles and records of requests cost, over N starts
 *     npm run bench -- --keys N [--reps N]    changes of N keys in turn, beside 1,000
 *     npm run bench -- --against COMMIT [--reps N] [--clients 1,64]   by turns with the server of another commit
 */
const { values, positionals } = optionsOf('npm run bench -- [objects at rest]', {
  allowPositionals: true,
  options: {
    engine: { type: 'boolean', default: false },
    schema: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    watchers: { type: 'boolean', default: false },
    lists: { type: 'boolean', default: false },
    access: { type: 'boolean', default: false },
    keys: { type: 'string' },
    against: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    reps: { type: 'string', default: '3' },
    clients: { type: 'string', default: '1,16,64' },
    peers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})

const startMs = performance.now()
const [count] = positionals
const reps = wholeNumber('--reps', values.reps, 1)
const clients = values.clients.split(',').map((text) => wholeNumber('--clients', text, 1))
const durationMs = 1_000 * wholeNumber('--seconds', values.seconds, 1)
if (await measurePart()) process.exit(0)

/** Measures what one of the options names; false if none does. */
async function measurePart(): Promise<boolean> {
  const { keys, against } = values
  if (values.engine) report(await measureEngine(), engineTable)
  else if (values.schema) report(measureSchema(), schemaTable)
  else if (values.rest) report(await measureRest(wholeNumber('--rest', count ?? '1000000', 1)), restTable)
  else if (values.watchers)
    report(await measureWatchers(wholeNumber('--watchers', count ?? '1000', 1), 100), watcherTable)
  else if (values.lists) report(await measureLists(wholeNumber('--lists', count ?? '100000', 1), against), listTable)
  else if (values.access)
    report(await measureAccess({ starts: reps, rounds: 240, clients: 32, requests: 256 }), accessTable)
  else if (keys !== undefined) report(await measureKeys({ ...keysAsked(keys), reps, durationMs }), keysTable)
  else if (against !== undefined)
    report(await measureAgainst({ commit: against, reps, clients, keys: 1_000, durationMs }), againstTable)
  else return false
  return true
}

function keysAsked(text: string) {
  return { keys: [1_000, wholeNumber('--keys', text, 1)], clients: Math.max(...clients) }
}

const result = await measureLoop({
  reps,
  clients,
  peers: values.peers,
})
const figures = loopFigures(result)
const seconds = Math.round((performance.now() - startMs) / 1000)
if (values.json) console.log(JSON.stringify({ ...provenance(), figures, samples: result.samples }))
else console.log(`${loopTable(figures)}\n\n${notes()}`)

function report<Figures>(measured: Figures, table: (figures: Figures) => string): void {
  if (values.json) return console.log(JSON.stringify({ ...provenance(), figures: measured }))
  const { commit, node, machine, command } = provenance()
  console.log(`${table(measured)}\n\n${command} at ${commit}; node ${node}; ${machine}`)
}

function notes(): string {
  const { commit, node, machine, command } = provenance()
  return [
    `1,000 keys, 1 KB each; closed loop: PATCH, wait until a watch shows its generation in the status, next. Medians of ${values.reps}.`,
    'Every 2xx is on disk (fsync) before it is sent; HTTPS and a token on every request.',
    ...result.skipped.map((why) => `skipped: ${why}`),
    `${command} at ${commit}; node ${node}${result.peers.map(({ version }) => `, ${version}`).join('')}; ${machine}; ${seconds} s`,
  ].join('\n')
}

function provenance() {
  const [processor] = cpus()
  return {
    command: `npm run bench -- ${process.argv.slice(2).join(' ')}`.trim(),
    commit: commitName(),
    date: new Date().toISOString(),
    node: process.versions.node,
    machine: `${cpus().length} x ${processor?.model ?? 'unknown'}`,
  }
}

function commitName(): string {
  const { stdout, status } = spawnSync('git', ['describe', '--always', '--dirty'], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : 'no commit'
}
