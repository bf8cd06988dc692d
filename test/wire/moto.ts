import { existsSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runProgram, startProgram } from '../support/program.ts'

/**
 * moto, from PyPI: DynamoDB with Streams, SQS, EventBridge, CloudFormation and more on one endpoint, in memory.
 * A server that nobody here wrote, so that what it accepts is not what we believe.
 */
export interface Moto extends AsyncDisposable {
  /** For every service: `AWS_ENDPOINT_URL`, or a client's `endpoint`. Any credentials will do. */
  readonly endpoint: string
}

const version = '5.2.5'

/** Where peers of the wire tests are kept between runs: outside the tree, `SETPOINT_CACHE` or `~/.cache/setpoint`. */
const cacheDirectory = process.env['SETPOINT_CACHE'] ?? join(homedir(), '.cache', 'setpoint')

/**
 * Fetches the pinned version into the cache unless it is there. Rejects, with what was tried and what it said, where there is no
 * Python with venv or no PyPI. Of two that fetch at once, the second throws its copy away.
 */
export async function fetchMoto(): Promise<void> {
  if (existsSync(server())) return
  const fetched = `${home()}.${process.pid}`
  try {
    await mustRun('python3', ['-m', 'venv', fetched])
    await mustRun(join(fetched, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', `moto[server]==${version}`])
    renameSync(fetched, home())
  } catch (error) {
    if (!existsSync(server())) throw error
  } finally {
    rmSync(fetched, { recursive: true, force: true })
  }
}

/** Starts the fetched server, empty, on a free port of 127.0.0.1. It ends with this process at the latest. */
export async function startMoto(): Promise<Moto> {
  // Through `-m`, since a script's first line names the directory that the environment was made in.
  const command = [join(home(), 'bin', 'python'), '-m', 'moto.server', '-H', '127.0.0.1', '-p', '0']
  const program = await startProgram('sh', ['-c', 'exec "$0" "$@" 2>&1', ...command])
  const [, endpoint = ''] = await program.says(/Running on (http:\/\/127\.0\.0\.1:\d+)/)
  return { endpoint, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() }
}

function home(): string {
  return join(cacheDirectory, `moto-${version}`)
}

function server(): string {
  return join(home(), 'bin', 'moto_server')
}

async function mustRun(file: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram(file, args)
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${stderr.slice(-500)}`)
}
