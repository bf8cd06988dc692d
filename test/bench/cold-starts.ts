import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { startFunction } from '../infra/lambda/function-process.ts'
import { quantiles, type Quantiles } from './quantiles.ts'

/**
 * What the start of a function costs under AWS's own runtime interface client, from the process to the first event
 * that it asks for: milliseconds of processor time, of all its threads, which other processes make no longer. What
 * Lambda does before it (a machine, the code) is not in it.
 */
export async function measureColdStarts(
  client: readonly string[],
  directories: readonly string[],
  count: number,
): Promise<readonly Quantiles[]> {
  const measured = directories.map((): number[] => [])
  // By turns, so that what else the machine does meets all alike.
  for (let round = 0; round < count; round++)
    for (const [i, directory] of directories.entries()) {
      await using started = await startFunction({ client, directory, environment, timeoutMs: 30_000 })
      await started.awaitBegin()
      measured[i]?.push(processorMs(started.pid))
      // The client would wait for the event that it has asked for.
      process.kill(started.pid, 'SIGKILL')
    }
  return measured.map((values) => quantiles(values))
}

/** What of a cold start of 1.5 s may be ours. */
export const startMsMax = 1_000

/** The median start of a bare function on two quiet cores of 2.5 GHz: it tells how fast a machine is now. */
export const bareStartMs = 102

/** Middy and the two clients of the AWS SDK that `reconcile` works with. */
export const bareFunction = join(import.meta.dirname, 'empty-function.ts')

/**
 * The bare function as esbuild alone bundles it for Lambda: minified, its modules of Node imported, and with the usual
 * `require` for CommonJS packages. What our own bundles do otherwise is not in it.
 */
export function writeBareFunction(directory: string): void {
  buildSync({
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minify: true,
    mainFields: ['module', 'main'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'silent',
    entryPoints: [bareFunction],
    outfile: join(directory, 'index.mjs'),
  })
}

/** What a module may look for when it is loaded. */
const environment = { SETPOINT_TABLE: 'objects', SETPOINT_QUEUES: '{"system":"http://127.0.0.1/system.fifo"}' }

function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + threadMs(`/proc/${pid}/task/${thread}/schedstat`), 0)
}

/** The first number is the time on a processor, in nanoseconds. A thread that has just ended is gone, with its file. */
export function threadMs(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6
  } catch (error) {
    if (isEnded(error)) return 0
    throw error
  }
}

/** The file was looked for, or read, too late. */
function isEnded(error: unknown): boolean {
  return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')
}
