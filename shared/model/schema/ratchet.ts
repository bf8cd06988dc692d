import { isObject, type Json } from '../json.ts'
import { createSameness } from '../sameness.ts'
import { type CompiledSchema, fieldSchema } from './compiled-schema.ts'
import { keyIdentity } from './list-type.ts'

type Steps = readonly (string | number)[]

/**
 * Tells whether a place in `value`, or something that contains it, is as it was in `old`: Kubernetes' ratcheting, which
 * lets an object that became invalid with a change of its schema be changed elsewhere. Fields are followed by name,
 * items of a list map by their keys; items of other lists have no past of their own.
 */
export function createUnchangedTest(old: Json, value: Json, schema: CompiledSchema): (steps: Steps) => boolean {
  const isSame = createSameness()
  const indexes: Indexes = new WeakMap()
  return (steps) => {
    let before: Json | undefined = old
    let after: Json | undefined = value
    let node: CompiledSchema | undefined = schema
    for (const step of steps) {
      if (isSame(before, after)) return true
      before = pastOf(step, { before, after, node }, indexes)
      if (before === undefined) return false
      after = childAt(after, step)
      node = node && (typeof step === 'number' ? node.items : fieldSchema(node, step))
    }
    return isSame(before, after)
  }
}

interface Pair {
  readonly before: Json | undefined
  readonly after: Json | undefined
  readonly node: CompiledSchema | undefined
}

/** The items of each list map by their keys, made once a list: an error in each item looks for one. */
type Indexes = WeakMap<readonly Json[], ReadonlyMap<string, Json>>

function pastOf(step: string | number, { before, after, node }: Pair, indexes: Indexes): Json | undefined {
  if (typeof step === 'string') return childAt(before, step)
  if (node?.listType !== 'map' || !Array.isArray(before) || !Array.isArray(after)) return undefined
  let index = indexes.get(before)
  if (index === undefined) indexes.set(before, (index = firstByKeys(before, node.listMapKeys)))
  return index.get(keyIdentity(after[step] ?? null, node.listMapKeys))
}

function firstByKeys(items: readonly Json[], keys: readonly string[]): ReadonlyMap<string, Json> {
  // Of several, the first counts.
  return new Map(items.toReversed().map((item) => [keyIdentity(item, keys), item]))
}

function childAt(value: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
}
