import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { OperatingError } from '../../shared/index.ts'
import { isInUse } from '../../shared/runtime/local/check.ts'
import { awaitNpmExit } from '../../shared/runtime/local/npm-exit.ts'
import { dataDirectory } from './data-directory.ts'
import { findEntry } from './entry.ts'
import { formatLogLine } from './readable-log.ts'
import { readLines } from './read-lines.ts'
import { leaveMarksOut, reloading } from './reloading.ts'

/**
 * `setpoint dev [entry] …`: a control plane in a process of its own, which loads the reconcilers again when a file
 * changes that they come from. At each change the compiler checks the types, where the project has TypeScript. Ends
 * with the control plane.
 */
export async function runDev(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  if (positionals.length > 1) throw new OperatingError('BAD_REQUEST', 'type setpoint dev [entry]: one module has all')
  const entry = findEntry(positionals[0])
  if (values.reset) removeData(values['data-dir'])
  const flags = ['--port', values.port, '--data-dir', values['data-dir']]
  const plane = startPlane([entry, ...flags], values.inspect)
  let compiler = checkTypes()
  if (compiler === undefined) process.stdout.write(`${untyped()}\n`)
  readLines(plane.stdout, (line) => {
    process.stdout.write(`${line}\n`)
    if (!isChange(line)) return
    compiler?.kill()
    compiler = checkTypes()
  })
  readLines(plane.stderr, (line) => {
    const readable = formatLogLine(leaveMarksOut(line))
    if (readable !== undefined) process.stderr.write(`${readable}\n`)
  })
  let isStopped = false
  const stop = (signal?: NodeJS.Signals): void => {
    isStopped = true
    plane.kill(signal)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal))
  void awaitNpmExit().then(() => stop())
  const [code, signal] = (await once(plane, 'close')) as [number | null, NodeJS.Signals | null]
  compiler?.kill()
  if (signal !== null && !isStopped) process.stderr.write(`setpoint: the control plane was ended by ${signal}\n`)
  process.exit(code ?? (isStopped ? 0 : 1))
}

const options = {
  port: { type: 'string', default: '8443' },
  ...dataDirectory,
  reset: { type: 'boolean', default: false },
  inspect: { type: 'boolean', default: false },
} as const

/** Only a directory that a control plane has made, and that none is using. */
function removeData(directory: string): void {
  if (!existsSync(directory) || readdirSync(directory).length === 0) return
  if (!existsSync(join(directory, 'setpoint.db')))
    throw new OperatingError('BAD_REQUEST', `--reset: ${directory} is no data directory of a control plane`)
  if (isInUse(directory))
    throw new OperatingError('BAD_REQUEST', `--reset: a control plane runs on ${directory}: stop it first`)
  if (!relative(resolve(directory), resolve('.')).startsWith('..'))
    throw new OperatingError(
      'BAD_REQUEST',
      `--reset: ${directory} holds more than data: the working directory is in it`,
    )
  rmSync(directory, { recursive: true })
}

function startPlane(args: readonly string[], inspect: boolean): ChildProcess {
  const main = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? 'main.ts' : 'main.js', import.meta.url))
  const debugged = inspect ? ['--inspect'] : []
  return spawn(process.execPath, [...debugged, main, reloading, ...args], {
    // It ends with us, as with an npm that is killed. Under a debugger no run is too long.
    env: {
      ...process.env,
      npm_lifecycle_event: 'dev',
      SETPOINT_LOG: 'debug',
      ...(inspect && { SETPOINT_RUN_TIMEOUTS: 'off' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** What the control plane says before it loads the reconcilers again. */
function isChange(line: string): boolean {
  return line.endsWith(' has changed')
}

const tsc = join('node_modules', 'typescript', 'bin', 'tsc')

/** Why no types are checked, and what to type. */
function untyped(): string {
  if (existsSync(tsc)) return 'types are not checked: there is no tsconfig.json here'
  return 'types are not checked: TypeScript is not installed here: npm install, or npm install -D typescript, and start again'
}

/** Runs the compiler of the project in this directory; undefined if it has none. */
function checkTypes(): ChildProcess | undefined {
  if (!existsSync(tsc) || !existsSync('tsconfig.json')) return undefined
  const compiler = spawn(process.execPath, [tsc, '--noEmit', '--pretty', 'false'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  readLines(compiler.stdout, (line) => process.stderr.write(`types: ${line}\n`))
  return compiler
}
