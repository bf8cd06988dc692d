import { conditionOf } from '../../../shared/model/conditions.ts'
import { keyOf, keyText } from '../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import {
  fitsType,
  isLinedUp,
  isPoisoned,
  isRoomy,
  named,
  objectsOf,
  promptMs,
  specOf,
  type Checker,
  type Scene,
} from './checker.ts'

/**
 * Reconcilers are given what their types say: what was stored under an older schema and does not fit is not run. It
 * says so, with the path, and no longer than it is so.
 */
export function createTypes({ world, scenario, table, report }: Scene): Checker {
  const isTold = isRoomy(scenario) && !isPoisoned(scenario) && scenario.slowed === undefined
  const says = ({ object }: StoredObject): boolean => {
    const { reason, message = '' } = conditionOf(object, 'Ready') ?? {}
    return reason === 'SpecInvalid' && message.includes('spec.value')
  }

  return {
    runBegins: ({ kind, name, spec, by }) => {
      if (kind === 'Gadget' && !fitsType(spec))
        report(`types: ${by.name} runs ${kind} ${name} with ${JSON.stringify(spec)}`)
    },
    write: ({ type, before, after }) => {
      if (!isTold || type !== 'modified' || after.object.kind !== 'Gadget' || fitsType(specOf(after))) return
      if (before?.object.metadata.annotations === after.object.metadata.annotations) return
      world.after(promptMs(scenario, world.nowMs()), () => {
        const live = table.items.get(keyText(keyOf(after.object)))
        if (live?.engine.wait?.kind === 'RateLimited' || isLinedUp(scenario, after.object.kind)) return
        if (live !== undefined && !fitsType(specOf(live)) && !says(live))
          report(`types: ${named(live)} does not fit and does not say so`)
      })
    },
    unmet: () =>
      objectsOf(table, 'Gadget').flatMap((stored) =>
        says(stored) && fitsType(specOf(stored)) ? [`types: ${named(stored)} says it does not fit, and it does`] : [],
      ),
  }
}
