import { isConverged } from '../../model/convergence.ts'
import { isObject } from '../../model/json.ts'
import { keyOf, keyText } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Clock } from '../../ports/clock.ts'
import { createAdvice, type Advise, type AdviceOptions } from './advice.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { Kind } from '../../reconciler/kind.ts'
import { isRepeatedError } from '../state/repeated-errors.ts'
import type { Verdict } from '../../reconciler/verdict.ts'

export interface AdvisedRun {
  /** The object as the run began with it. */
  readonly stored: StoredObject
  readonly verdict: Verdict
  readonly ms: number
}

/** Requests to run again that are closer than this. */
const shortMs = 60_000
/** So many in a row are a habit. */
const habit = 10
const requeuesMax = 10_000

/**
 * Looks at runs that have ended for what their author should know. Remembers only objects that ask for runs one after
 * the other.
 */
export type AdviseOnRun = (run: AdvisedRun) => void

export function createRunAdvice(controller: Controller, advise: Advise): AdviseOnRun {
  const { timeoutMs, owns, references, maps } = controller
  const canBeWoken = owns.length + references.length + maps.length > 0
  const requeues = new Map<string, number>()

  const forgetOldest = (): void => {
    const [oldest = ''] = requeues.keys()
    requeues.delete(oldest)
  }

  const adviseOnRequeues = (stored: StoredObject, verdict: Verdict): void => {
    const asksSoon = verdict.kind === 'again' && verdict.afterMs < shortMs
    if (!asksSoon && requeues.size === 0) return
    const key = keyText(keyOf(stored.object))
    const inARow = asksSoon ? (requeues.get(key) ?? 0) + 1 : 0
    // The one that asked last stands last; those that are gone make room.
    requeues.delete(key)
    if (inARow === 0) return
    requeues.set(key, inARow)
    if (requeues.size > requeuesMax) forgetOldest()
    if (inARow % habit !== 0) return
    if (isConverged(stored)) advise('SteadyRequeue', key)
    else if (canBeWoken) advise('Polling', key)
  }

  return ({ stored, verdict, ms }) => {
    if (ms > timeoutMs / 2) advise('LongRun', keyText(keyOf(stored.object)))
    if (isRepeatedError(stored, verdict)) advise('RepeatedError', keyText(keyOf(stored.object)))
    adviseOnRequeues(stored, verdict)
  }
}

/** Names that are commands rather than states. */
const imperative =
  /^(do|run|start|stop|restart|trigger|execute|force|upgrade|reset|retry|delete)(Now)?$|^(action|command|operation)$|Now$/

/** On what users may ask for. A process that only runs objects need not have definitions worked out for it. */
export function adviseOnSpecs(
  controllers: readonly Controller[],
  { clock, ...seeing }: Pick<AdviceOptions, 'logger' | 'telemetry'> & { readonly clock: Clock },
): void {
  for (const { name, kind } of controllers) {
    const advise = createAdvice(name, { ...seeing, nowMs: () => clock.nowMs() })
    for (const field of imperativeFields(kind)) advise('ImperativeSpec', `${kind.kind} spec.${field}`)
  }
}

function imperativeFields({ definition }: Kind): readonly string[] {
  const spec = definition?.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec']
  return isObject(spec?.properties) ? Object.keys(spec.properties).filter((field) => imperative.test(field)) : []
}
