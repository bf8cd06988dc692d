import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { graceMs } from '../kinds/deed.ts'
import type { Entity } from '../registry.ts'
import { isFenceTried, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 3 and 8 for entities whose ids are chosen outside: whatever is lost on the way, an object has one entity and
 * never two; in the end that is as declared, and none is left of an object that is gone.
 */
export function createDeeds(scene: Scene): Checker {
  const { scenario, table, registry, report } = scene
  const { tokens = false } = scenario.deeds ?? {}
  // Without tokens, time says whether a create may still be under way: here somebody's clock is further away than that.
  const isTimeless = !tokens && 2 * scenario.climate.skewMsMax > graceMs / 4
  const isExcused = isFenceTried(scenario) || isTimeless

  const wrongWith = (stored: StoredObject): string | undefined => {
    const { uid } = stored.object.metadata
    const [first, second] = registry.entities().filter(({ owner }) => owner === uid)
    if (first === undefined) return 'nothing is outside'
    if (second !== undefined) return isExcused ? undefined : 'two entities are outside'
    const { value } = specOf(stored)
    if (first.value !== value) return `outside is ${first.value}`
    const { id } = (stored.object.status ?? {}) as { readonly id?: string }
    return id === first.id ? undefined : `its status names ${id}, and outside is ${first.id}`
  }

  return {
    made: ({ owner, id }: Entity, by: string) => {
      const others = registry.entities().filter((one) => one.owner === owner && one.id !== id)
      if (others.length > 0 && !isExcused)
        report(`promise 8, effects: ${by} makes ${id} for ${owner}, which has ${others[0]?.id}`)
    },
    unmet: () => {
      const deeds = objectsOf(table, 'Deed')
      const uids = new Set(deeds.map(({ object }) => object.metadata.uid))
      const left = registry.entities().filter(({ owner }) => !uids.has(owner) && !isExcused)
      return [
        ...left.map(({ id, owner }) => `promise 8, deletion: the entity ${id} is left of ${owner}`),
        ...deeds.flatMap((stored) => {
          const wrong = wrongWith(stored)
          return wrong === undefined ? [] : [`promise 3, level: ${named(stored)}: ${wrong}`]
        }),
      ]
    },
  }
}
