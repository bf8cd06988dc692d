import { OperatingError } from '../model/errors.ts'
import type { LocalCore } from '../runtime/local/core.ts'
import { createLife, type ProcessLife } from './observed-ports.ts'

/** A control plane that may die at any call of a port, and is started again over what was stored. */
export interface TestProcess {
  /** What runs now. */
  readonly core: LocalCore
  readonly isRestarting: boolean
  /** It has ended, and could not be started again. */
  readonly isDown: boolean
  /** A request that dies with its process is refused, as when a connection breaks: what became of it is not known. */
  answer<Result>(request: () => Promise<Result>): Promise<Result>
  /** Ends the process as kill -9 does; resolves once it runs again. */
  crash(): Promise<void>
  /** Resolves once it runs, should it be starting again. */
  awaitRestart(): Promise<void>
}

const startsMax = 100

export async function startTestProcess(startCore: (life: ProcessLife) => Promise<LocalCore>): Promise<TestProcess> {
  let restart: Promise<void> | undefined
  let { life, core } = await start()

  async function start(): Promise<{ readonly life: ProcessLife; readonly core: LocalCore }> {
    const begun = createLife(() => {
      begun.end()
      // Whether it could be started is told to who waits for it.
      beginRestart().catch(() => {})
    })
    return { life: begun, core: await Promise.race([startCore(begun), begun.ended]) }
  }

  const beginRestart = (): Promise<void> => (restart ??= recover().finally(() => (restart = undefined)))

  async function recover(): Promise<void> {
    const dead = core
    life.end()
    void dead.stop(0)
    await startAgain()
  }

  /** Like a supervisor: a process that dies or fails while it starts is started again, a hundred times at most. */
  async function startAgain(starts = 1): Promise<void> {
    try {
      ;({ life, core } = await start())
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error
      if (starts < startsMax) return startAgain(starts + 1)
      throw new Error(`the process does not start again, though it was tried ${starts} times: ${error.message}`, {
        cause: error,
      })
    }
  }

  return {
    get core() {
      return core
    },
    get isRestarting() {
      return restart !== undefined
    },
    get isDown() {
      return life.crashed && restart === undefined
    },
    answer: (request) => Promise.race([request(), life.ended]),
    crash: beginRestart,
    awaitRestart: async () => restart,
  }
}
