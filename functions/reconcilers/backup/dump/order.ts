/** Something of a database that takes a statement of its own. */
export interface DumpNode {
  readonly id: string
  /** Of two that do not depend on each other, the lower goes first; then by text. */
  readonly rank: number
  readonly text: string
}

/** `from` can be made only after `to`. */
export interface Edge {
  readonly from: string
  readonly to: string
}

/**
 * The nodes in an order in which each comes after all it depends on, the same on every call. Throws, naming some, if
 * they go round.
 */
export function inOrder<One extends DumpNode>(nodes: readonly One[], edges: readonly Edge[]): readonly One[] {
  const open = new Map(nodes.map(({ id }) => [id, new Set<string>()]))
  const dependents = new Map<string, string[]>(nodes.map(({ id }) => [id, []]))
  for (const { from, to } of edges) {
    if (from === to || !open.has(from) || !open.has(to)) continue
    open.get(from)?.add(to)
    dependents.get(to)?.push(from)
  }
  const sorted = nodes.toSorted((a, b) => a.rank - b.rank || (a.text < b.text ? -1 : 1))
  const place = new Map(sorted.map(({ id }, i) => [id, i]))
  const ready = createHeap()
  for (const [i, { id }] of sorted.entries()) if (open.get(id)?.size === 0) ready.add(i)
  const ordered: One[] = []
  for (let next = ready.take(); next !== undefined; next = ready.take()) {
    const node = sorted[next] as One
    ordered.push(node)
    for (const dependent of dependents.get(node.id) ?? []) {
      const left = open.get(dependent)
      if (left?.delete(node.id) === true && left.size === 0) ready.add(place.get(dependent) ?? 0)
    }
  }
  if (ordered.length < nodes.length) throw new CycleError(sorted.filter((node) => !ordered.includes(node)))
  return ordered
}

/** Objects that need each other, so that none can be made first. */
export class CycleError extends Error {
  override readonly name = 'CycleError'
  /** How some of their statements begin. */
  readonly some: string

  constructor(nodes: readonly DumpNode[]) {
    const some = nodes.slice(0, 3).map(({ text }) => text.slice(0, 60))
    super(`${nodes.length} statements depend on each other, among them: ${some.join(' | ')}`)
    this.some = some.join(' | ')
  }
}

/** Numbers, smallest first. */
function createHeap() {
  const sorted: number[] = []
  return {
    add: (value: number): void => {
      let [low, high] = [0, sorted.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((sorted[middle] ?? 0) > value) low = middle + 1
        else high = middle
      }
      sorted.splice(low, 0, value)
    },
    take: (): number | undefined => sorted.pop(),
  }
}
