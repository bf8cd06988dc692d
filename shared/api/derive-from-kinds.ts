import type { ServedKind } from '../model/served-kind.ts'
import type { KindCatalog } from '../resources/kind-catalog.ts'

/** A value made from the kinds that are served, made again only after they changed. */
export function deriveFromKinds<Value>(
  catalog: KindCatalog,
  derive: (kinds: readonly ServedKind[]) => Value,
): () => Promise<Value> {
  let last: { readonly kinds: readonly ServedKind[]; readonly value: Value } | undefined
  return async () => {
    const kinds = await catalog.all()
    if (last === undefined || !isSame(kinds, last.kinds)) last = { kinds, value: derive(kinds) }
    return last.value
  }
}

function isSame(a: readonly ServedKind[], b: readonly ServedKind[]): boolean {
  return a === b || (a.length === b.length && a.every((kind, i) => kind === b[i]))
}
