import { createOverruns, type Overruns } from '../../engine/turn/overruns.ts'
import { OperatingError } from '../../model/errors.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../../ports/http-handler.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { FollowedCore } from './core.ts'

export interface ReplaceableCoreOptions {
  /** The reconcilers as they are now. */
  load(): Promise<readonly Controller[]>
  /** `overruns`: the same for every core, so that the next one knows of what goes on. */
  start(controllers: readonly Controller[], overruns: Overruns): Promise<FollowedCore>
  /** Has the next start look at all objects, as if no controller had been here before. */
  introduceAgain(): Promise<void>
}

/** The core of a process that goes on when other reconcilers take the place of those that run. */
export interface ReplaceableCore {
  readonly api: HttpHandler
  /** Resolves when it was stopped; rejects if the engine breaks. */
  readonly ended: Promise<unknown>
  /**
   * Loads the reconcilers again, and runs every object by these. Clients stay connected, and are answered meanwhile. A
   * run that is under way has `graceMs` to end. If its function goes on after that, its object waits for the end, and
   * others do not. Rejects if these cannot be loaded or cannot start: those of before go on then. Rejects once it is to
   * stop, too.
   */
  replace(graceMs: number): Promise<void>
  stop(graceMs: number): Promise<void>
}

export async function startReplaceableCore({
  load,
  start,
  introduceAgain,
}: ReplaceableCoreOptions): Promise<ReplaceableCore> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const overruns = createOverruns()
  let controllers = await load()
  let core = await begin(controllers)
  let replacing = Promise.resolve()
  let isStopping = false

  async function begin(these: readonly Controller[]): Promise<FollowedCore> {
    const begun = await start(these, overruns)
    begun.ended.catch(reject)
    return begun
  }

  /** If not even those of before can start, nothing runs any more: the process is told. */
  async function goOn(): Promise<void> {
    try {
      core = await begin(controllers)
      core.forget()
    } catch (error) {
      reject(error)
    }
  }

  async function replaceNow(graceMs: number): Promise<void> {
    if (isStopping) throw stoppingError()
    const others = await load()
    await core.stop(graceMs)
    try {
      await introduceAgain()
      core = await begin(others)
      // Those of before were asked while it read.
      core.forget()
      controllers = others
    } catch (error) {
      await goOn()
      throw error
    }
  }

  /** A request of before may have written since those of now have read. */
  async function answer(request: HttpRequest): Promise<HttpResponse> {
    const asked = core
    try {
      return await asked.api(request)
    } finally {
      if (core !== asked) core.forget()
    }
  }

  return {
    api: answer,
    ended,
    replace: (graceMs) => {
      const replaced = replacing.then(() => replaceNow(graceMs))
      replacing = replaced.catch(() => {})
      return replaced
    },
    stop: async (graceMs) => {
      isStopping = true
      await replacing
      await core.stop(graceMs)
      resolve()
    },
  }
}

/** Nobody would stop what is started from then on. */
function stoppingError(): OperatingError {
  return new OperatingError('UNAVAILABLE', 'the control plane takes no other reconcilers: it stops')
}
