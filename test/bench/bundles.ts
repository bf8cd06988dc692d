/**
 * `node test/bench/bundles.ts`: what a cold start has to read. Bundles each function as `infra` does, prints its size
 * and what Node takes to import it, and compares `reconcile` with an empty handler that has the two AWS clients it
 * cannot do without. Exits 1 above the budget.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeBundle } from '../../infra/bundling/bundle.ts'
import {
  allReconcilers,
  describeReconcilers,
  oneReconciler,
  type ReconcilerDescription,
} from '../../infra/bundling/reconciler-modules.ts'
import { findShippedEntry, shippedReconcilers } from '../../infra/shipped-reconcilers.ts'
import { optionsOf } from '../support/command-line.ts'
import { median } from './quantiles.ts'

optionsOf('npm run bundles', {})
const budget = 2.5
const rounds = 7
const root = resolve(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'setpoint-bundles-'))

interface Bundle {
  readonly name: string
  readonly entry: string
  readonly reconcilers: string
}

function bundlesOf(): readonly Bundle[] {
  const all = allReconcilers(shippedReconcilers)
  const entry = (name: string): string => join(root, `functions/${name}.ts`)
  return [
    { name: baseline, entry: join(root, 'test/bench/empty-function.ts'), reconcilers: all },
    ...['api', 'authorizer', 'relay', 'resync', 'deadletter'].map((name) => ({
      name,
      entry: entry(name),
      reconcilers: all,
    })),
    { name: 'reconcile (system)', entry: entry('reconcile'), reconcilers: 'export const reconcilers = []\n' },
    ...describeReconcilers(shippedReconcilers).map(({ name }) => ({
      name: `reconcile (${name})`,
      entry: entry('reconcile'),
      reconcilers: alone(name),
    })),
  ]
}

/** As `infra` puts it into the function that runs it. */
function alone(name: string): string {
  const entry = findShippedEntry(name)
  return oneReconciler(entry, describeReconcilers(entry).find((one) => one.name === name) as ReconcilerDescription)
}

const baseline = 'empty handler, two clients'

/**
 * As Lambda's runtime imports it, in a process of its own: milliseconds of processor time, which other processes make
 * no longer.
 */
function importMs(file: string): number {
  const script = `
    globalThis.awslambda = { streamifyResponse: (handler) => handler }
    const start = process.cpuUsage()
    await import(${JSON.stringify(file)})
    const { user, system } = process.cpuUsage(start)
    process.stdout.write(String((user + system) / 1000), () => process.exit(0))`
  const env = { PATH: process.env['PATH'], AWS_REGION: 'us-east-1' }
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    env,
  })
  if (status !== 0) throw new Error(`cannot import ${file}: ${stderr}`)
  return Number(stdout)
}

function measure(bundles: readonly Bundle[]): ReadonlyMap<string, number> {
  const files = bundles.map(({ name, entry, reconcilers: module }, i) => {
    const directory = join(scratch, String(i))
    mkdirSync(directory)
    writeBundle(entry, module, directory)
    return { name, file: join(directory, 'index.mjs') }
  })
  // By turns, so that what else the machine does meets all alike.
  const times = new Map<string, number[]>(files.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) for (const { name, file } of files) times.get(name)?.push(importMs(file))
  for (const { name, file } of files) {
    const bytes = readFileSync(file)
    const sizes = `${kib(bytes.length)} KiB, ${kib(gzipSync(bytes).length)} KiB gzipped`
    console.log(`${name.padEnd(32)} ${sizes.padEnd(32)} ${median(times.get(name) ?? []).toFixed(1)} ms to import`)
  }
  return new Map([...times].map(([name, all]) => [name, median(all)]))
}

function kib(bytes: number): string {
  return (bytes / 1_024).toFixed(0).padStart(5)
}

try {
  const times = measure(bundlesOf())
  const [, empty = Number.NaN] = [...times].find(([name]) => name === baseline) ?? []
  const ratios = [...times]
    .filter(([name]) => name.startsWith('reconcile'))
    .map(([name, ms]) => ({ name, ratio: ms / empty }))
  for (const { name, ratio } of ratios)
    console.log(
      `${ratio <= budget ? 'ok    ' : 'FAILED'} importing ${name} takes ${ratio.toFixed(2)} times the ${baseline}`,
    )
  process.exitCode = ratios.every(({ ratio }) => ratio <= budget) ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true })
}
