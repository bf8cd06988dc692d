import { YamlFault } from './yaml-faults.ts'
import { isAlias, isMap, isPair, isScalar, isSeq, type Document } from 'yaml'

/** What `<<` merges into maps, copied for each of them, costs. */
const valuesMax = 10_000

/** Throws an Error if merged maps stand for too many values: they may have been merged of others themselves. */
export function requireFewMerged(document: Document): void {
  if (countAllMerged(document) > valuesMax)
    throw new YamlFault(`maps that are merged by << stand for more than ${valuesMax} values`)
}

/**
 * How many values are merged into all maps: those of each source, and those that are merged into the source. What
 * stands in itself has no end.
 */
function countAllMerged(document: Document): number {
  let merged = 0
  const known = new Map<unknown, number>()
  const sum = (nodes: readonly unknown[], of: (node: unknown) => number): number =>
    nodes.reduce<number>((total, node) => total + of(node), 0)
  const countNew = (node: unknown): number => {
    if (isPair(node) && isMerge(node.key)) {
      const counted = countMerged(node.value)
      merged += counted
      return counted
    }
    if (isPair(node)) return 1 + count(node.value)
    return isMap(node) || isSeq(node) ? 1 + sum(node.items, count) : 1
  }
  const countMerged = (source: unknown): number => {
    const found = isAlias(source) ? source.resolve(document) : source
    return isSeq(found) ? sum(found.items, countMerged) : count(found)
  }
  const count = (node: unknown): number => {
    const before = known.get(node)
    if (before !== undefined) return before
    known.set(node, Infinity)
    const counted = countNew(node)
    known.set(node, counted)
    return counted
  }
  count(document.contents)
  return merged
}

function isMerge(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'symbol'
}
