import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProgram, type Ended, type Program } from './program.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The program behind `npm start`. */
export const localProgram = join(root, 'functions/local.ts')

export interface ControlPlaneProcessOptions {
  /** Default: a new one, which goes with the process. */
  readonly dataDirectory?: string
  /** Default: any that is free. */
  readonly port?: number
  /** Default: the program behind `npm start`. Another takes the same arguments and says the same ready line. */
  readonly program?: string
  readonly env?: Readonly<Record<string, string>>
  readonly flags?: readonly string[]
}

/** A control plane in a process of its own, ready. */
export interface ControlPlaneProcess extends AsyncDisposable {
  readonly url: string
  readonly kubeconfig: string
  readonly dataDirectory: string
  readonly process: Program
  /** Sends a signal and waits for the end; the data stays. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** Starts a control plane and waits for its ready line. */
export async function startControlPlane(options: ControlPlaneProcessOptions = {}): Promise<ControlPlaneProcess> {
  const own = options.dataDirectory === undefined ? temporaryDirectory('data') : undefined
  const dataDirectory = options.dataDirectory ?? join(own?.path ?? '', 'data')
  const process = await startLocalProgram({ ...options, dataDirectory })
  // The whole of it: a reconciler may say something right behind it.
  const [, url = ''] = await process.says(/ready at (\S+) .*\n\n.*\n\n/s)
  return {
    url,
    kubeconfig: join(dataDirectory, 'kubeconfig'),
    dataDirectory,
    process,
    stop: (signal) => process.stop(signal),
    [Symbol.asyncDispose]: async () => {
      await process[Symbol.asyncDispose]()
      own?.[Symbol.dispose]()
    },
  }
}

/** Starts the program and waits for nothing: for those that are to be refused. */
export function startLocalProgram({
  dataDirectory = '',
  port = 0,
  program = localProgram,
  env = {},
  flags = [],
}: ControlPlaneProcessOptions): Promise<Program> {
  const args = [program, '--port', String(port), '--data-dir', dataDirectory, ...flags]
  return startProgram(process.execPath, args, { env })
}
