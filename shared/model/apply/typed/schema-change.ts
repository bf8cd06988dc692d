import { fieldSet, leaf, type FieldSet } from '../fields/field-set.ts'
import type { MergeType } from './merge-type.ts'

/**
 * The set as it reads by today's schema. A map or list that has become atomic since the set was written is owned whole
 * by everyone who owned something in it. The other way round nothing is lost: who owned the whole goes on owning it.
 */
export function settle(set: FieldSet, type: MergeType): FieldSet {
  if (set.children.size === 0) return set
  const [first = ''] = set.children.keys()
  const shape = first.startsWith('f:') ? type.map : type.list
  if (shape?.atomic === true) return leaf
  const changed = new Map<string, FieldSet>()
  for (const [element, below] of set.children) {
    const typeBelow = shape?.kind === 'map' ? (shape.fields.get(element.slice(2)) ?? shape.others) : shape?.items
    const settled = typeBelow === undefined ? below : settle(below, typeBelow)
    if (settled !== below) changed.set(element, settled)
  }
  return changed.size === 0 ? set : fieldSet(set.member, new Map([...set.children, ...changed]))
}
