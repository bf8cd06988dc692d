/**
 * `npm run bundles`: what a cold start has to read. Bundles each function as `infra` does, prints the size of the files
 * that it imports at once and what Node takes for that, and compares both with a bare function, as esbuild alone
 * bundles and minifies it: middy, and the two clients of the AWS SDK that `reconcile` works with. Exits 1 if a function
 * is over its budget.
 *
 *     npm run bundles -- [--rounds N] [--starts N]
 *
 * With `--starts` each is started so often under AWS's runtime interface client, in the place of the imports.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { writeBundle } from '../../infra/bundling/bundle.ts'
import {
  allReconcilers,
  describeReconcilers,
  oneReconciler,
  type ReconcilerDescription,
} from '../../infra/bundling/reconciler-modules.ts'
import { findShippedEntry, shippedReconcilers } from '../../infra/shipped-reconcilers.ts'
import { optionsOf, wholeNumber } from '../support/command-line.ts'
import { awsClient } from '../infra/lambda/runtime-clients.ts'
import { bareFunction, measureColdStarts, startMsMax, writeBareFunction } from './cold-starts.ts'
import { median } from './quantiles.ts'

const { values } = optionsOf('npm run bundles --', {
  options: { rounds: { type: 'string', default: '7' }, starts: { type: 'string', default: '0' } },
})
const rounds = wholeNumber('--rounds', values.rounds, 1)
const starts = wholeNumber('--starts', values.starts, 0)

/** At most so many times what the bare function takes to import, and so many times its bytes when gzipped. */
interface Budget {
  readonly time: number
  readonly size: number
  /** The same of its start under the runtime's client, in which Node's own start is. Left out: as its time. */
  readonly start?: number
}

const budgets: Readonly<Record<string, Budget>> = {
  // What is in none of them: the libraries of the shipped reconcilers, which their runs import.
  api: { time: 1.7, size: 4.3 },
  authorizer: { time: 0.4, size: 0.36 },
  relay: { time: 1.5, size: 3.4 },
  resync: { time: 1.5, size: 3.6 },
  deadletter: { time: 1.5, size: 3.3 },
  removal: { time: 0.7, size: 1.2, start: 0.9 },
  // The aim is 0.9, and a quiet machine gives 0.88. Two fifths of it are the compilation of the SDK's and our own text.
  'reconcile (system)': { time: 0.95, size: 2.8, start: 1.1 },
}

/** With zod. Those of the far side are imported by the first run that needs them. */
const ofReconciler: Budget = { time: 1.4, size: 3.4 }

function budgetOf(name: string): Budget {
  return name === baseline ? { time: 1, size: 1 } : (budgets[name] ?? ofReconciler)
}

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
    { name: baseline, entry: bareFunction, reconcilers: all },
    ...['api', 'authorizer', 'relay', 'resync', 'deadletter', 'removal'].map((name) => ({
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

const baseline = 'bare function'

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

interface Cost {
  readonly name: string
  readonly bytes: number
  readonly gzippedBytes: number
  readonly importMs: number
}

/** Of reconcilers whose code comes from one module, the first: the bundles of the others differ by a name. */
function oneOfEach(bundles: readonly Bundle[]): readonly Bundle[] {
  const family = ({ entry, reconcilers }: Bundle): string => `${entry} ${/ from (\S+)/.exec(reconcilers)?.[1] ?? ''}`
  return bundles.filter((one, i) => bundles.findIndex((other) => family(other) === family(one)) === i)
}

interface Written {
  readonly name: string
  readonly directory: string
  readonly file: string
}

function write({ name, entry, reconcilers: module }: Bundle, i: number): Written {
  const directory = join(scratch, String(i))
  mkdirSync(directory)
  const file = join(directory, 'index.mjs')
  if (name === baseline) writeBareFunction(directory)
  else writeBundle(entry, module, directory)
  return { name, directory, file }
}

function measure(files: readonly Written[]): readonly Cost[] {
  // By turns, so that what else the machine does meets all alike.
  const times = new Map<string, number[]>(files.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) for (const { name, file } of files) times.get(name)?.push(importMs(file))
  return files.map(({ name, file }) => {
    const read = [...readAtOnce(file)].map((one) => readFileSync(one))
    return {
      name,
      bytes: read.reduce((sum, { length }) => sum + length, 0),
      gzippedBytes: read.reduce((sum, bytes) => sum + gzipSync(bytes).length, 0),
      importMs: median(times.get(name) ?? []),
    }
  })
}

/** The file and all that it imports before it runs: not what it imports with the first use. */
function readAtOnce(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found
  found.add(file)
  const imported = readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*"\.\/(part-\w+\.mjs)"/g)
  for (const [, name = ''] of imported) readAtOnce(join(dirname(file), name), found)
  return found
}

/** Whether each starts within its budget of time, at the median and in the worst of a hundred. */
async function tellStarts(files: readonly Written[]): Promise<boolean> {
  const measured = await measureColdStarts(
    await awsClient(),
    files.map(({ directory }) => directory),
    starts,
  )
  const [bare = { p50: 1, p99: 1 }] = measured
  console.log(`${starts} starts of each under aws-lambda-ric, in milliseconds of processor time, to the first event:`)
  const within = files.map(({ name }, i) => {
    const { p50, p99 } = measured[i] ?? bare
    const { time, start = Math.max(time, processShare) } = budgetOf(name)
    const isWithin = p50 / bare.p50 <= start && p99 <= startMsMax
    const ratios = `${(p50 / bare.p50).toFixed(2)} of at most ${start}`
    const figures = `p50 ${p50.toFixed(0).padStart(4)} ms   p99 ${p99.toFixed(0).padStart(4)} ms`
    console.log(`${isWithin ? 'ok    ' : 'FAILED'} ${name.padEnd(32)} ${figures}   (${ratios})`)
    return isWithin
  })
  return within.every(Boolean)
}

/** Of the bare function's start, what Node and the client take for themselves. */
const processShare = 0.6

/** One line for each function; false if it is over its budget. */
function tell({ name, bytes, gzippedBytes, importMs: ms }: Cost, bare: Cost): boolean {
  const { time, size } = budgetOf(name)
  const [timeRatio, sizeRatio] = [ms / bare.importMs, gzippedBytes / bare.gzippedBytes]
  const isWithin = timeRatio <= time && sizeRatio <= size
  const sizes = `${kib(bytes)} KiB, ${kib(gzippedBytes)} KiB gzipped (${sizeRatio.toFixed(2)} of at most ${size})`
  const times = `${ms.toFixed(1).padStart(6)} ms to import (${timeRatio.toFixed(2)} of at most ${time})`
  console.log(`${isWithin ? 'ok    ' : 'FAILED'} ${name.padEnd(32)} ${sizes.padEnd(56)} ${times}`)
  return isWithin
}

function kib(bytes: number): string {
  return (bytes / 1_024).toFixed(0).padStart(5)
}

try {
  const files = (starts > 0 ? oneOfEach(bundlesOf()) : bundlesOf()).map(write)
  if (starts > 0) process.exitCode = (await tellStarts(files)) ? 0 : 1
  else {
    const costs = measure(files)
    const bare = costs.find(({ name }) => name === baseline) as Cost
    const within = costs.map((cost) => tell(cost, bare))
    process.exitCode = within.every(Boolean) ? 0 : 1
  }
} finally {
  rmSync(scratch, { recursive: true })
}
