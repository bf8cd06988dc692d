import type { Graph } from './graph.ts'

/**
 * What a workflow does next, as pure functions of what is known. A node whose own conditions fail is deleted together
 * with all that depends on it; a node is made when everything it depends on is ready, and deleted when everything that
 * depends on it is gone. Nodes that do not depend on each other do not wait for each other, whatever becomes of them.
 */

/** What a node's own conditions say. `unknown`: one of them failed. */
export type Wish = 'wanted' | 'unwanted' | 'inactive' | 'unknown'

/** What is to become of a node. `none`: nothing is done. */
export type Fate = 'reconcile' | 'delete' | 'none'

/** What has become of a node. Without an entry: nothing yet. */
export type NodeState = 'ready' | 'notReady' | 'gone' | 'going' | 'inactive' | 'failed'

/** The fates of all nodes. An inactive node is left alone, but what depends on it cannot be and is deleted. */
export function fatesOf(
  { names, dependenciesOf }: Graph,
  wishes: ReadonlyMap<string, Wish>,
): ReadonlyMap<string, Fate> {
  const fates = new Map<string, Fate>()
  const isOut = (name: string): boolean => wishes.get(name) === 'inactive' || fates.get(name) === 'delete'
  for (const name of names) {
    const wish = wishes.get(name)
    const stays = wish === 'wanted' && !dependenciesOf(name).some(isOut)
    fates.set(name, isLeftAlone(wish) ? 'none' : stays ? 'reconcile' : 'delete')
  }
  return fates
}

/** The fates when everything goes. */
export function fatesAtTheEnd({ names }: Graph, wishes: ReadonlyMap<string, Wish>): ReadonlyMap<string, Fate> {
  return new Map(names.map((name) => [name, isLeftAlone(wishes.get(name)) ? 'none' : 'delete']))
}

function isLeftAlone(wish: Wish | undefined): boolean {
  return wish === 'inactive' || wish === 'unknown'
}

/** The nodes that may be begun now. */
export function nextNodes(
  { names, dependenciesOf, dependentsOf }: Graph,
  fates: ReadonlyMap<string, Fate>,
  states: ReadonlyMap<string, NodeState>,
): readonly string[] {
  const isReady = (name: string): boolean => states.get(name) === 'ready'
  const isOut = (name: string): boolean => states.get(name) === 'gone' || states.get(name) === 'inactive'
  return names.filter((name) => {
    if (states.has(name)) return false
    if (fates.get(name) === 'reconcile') return dependenciesOf(name).every(isReady)
    return fates.get(name) === 'delete' && dependentsOf(name).every(isOut)
  })
}
