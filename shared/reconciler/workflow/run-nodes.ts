import { InvariantError } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Context } from '../context.ts'
import type { Kind } from '../kind.ts'
import type { AnyDependents, When } from './dependent.ts'
import type { Graph } from './graph.ts'
import { deleteNode, makeNode } from './nodes.ts'
import { nextNodes, type Fate, type NodeState, type Wish } from './plan.ts'

/** One pass over a graph, for one primary. */
export interface GraphPass<Primary> {
  readonly graph: Graph
  readonly dependents: AnyDependents<Primary>
  readonly primary: Primary
  readonly ctx: Context
}

/** What a pass came to. */
export interface PassResult {
  readonly states: ReadonlyMap<string, NodeState>
  /** Of the nodes that were made. */
  readonly objects: ReadonlyMap<string, readonly ApiObject[]>
  /** By node; what does not depend on a failed node was done all the same. */
  readonly errors: ReadonlyMap<string, unknown>
}

/** A pass under way. */
interface Progress extends PassResult {
  readonly states: Map<string, NodeState>
  readonly objects: Map<string, readonly ApiObject[]>
  readonly errors: Map<string, unknown>
  readonly wantedBy: Map<string, string>
  /** The children of a kind, before anything was done. */
  readonly childrenBefore: (kind: Kind) => Promise<readonly ApiObject[]>
}

/** Asks the conditions of every node and does what can be done, each node as soon as what it waits for is there. */
export async function runNodes<Primary>(
  pass: GraphPass<Primary>,
  fatesFor: (graph: Graph, wishes: ReadonlyMap<string, Wish>) => ReadonlyMap<string, Fate>,
): Promise<PassResult> {
  const { graph, ctx } = pass
  const childrenBefore = readOnce(ctx)
  const progress = { states: new Map(), objects: new Map(), errors: new Map(), wantedBy: new Map(), childrenBefore }
  const fates = fatesFor(graph, await wishesOf(pass, progress))
  const begun = new Set<string>()
  const goOn = async (): Promise<void> => {
    const next = nextNodes(graph, fates, progress.states).filter((name) => !begun.has(name))
    for (const name of next) begun.add(name)
    await Promise.all(next.map((name) => runNode(pass, progress, { name, fate: fates.get(name) }).then(goOn)))
  }
  await goOn()
  return progress
}

async function wishesOf<Primary>(pass: GraphPass<Primary>, progress: Progress): Promise<ReadonlyMap<string, Wish>> {
  const wishes = new Map<string, Wish>()
  await Promise.all(
    pass.graph.names.map(async (name) => {
      const wish = (await attempt(progress, name, () => wishOf(pass, name))) ?? 'unknown'
      wishes.set(name, wish)
      if (wish === 'inactive') progress.states.set(name, 'inactive')
    }),
  )
  return wishes
}

async function wishOf<Primary>(pass: GraphPass<Primary>, name: string): Promise<Wish> {
  const { activeWhen, wantedWhen } = pass.dependents[name] ?? {}
  if (!(await holds(activeWhen, pass))) return 'inactive'
  return (await holds(wantedWhen, pass)) ? 'wanted' : 'unwanted'
}

async function holds<Primary>(when: When<Primary> | undefined, { primary, ctx }: GraphPass<Primary>): Promise<boolean> {
  return when === undefined || (await when(primary, ctx))
}

async function runNode<Primary>(
  { dependents, primary, ctx }: GraphPass<Primary>,
  progress: Progress,
  { name, fate }: { readonly name: string; readonly fate: Fate | undefined },
): Promise<void> {
  const dependent = dependents[name]
  if (dependent === undefined) return
  const { childrenBefore, wantedBy } = progress
  const node = { name, dependent, primary, ctx, childrenBefore, wantedBy }
  await attempt(progress, name, async () => {
    if (fate === 'delete') return void progress.states.set(name, await deleteNode(node))
    const { ready, objects } = await makeNode(node)
    progress.states.set(name, ready ? 'ready' : 'notReady')
    progress.objects.set(name, objects)
  })
}

/** What fails is the node's: it is noted, and the others go on. */
async function attempt<Result>(progress: Progress, name: string, work: () => Promise<Result>): Promise<Result | void> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof InvariantError) throw error
    progress.states.set(name, 'failed')
    progress.errors.set(name, error)
  }
}

function readOnce(ctx: Context): Progress['childrenBefore'] {
  const read = new Map<Kind, Promise<readonly ApiObject[]>>()
  return (kind) => {
    const known = read.get(kind) ?? ctx.children(kind)
    read.set(kind, known)
    return known
  }
}
