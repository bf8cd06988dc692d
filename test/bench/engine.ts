import { fork } from 'node:child_process'

/** What one reconcile costs, at the best of five. */
export interface EngineFigure {
  readonly name: string
  /** CPU time of the process, garbage collection included. */
  readonly us: number
  /** Allocated on the heap. */
  readonly bytes: number
}

/**
 * The engine alone: what it adds to a reconcile function that does nothing, over ports that are Maps, with its metrics
 * and limits on. Beside it the least there could be: the same function called for each key in a Map.
 */
export async function measureEngine(): Promise<readonly EngineFigure[]> {
  const child = fork(new URL('engine-process.ts', import.meta.url), {
    execArgv: ['--expose-gc', '--max-semi-space-size=1024', '--min-semi-space-size=1024'],
  })
  return new Promise((resolve, reject) => {
    child.once('message', (figures) => resolve(figures as readonly EngineFigure[]))
    child.once('exit', (code) => reject(new Error(`the engine's process ended with ${code}`)))
  })
}

export function engineTable(figures: readonly EngineFigure[]): string {
  const head = `${'for each reconcile'.padEnd(44)}${'µs of CPU'.padStart(12)}${'bytes'.padStart(12)}`
  const rows = figures.map(
    ({ name, us, bytes }) =>
      `${name.padEnd(44)}${us.toFixed(2).padStart(12)}${Math.round(bytes).toLocaleString('en').padStart(12)}`,
  )
  return [head, ...rows, '', 'The best of five; ports are Maps, ten keys at once, metrics on.'].join('\n')
}
