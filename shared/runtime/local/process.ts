import { relative } from 'node:path'
import { inspect } from 'node:util'
import { createJsonLogger } from '../../adapters/node/json-logger.ts'
import { systemClock } from '../../adapters/node/system-clock.ts'
import { DefinitionError, OperatingError } from '../../model/errors.ts'
import { readCommandLine, type LocalProgram } from './command-line.ts'
import { writeLogLine } from './log-output.ts'
import { awaitNpmExit } from './npm-exit.ts'
import { areTimeoutsOff, withoutTimeouts } from './run-timeouts.ts'
import { openTraces } from './traces.ts'
import { logUnhandledRejections } from './rejections.ts'
import { startLocalControlPlane, type LocalControlPlane, type LocalControlPlaneOptions } from './control-plane.ts'

/**
 * Runs the control plane as a process: says when it is ready, stops on SIGTERM, SIGINT and SIGHUP, and exits with 0
 * then. `--help` prints the usage and exits with 0. What a person can mend (a word of the command line, a port that is
 * taken, a directory that is in use, a definition that cannot work) is one line on stderr and exit code 1; a bug keeps
 * its stack. With `onChange` the controllers are loaded again at each change.
 */
export async function runLocalProcess(
  controllers: LocalControlPlaneOptions['controllers'],
  program: LocalProgram = npmStart(),
  onChange?: OnChange,
): Promise<void> {
  // Listens from the first moment: who is told to stop while it starts stops when it has.
  const stopRequested = Promise.race([awaitSignal(), awaitNpmExit()])
  // Nothing that is acknowledged is lost by it, whatever does not come to an end: a start, too.
  void stopRequested.then(() => setTimeout(() => process.exit(0), overdueMs))
  // Who hears us no more, as when the terminal was closed, does not end us.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  logUnhandledRejections(createJsonLogger({ write: writeLogLine, clock: systemClock, level: 'error' }))
  let attempted = 'start'
  try {
    const timed: typeof controllers = async (directory) => {
      const all = await controllers(directory)
      return areTimeoutsOff(process.env['SETPOINT_RUN_TIMEOUTS']) ? withoutTimeouts(all) : all
    }
    const settings = readCommandLine(program)
    const warn = (message: string): void => void process.stderr.write(`setpoint: ${message}\n`)
    const traces = await openTraces({ environment: process.env, warn })
    const plane = await startLocalControlPlane({ ...settings, controllers: timed, tracing: traces?.tracing })
    process.stdout.write(readyText(plane, program))
    attempted = 'go on'
    onChange?.((file) => void reload(plane, file))
    await Promise.race([stopRequested, plane.ended])
    await plane.stop(stopMs)
    await traces?.close()
    process.exit(0)
  } catch (error) {
    const isMendable = error instanceof OperatingError || error instanceof DefinitionError
    process.stderr.write(`setpoint: ${isMendable ? error.message : `cannot ${attempted}: ${inspect(error)}`}\n`)
    process.exit(1)
  }
}

/** Tells of each change of the code that the controllers come from. */
export type OnChange = (tell: (file: string) => void) => void

/** A line before and a line after. What cannot be loaded is told with its place, and nothing stops for it. */
async function reload(plane: LocalControlPlane, file: string): Promise<void> {
  process.stdout.write(`${file} has changed\n`)
  const startMs = performance.now()
  try {
    await plane.reload(reloadMs)
    process.stdout.write(`the reconcilers run the changed code after ${Math.round(performance.now() - startMs)} ms\n`)
  } catch (error) {
    const told = error instanceof OperatingError || error instanceof DefinitionError ? error.message : inspect(error)
    process.stderr.write(`setpoint: the old reconcilers stay in use: ${told}\n`)
  }
}

/** So long a run of the former code may go on. */
const reloadMs = 500
const stopMs = 4_000
/** Within the ten seconds that most supervisors give. */
const overdueMs = 8_000

function npmStart(): LocalProgram {
  return {
    name: 'npm start --',
    args: process.argv.slice(2),
    toTry: [`apply -f ${relative(process.cwd(), 'examples/orders.yaml')}`, 'get postgresclusters,postgresdatabases -w'],
  }
}

/** What a person is told when it is ready. */
export function readyText(
  { url, kubeconfig, isHeld }: LocalControlPlane,
  { toTry }: Pick<LocalProgram, 'toTry'>,
): string {
  const seconds = (performance.now() / 1000).toFixed(2)
  return `setpoint is ready at ${url} (${seconds} s). Try:

  export KUBECONFIG=${quotePath(kubeconfig)}
  kubectl api-resources
${toTry.map((words) => `  kubectl ${words}\n`).join('')}${isHeld ? heldText : ''}
`
}

const heldText = `
This is a copy of another control plane: nothing is reconciled. Once the other has stopped for good: --resume
`

/** As a shell takes it. */
function quotePath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Once is enough: of Ctrl-C a process that npm started hears twice, from the terminal and from npm. */
function awaitSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => resolve())
  })
}
