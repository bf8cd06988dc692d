import type { Context } from '../context.ts'
import type { GraphPass } from './run-nodes.ts'

type AnyPass<Primary> = Pick<GraphPass<Primary>, 'graph' | 'dependents' | 'ctx'>

/** Which workflow has a node, by its kind and name, of those that a run has called for. */
const workflowsOf = new WeakMap<Context, Map<string, object>>()

/**
 * Refuses a second workflow in one run with a node of the same kind and name: the objects of both have one label, and
 * each workflow would delete those of the other for ever. Throws a TypeError.
 */
export function refuseRivals<Primary>({ graph, dependents, ctx }: AnyPass<Primary>): void {
  const known = workflowsOf.get(ctx) ?? new Map<string, object>()
  workflowsOf.set(ctx, known)
  for (const [name, { kind }] of Object.entries(dependents)) {
    const node = [kind.group, kind.kind, name].join('/')
    const other = known.get(node) ?? graph
    if (other !== graph)
      throw new TypeError(`another workflow of this run has a node ${name} of ${kind.kind}, too: give one another name`)
    known.set(node, graph)
  }
}
