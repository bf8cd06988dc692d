import { InvariantError } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Context } from '../context.ts'
import type { Kind } from '../kind.ts'
import type { AnyDependents, When } from './dependent.ts'
import type { Graph } from './graph.ts'
import { deleteNode, deleteUnwanted, makeNode, type NodeClaims, type WorkflowNode } from './nodes.ts'
import { fatesAtTheEnd, fatesOf, nextNodes, type Fate, type NodeState, type Wish } from './plan.ts'

/** One pass over a graph, for one primary. */
export interface GraphPass<Primary> {
  readonly graph: Graph
  readonly dependents: AnyDependents<Primary>
  readonly primary: Primary
  readonly ctx: Context
  /** The primary is being deleted, and everything goes. */
  readonly isEnd: boolean
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
  readonly claims: NodeClaims
  /** The nodes that have said which objects they want. */
  readonly saysWanted: Set<string>
  /** The children of a kind, before anything was deleted. */
  readonly childrenBefore: (kind: Kind) => Promise<readonly ApiObject[]>
}

/**
 * Asks the conditions of every node and does what can be done, each node as soon as what it waits for is there. All
 * that is made is made before anything is deleted: what one node no longer wants may be what another one wants now.
 */
export async function runNodes<Primary>(pass: GraphPass<Primary>): Promise<PassResult> {
  const { graph, ctx, isEnd } = pass
  const progress: Progress = {
    states: new Map(),
    objects: new Map(),
    errors: new Map(),
    claims: new Map(),
    saysWanted: new Set(),
    childrenBefore: readOnce(ctx),
  }
  const wishes = await wishesOf(pass, progress)
  const fates = isEnd ? fatesAtTheEnd(graph, wishes) : fatesOf(graph, wishes)
  await runAll(pass, progress, { fates, fate: 'reconcile' })
  await Promise.all(graph.names.map((name) => pruneNode(pass, progress, name)))
  await runAll(pass, progress, { fates, fate: 'delete' })
  return progress
}

/** All nodes of one fate, each as soon as what it waits for is there. */
async function runAll<Primary>(
  pass: GraphPass<Primary>,
  progress: Progress,
  { fates, fate }: { readonly fates: ReadonlyMap<string, Fate>; readonly fate: Fate },
): Promise<void> {
  const begun = new Set<string>()
  const goOn = async (): Promise<void> => {
    const next = nextNodes(pass.graph, fates, progress.states).filter(
      (name) => fates.get(name) === fate && !begun.has(name),
    )
    for (const name of next) begun.add(name)
    await Promise.all(next.map((name) => runNode(pass, progress, { name, fate }).then(goOn)))
  }
  await goOn()
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
  // What it would be told by may be gone by now, and would keep everything here for ever.
  if (pass.isEnd) return 'unwanted'
  return (await holds(wantedWhen, pass)) ? 'wanted' : 'unwanted'
}

async function holds<Primary>(when: When<Primary> | undefined, { primary, ctx }: GraphPass<Primary>): Promise<boolean> {
  return when === undefined || (await when(primary, ctx))
}

async function runNode<Primary>(
  pass: GraphPass<Primary>,
  progress: Progress,
  { name, fate }: { readonly name: string; readonly fate: Fate },
): Promise<void> {
  const node = nodeOf(pass, progress, name)
  if (node === undefined) return
  await attempt(progress, name, async () => {
    if (fate === 'delete') return void progress.states.set(name, await deleteNode(node))
    const { ready, objects } = await makeNode(node)
    progress.states.set(name, ready ? 'ready' : 'notReady')
    progress.objects.set(name, objects)
  })
}

/** Deletes what a node that says what it wants no longer wants. */
async function pruneNode<Primary>(pass: GraphPass<Primary>, progress: Progress, name: string): Promise<void> {
  const node = nodeOf(pass, progress, name)
  if (node === undefined || !progress.saysWanted.has(name)) return
  await attempt(progress, name, () => deleteUnwanted(node))
}

function nodeOf<Primary>(
  { dependents, primary, ctx }: GraphPass<Primary>,
  { childrenBefore, claims, saysWanted }: Progress,
  name: string,
): WorkflowNode<Primary> | undefined {
  const dependent = dependents[name]
  return dependent && { name, dependent, primary, ctx, childrenBefore, claims, saysWanted }
}

/** What fails is the node's: it is noted, and the others go on. */
async function attempt<Result>(progress: Progress, name: string, work: () => Promise<Result>): Promise<Result | void> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof InvariantError) throw error
    progress.states.set(name, 'failed')
    if (!progress.errors.has(name)) progress.errors.set(name, error)
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
