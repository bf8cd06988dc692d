import { fork, type ChildProcess } from 'node:child_process'
import manifest from '../../package.json' with { type: 'json' }
import { temporaryDirectory, type TemporaryDirectory } from '../support/temporary-directory.ts'
import type { Cell, CellResult, Order, Ready } from './messages.ts'

/** A child process of ours. Ending it twice does nothing. */
export interface Running {
  readonly pid: number
  end(): Promise<void>
}

export interface Server extends Running {
  readonly ready: Ready
  /** What is alive on its heap, in MB. Its node options must have --expose-gc. */
  heapMb(): Promise<number>
}

export interface Generator extends Running {
  connect(server: string, ready: Ready, watch: boolean): Promise<void>
  measure(cell: Cell): Promise<CellResult>
}

/** An empty directory, on a disk that fsync reaches: `BENCH_DIR` if `/tmp` is memory on your machine. */
export function benchDirectory(): TemporaryDirectory {
  return temporaryDirectory('bench', process.env['BENCH_DIR'])
}

/** Starts a server under test and waits until it takes requests. */
export async function startServer(
  program: URL,
  directory: string,
  nodeOptions: readonly string[] = [],
): Promise<Server> {
  const child = fork(program, [directory], { execArgv: [...nodeOptions] })
  const heapMb = async (): Promise<number> => {
    child.send('heap')
    return ((await answer(child)) as number) / 2 ** 20
  }
  return { ...running(child), heapMb, ready: (await answer(child)) as Ready }
}

/** The control plane, by the options that `npm start` gives Node, and others. */
export function startPlane(directory: string, nodeOptions: readonly string[] = []): Promise<Server> {
  return startServer(planeProgram, directory, [...startOptions, ...nodeOptions])
}

const planeProgram = new URL('control-plane.ts', import.meta.url)
const startOptions = manifest.scripts.start.split(' ').filter((word) => word.startsWith('--'))

export function startGenerator(): Generator {
  const child = fork(new URL('generator.ts', import.meta.url))
  const order = (one: Order): Promise<unknown> => {
    child.send(one)
    return answer(child)
  }
  return {
    ...running(child),
    connect: async (server, ready, watch) => void (await order({ kind: 'connect', server, ready, watch })),
    measure: async (cell) => (await order({ kind: 'measure', ...cell })) as CellResult,
  }
}

function running(child: ChildProcess): Running {
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  return {
    pid: child.pid ?? 0,
    end: () => {
      if (child.connected) child.disconnect()
      return exited
    },
  }
}

/** The next message of a child; rejects if it ends instead. */
function answer(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (message) => {
      child.off('exit', onExit)
      resolve(message)
    })
  })
}
