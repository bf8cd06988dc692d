import { OperatingError } from '../model/errors.ts'
import type { LocalCore } from '../runtime/local/core.ts'
import { createLife, type ProcessLife } from './observed-ports.ts'

/** A control plane that may die at any call of a port, and is started again over what was stored. */
export interface TestProcess {
  /** What runs now. */
  readonly core: LocalCore
  readonly isRestarting: boolean
  /** A request that dies with its process is refused, as when a connection breaks: what became of it is not known. */
  answer<Result>(request: () => Promise<Result>): Promise<Result>
  /** Ends the process as kill -9 does; resolves once it runs again. */
  crash(): Promise<void>
  /** Resolves once it runs, should it be starting again. */
  awaitRestart(): Promise<void>
}

export async function startTestProcess(startCore: (life: ProcessLife) => Promise<LocalCore>): Promise<TestProcess> {
  let restart: Promise<void> | undefined
  let { life, core } = await start()

  async function start(): Promise<{ readonly life: ProcessLife; readonly core: LocalCore }> {
    const begun = createLife(() => {
      begun.end()
      restart ??= recover()
    })
    return { life: begun, core: await Promise.race([startCore(begun), begun.ended]) }
  }

  async function recover(): Promise<void> {
    const dead = core
    life.end()
    void dead.stop(0)
    await startAgain()
    restart = undefined
  }

  /** Like a supervisor: a process that dies or fails while it starts is started again. */
  async function startAgain(): Promise<void> {
    try {
      ;({ life, core } = await start())
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error
      return startAgain()
    }
  }

  return {
    get core() {
      return core
    },
    get isRestarting() {
      return restart !== undefined
    },
    answer: (request) => Promise.race([request(), life.ended]),
    crash: () => (restart ??= recover()),
    awaitRestart: async () => restart,
  }
}
