import { conditionOf } from '../../../shared/model/conditions.ts'
import { parseApiVersion } from '../../../shared/model/object.ts'
import { presentSpecOf } from '../kinds/relic.ts'
import { isExcused, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Versions: code is given an object in the version that it knows. Whatever version one was written in, its status is
 * that of what was written; no code says that it is not valid, since all of it is, in its version; and all is stored in
 * the present version once that was asked for. What each version shows of an object, and what users wrote, is compared
 * by those who read and write it.
 */
export function createVersions(scene: Scene): Checker {
  let isMigrated = false
  return {
    runBegins: ({ kind, name, spec, by }) => {
      if (kind !== 'Relic' || 'size' in spec === (scene.scenario.climate.deploying && by.version === 1)) return
      scene.report(`versions: ${by.name} is given Relic ${name} as ${JSON.stringify(spec)}`)
    },
    write: ({ after }) => {
      if (after.object.kind !== 'Relic' || conditionOf(after.object, 'Ready')?.reason !== 'SpecInvalid') return
      scene.report(`versions: ${named(after)} is said not to be valid, and is: ${JSON.stringify(specOf(after))}`)
    },
    answered: ({ step, status }) => {
      isMigrated ||= step.act === 'migrate' && status === 200
    },
    unmet: () =>
      objectsOf(scene.table, 'Relic').flatMap((stored) => {
        const { version } = parseApiVersion(stored.object.apiVersion)
        const { width, height } = presentSpecOf(specOf(stored))
        const area = Number(width) * Number(height)
        const says = stored.object.status?.['area'] ?? stored.object.status?.['covers']
        const isRun = Number(says) === area || isExcused(scene)
        return [
          ...(isMigrated && !scene.scenario.climate.deploying && version !== 'v1'
            ? [`versions: ${named(stored)} is stored in ${version}`]
            : []),
          ...(isRun ? [] : [`promise 3, level: ${named(stored)} says ${String(says)} and is ${area}`]),
        ]
      }),
  }
}
