import { spawnSync } from 'node:child_process'
import { cpus } from 'node:os'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { engineTable, measureEngine } from './engine.ts'
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
 */
const { values, positionals } = optionsOf('npm run bench -- [objects at rest]', {
  allowPositionals: true,
  options: {
    engine: { type: 'boolean', default: false },
    schema: { type: 'boolean', default: false },
    rest: { type: 'boolean', default: false },
    watchers: { type: 'boolean', default: false },
    reps: { type: 'string', default: '3' },
    clients: { type: 'string', default: '1,16,64' },
    peers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})

const startMs = performance.now()
if (values.engine || values.schema || values.rest || values.watchers) {
  const [count] = positionals
  if (values.engine) report(await measureEngine(), engineTable)
  else if (values.schema) report(measureSchema(), schemaTable)
  else if (values.rest) report(await measureRest(wholeNumber('--rest', count ?? '1000000', 1)), restTable)
  else report(await measureWatchers(wholeNumber('--watchers', count ?? '1000', 1), 100), watcherTable)
  process.exit(0)
}

const result = await measureLoop({
  reps: wholeNumber('--reps', values.reps, 1),
  clients: values.clients.split(',').map((clients) => wholeNumber('--clients', clients, 1)),
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
