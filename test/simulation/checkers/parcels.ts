import { externalIdAnnotation } from '../../../shared/model/control-annotations.ts'
import { keyText } from '../../../shared/model/object-key.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { licenseName, outputsOf } from '../kinds/parcel.ts'
import { textOf } from '../addresses.ts'
import { isExcused, isFenceTried, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 3 for entities outside: in the end each is as declared, also one that was there before and was adopted, and
 * no second one is made for it; what is told of it is kept in its Secret. Nothing is made without what it refers to.
 */
export function createParcels(scene: Scene): Checker {
  const { world, scenario, table, outside, report } = scene
  const { outputs, licensed } = scenario.parcels ?? {}
  /** Since when there is no license. */
  let unlicensedMs: number | undefined = world.nowMs()
  const stillMs = scenario.climate.pause > 0 ? scenario.climate.pauseMsMax : 0

  const wrongWith = (stored: StoredObject): string | undefined => {
    const { uid, name, annotations } = stored.object.metadata
    const { value } = specOf(stored)
    const adopted = annotations?.[externalIdAnnotation]
    const found = outside.entities.get(adopted ?? uid)
    if (found !== value && !isExcused(scene)) return `outside is ${found}`
    if (adopted !== undefined && outside.entities.has(uid) && !isFenceTried(scenario))
      return `another one is made beside ${adopted}`
    const said = outputs && told(name)
    return said === String(value) || !outputs || isExcused(scene) ? undefined : `its Secret says ${said}`
  }

  const told = (parcel: string): string | undefined => {
    const key = { group: '', kind: 'Secret', namespace: 'default', name: outputsOf(parcel) }
    const data = table.items.get(keyText(key))?.object['data'] as { readonly value?: string } | undefined
    return data?.value === undefined ? undefined : Buffer.from(data.value, 'base64').toString()
  }

  return {
    write: ({ type, after: { object } }) => {
      if (object.kind !== 'ConfigMap' || object.metadata.name !== licenseName) return
      unlicensedMs = type === 'removed' ? world.nowMs() : undefined
    },
    effect: ({ what, name, by }) => {
      if (licensed !== true || what !== 'put' || unlicensedMs === undefined || isFenceTried(scenario)) return
      const isParcel = objectsOf(table, 'Parcel').some(({ object }) => object.metadata.uid === name)
      if (isParcel && world.nowMs() - unlicensedMs > runMs + stillMs && table.items.get(license) === undefined)
        report(`promise 3, level: ${by.name} makes what is outside for ${name}, and there is no license`)
    },
    unmet: () =>
      objectsOf(table, 'Parcel').flatMap((stored) => {
        const wrong = wrongWith(stored)
        return wrong === undefined
          ? []
          : [`promise 3, level: ${named(stored)} ${JSON.stringify(specOf(stored))}: ${wrong}`]
      }),
  }
}

const license = textOf('ConfigMap', licenseName)

/** A run that has found it goes on for so long. */
const runMs = 60_000
