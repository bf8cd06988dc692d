import type { ServedKind } from '../model/served-kind.ts'
import type { KindCatalog } from '../resources/kind-catalog.ts'

/**
 * A value made from the kinds that are served, made again only after they changed. `before` is the one that was made
 * last. Whoever asks while it is made waits for the same one.
 */
export function deriveFromKinds<Value>(
  catalog: KindCatalog,
  derive: (kinds: readonly ServedKind[], before: Value | undefined) => Value | Promise<Value>,
): () => Promise<Value> {
  let last: { readonly kinds: readonly ServedKind[]; readonly value: Value | Promise<Value> } | undefined
  let made: Value | undefined
  return async () => {
    const kinds = await catalog.all()
    if (last === undefined || !areSameKinds(kinds, last.kinds)) last = { kinds, value: derive(kinds, made) }
    const asked = last
    try {
      const value = await asked.value
      made = value
      return value
    } catch (error) {
      if (last === asked) last = undefined
      throw error
    }
  }
}

/** Whether they are the same kinds, in the same order. */
export function areSameKinds(a: readonly ServedKind[], b: readonly ServedKind[]): boolean {
  return a === b || (a.length === b.length && a.every((kind, i) => kind === b[i]))
}
