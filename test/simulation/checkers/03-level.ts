import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { answersOf } from '../kinds/errand.ts'
import { wantsGadget } from '../kinds/kit.ts'
import { countFor } from '../kinds/ledger.ts'
import { textOf } from '../addresses.ts'
import { isExcused, isPoison, named, objectsOf, specOf, type Checker, type Scene } from './checker.ts'

/**
 * Promise 3: however triggers were lost, doubled, late or in another order: in the end the world is as declared. What a
 * worker does after its turn is over is fenced by generation only: within one, its old look at the world may stand
 * until the next run.
 */
export function createLevel(scene: Scene): Checker {
  const { table, outside } = scene
  const dataOf = (name: string, namespace?: string): string | undefined =>
    (table.items.get(textOf('ConfigMap', name, namespace))?.object['data'] as { readonly value?: string } | undefined)
      ?.value

  const gadget = (stored: StoredObject): string | undefined => {
    const { metadata } = stored.object
    const { value, mood } = specOf(stored)
    if (isPoison(stored) || mood === 'fail') return undefined
    if (outside.entities.get(metadata.uid) !== value && !isExcused(scene))
      return `outside is ${outside.entities.get(metadata.uid)}`
    const says = dataOf(metadata.name, metadata.namespace)
    return says === String(value) ? undefined : `its child says ${says}`
  }
  const link = (stored: StoredObject): string | undefined => {
    const says = dataOf(String(specOf(stored)['to'])) ?? 'nothing'
    const seen = stored.object.status?.['seen']
    return seen === says || isExcused(scene) ? undefined : `has seen ${String(seen)}, there is ${says}`
  }
  const crate = (stored: StoredObject): string | undefined => {
    const { value, size } = specOf(stored)
    const ready = stored.object.status?.['ready']
    if (ready !== size && !isExcused(scene)) return `has ${String(ready)} of ${String(size)} gadgets`
    const children = objectsOf(table, 'Gadget').filter(
      ({ object }) => object.metadata.ownerReferences?.[0]?.uid === stored.object.metadata.uid,
    )
    const wrong = children.filter((child) => Math.floor(Number(specOf(child)['value']) / 10) !== value)
    if (children.length !== size || wrong.length > 0)
      return `has ${children.length} children, ${wrong.length} of them wrong`
    return undefined
  }
  const witness = ({ object }: StoredObject): string | undefined => {
    const found = outside.entities.get(object.metadata.uid)
    return found === object.spec?.['value'] || isExcused(scene) ? undefined : `outside is ${found}`
  }
  const kit = ({ object }: StoredObject): string | undefined => {
    const { name } = object.metadata
    const value = Number(object.spec?.['value'])
    if (dataOf(name) !== String(value)) return `its plan says ${dataOf(name)}`
    const part = table.items.get(textOf('Gadget', `${name}-0`))?.object
    // One that an earlier Kit of that name left to itself is nobody's.
    const made = part?.metadata.ownerReferences === undefined && !wantsGadget(value) ? undefined : part?.spec?.['value']
    return made === (wantsGadget(value) ? value : undefined) ? undefined : `its gadget says ${String(made)}`
  }
  const errand = ({ object }: StoredObject): string | undefined => {
    const says = dataOf(answersOf(object.metadata.name)) ?? 'nothing'
    const seen = object.status?.['seen']
    return seen === says || isExcused(scene) ? undefined : `has seen ${String(seen)}, there is ${says}`
  }
  const ledger = ({ object }: StoredObject): string | undefined => {
    const is = countFor(
      object.metadata.name,
      objectsOf(table, 'ConfigMap').map((one) => one.object),
    )
    const seen = object.status?.['seen']
    return seen === is || isExcused(scene) ? undefined : `has seen ${String(seen)}, there is ${is}`
  }
  const looks: Readonly<Record<string, (stored: StoredObject) => string | undefined>> = {
    Gadget: gadget,
    Link: link,
    Crate: crate,
    Witness: witness,
    Kit: kit,
    Errand: errand,
    Ledger: ledger,
  }

  return {
    unmet: () =>
      Object.entries(looks).flatMap(([kind, look]) =>
        objectsOf(table, kind).flatMap((stored) => {
          const wrong = look(stored)
          return wrong === undefined
            ? []
            : [`promise 3, level: ${named(stored)} ${JSON.stringify(specOf(stored))}: ${wrong}`]
        }),
      ),
  }
}
