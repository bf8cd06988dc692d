import { OperatingError } from '../model/errors.ts'
import type { StoredObject } from '../model/stored-object.ts'
import { createContext } from './create-context.ts'
import { failuresOf } from './conclusion.ts'
import type { Controller } from './controller.ts'
import type { EngineOptions } from './reconcile-key.ts'
import { verdictOf, type Verdict } from './verdict.ts'

export interface RunOptions {
  readonly controller: Controller
  readonly stored: StoredObject
  readonly engine: EngineOptions
  /** Aborts when the process stops. */
  readonly signal: AbortSignal
  readonly phase: 'reconcile' | 'cleanup'
}

/**
 * Runs the user's function once, for no longer than the controller's timeout. A function that goes on after that is not
 * waited for; its context refuses every verb from then on, so that what it does late cannot be written. When the process
 * stops, the run is given up: that is no failure of the object's.
 */
export async function runWithDeadline({ controller, stored, engine, signal, phase }: RunOptions): Promise<Verdict> {
  const over = new AbortController()
  const runSignal = AbortSignal.any([signal, over.signal])
  const { object } = stored
  const context = createContext({
    controller,
    object,
    engine,
    signal: runSignal,
    attempt: failuresOf(stored.engine, object.metadata.generation),
  })
  const run = phase === 'cleanup' ? controller.cleanup : controller.reconcile
  try {
    return await Promise.race([call(run, object, context), deadline(controller, engine, runSignal)])
  } catch (error) {
    if (signal.aborted)
      throw new OperatingError('UNAVAILABLE', 'the process is stopping; the run is given up and comes again', {
        cause: error,
      })
    return verdictOf(error)
  } finally {
    over.abort()
  }
}

async function call(
  run: Controller['cleanup'],
  ...[object, context]: Parameters<Controller['reconcile']>
): Promise<Verdict> {
  if (run === undefined) return { kind: 'done' }
  const outcome = (await run(object, context)) as Verdict | undefined
  if (outcome?.kind === 'done' || outcome?.kind === 'again') return outcome
  throw new TypeError('a reconciler returns done(…) or again(…), or throws')
}

async function deadline(
  { timeoutMs, name }: Controller,
  { clock }: EngineOptions,
  signal: AbortSignal,
): Promise<never> {
  await clock.sleep(timeoutMs, signal)
  throw new OperatingError('DEADLINE_EXCEEDED', `${name} was aborted: it ran for longer than ${timeoutMs / 1000} s`)
}
