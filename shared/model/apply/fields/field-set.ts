/**
 * A set of fields as a tree. The way from one place to the next is a path element in FieldsV1 notation (field-path.ts),
 * so a set and its stored form have the same shape. Sets are values: an operation shares what it does not change, and
 * an operation that changes nothing returns its first argument itself.
 */
export interface FieldSet {
  /** Whether the field at this place belongs to the set, whatever is below it. The root never does. */
  readonly member: boolean
  /** No child is empty: each is a member itself or has members below it. */
  readonly children: ReadonlyMap<string, FieldSet>
}

const nothingBelow: ReadonlyMap<string, FieldSet> = new Map()

/** The empty set. There is only this one, so `===` tells emptiness. */
export const noFields: FieldSet = { member: false, children: nothingBelow }

/** One field with nothing below it. */
export const leaf: FieldSet = { member: true, children: nothingBelow }

/** The only way to make a set. `children` must hold no empty set and must not be changed afterwards. */
export function fieldSet(member: boolean, children: ReadonlyMap<string, FieldSet>): FieldSet {
  if (children.size > 0) return { member, children }
  return member ? leaf : noFields
}

/** The set of the given paths; the fields above them are not in it. */
export function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  return unionOf(paths.map(setOfPath))
}

function setOfPath(path: readonly string[]): FieldSet {
  return path.reduceRight((below, element) => fieldSet(false, new Map([[element, below]])), leaf)
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || b === noFields) return a
  if (a === noFields) return b
  const children = new Map(a.children)
  for (const [element, below] of b.children) children.set(element, union(children.get(element) ?? noFields, below))
  return fieldSet(a.member || b.member, children)
}

/** All of the sets together. The work grows with the fields that they have, and not with how many sets there are. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  const given = sets.filter((set) => set !== noFields)
  if (given.length < 2) return given[0] ?? noFields
  const places = given.flatMap(({ children }) => [...children])
  const below = [...Map.groupBy(places, ([element]) => element)].map(
    ([element, alike]) => [element, unionOf(alike.map(([, set]) => set))] as const,
  )
  const isMember = given.some(({ member }) => member)
  return fieldSet(isMember, new Map(below))
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === noFields || b === noFields) return noFields
  const children = new Map<string, FieldSet>()
  for (const [element, below] of a.children) {
    const common = intersection(below, b.children.get(element) ?? noFields)
    if (common !== noFields) children.set(element, common)
  }
  return fieldSet(a.member && b.member, children)
}

/** The fields of `a` that are not in `b`. Fields below those of `b` stay. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return subtract(a, b, difference)
}

/** The fields of `a` that are neither in `b` nor below a field of `b`. */
export function differenceBelow(a: FieldSet, b: FieldSet): FieldSet {
  return b.member ? noFields : subtract(a, b, differenceBelow)
}

function subtract(a: FieldSet, b: FieldSet, below: (a: FieldSet, b: FieldSet) => FieldSet): FieldSet {
  if (a === noFields || b === noFields) return a
  const changed = new Map<string, FieldSet>()
  for (const [element, theirs] of b.children) {
    const mine = a.children.get(element)
    const left = mine && below(mine, theirs)
    if (left !== mine && left !== undefined) changed.set(element, left)
  }
  const member = a.member && !b.member
  if (changed.size === 0) return member === a.member ? a : fieldSet(member, a.children)
  return fieldSet(member, replaceChildren(a.children, changed))
}

function replaceChildren(
  children: ReadonlyMap<string, FieldSet>,
  changed: ReadonlyMap<string, FieldSet>,
): ReadonlyMap<string, FieldSet> {
  const result = new Map(children)
  for (const [element, set] of changed) {
    if (set === noFields) result.delete(element)
    else result.set(element, set)
  }
  return result
}

/** Whether every field of `a` is in `b`. */
export function isSubset(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.member && !b.member) return false
  for (const [element, below] of a.children) {
    const other = b.children.get(element)
    if (other === undefined || !isSubset(below, other)) return false
  }
  return true
}

export function sameFields(a: FieldSet, b: FieldSet): boolean {
  return isSubset(a, b) && isSubset(b, a)
}

/** How many fields there are. */
export function countFields({ member, children }: FieldSet): number {
  let count = member ? 1 : 0
  for (const below of children.values()) count += countFields(below)
  return count
}

/**
 * Every field as its path, or the first so many, in the order Kubernetes lists them: at each place first the members,
 * then what is below.
 */
export function pathsOf(set: FieldSet, most = Infinity): readonly (readonly string[])[] {
  const paths: (readonly string[])[] = []
  addPaths(set, [], { paths, most })
  return paths
}

interface Listing {
  readonly paths: (readonly string[])[]
  readonly most: number
}

function addPaths(set: FieldSet, above: readonly string[], listing: Listing): void {
  const { paths, most } = listing
  const children = [...set.children].sort(byElement)
  for (const [element, below] of children) {
    if (paths.length >= most) return
    if (below.member) paths.push([...above, element])
  }
  for (const [element, below] of children) {
    if (paths.length >= most) return
    if (below.children.size > 0) addPaths(below, [...above, element], listing)
  }
}

/** Order of the children of one place, for listings and the stored form; the set itself has none. */
export function byElement([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
