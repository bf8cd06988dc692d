import type { ServedKind } from '../../model/served-kind.ts'
import { compareVersions } from '../../model/version-order.ts'

/** One group in one version, with its kinds: what discovery and the schema documents are written about. */
export interface GroupVersion {
  readonly group: string
  readonly version: string
  readonly kinds: readonly ServedKind[]
}

/** The group versions of some kinds. Groups stand in the order of their first kinds, and versions as clients prefer. */
export function groupVersions(kinds: readonly ServedKind[]): readonly GroupVersion[] {
  const found = new Map<string, ServedKind[]>()
  for (const kind of kinds) {
    const name = `${kind.group}/${kind.version}`
    const together = found.get(name)
    if (together === undefined) found.set(name, [kind])
    else together.push(kind)
  }
  const versions = [...found.values()].map((together) => {
    const [{ group, version }] = together as [ServedKind]
    return { group, version, kinds: together }
  })
  return [...byGroup(versions).values()].flatMap((ofGroup) =>
    ofGroup.toSorted((one, other) => compareVersions(one.version, other.version)),
  )
}

/** Group versions by group, in order. */
export function byGroup(versions: readonly GroupVersion[]): ReadonlyMap<string, readonly GroupVersion[]> {
  return Map.groupBy(versions, ({ group }) => group)
}
