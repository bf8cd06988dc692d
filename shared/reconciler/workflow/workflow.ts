import { DefinitionError } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Context } from '../context.ts'
import type { Kind, ObjectOf } from '../kind.ts'
import { refuseUnknownOptions, requireFunctions, type KnownOptions } from '../known-options.ts'
import { again, done, waiting, type Again, type Done, type NotReady } from '../outcome.ts'
import { combineFailures } from './combine-failures.ts'
import type { AnyDependents, Dependent } from './dependent.ts'
import { createGraph, type Graph } from './graph.ts'
import type { NodeState } from './plan.ts'
import { refuseRivals } from './refuse-rivals.ts'
import { runNodes, type PassResult } from './run-nodes.ts'

/** Children as a graph: which come after which, on which conditions. */
export interface Workflow<Primary, Kinds extends AnyKinds> {
  /** For the reconciler's `owns`. */
  readonly owns: readonly Kind<unknown, unknown>[]
  /** Makes and deletes what can be made and deleted now. Throws, when all that is done, if a node failed. */
  run(primary: Primary, ctx: Context): Promise<WorkflowResult<Kinds>>
  /**
   * Deletes what can be deleted now, those nodes first that nothing depends on; true when all are gone. Throws like
   * `run`.
   */
  tearDown(primary: Primary, ctx: Context): Promise<true | NotReady>
  /** `run` as a reconciler: Ready when every node is. It runs each minute while a `goneWhen` is waited for. */
  reconcile(primary: Primary, ctx: Context): Promise<Done<never> | Again<never>>
  /**
   * `tearDown` as a clean-up: the primary stays until all nodes are gone. Nodes of a primary that is deleted with
   * `--cascade=orphan` stay.
   */
  cleanup(primary: Primary, ctx: Context): Promise<Done<never> | Again<never>>
}

export interface WorkflowResult<Kinds extends AnyKinds> {
  /** `waiting`: what it depends on is not ready, or what depends on it not gone. */
  readonly states: { readonly [Name in keyof Kinds]: NodeState | 'waiting' }
  /** As they are now, of the nodes that were made; none of the others. */
  readonly objects: { readonly [Name in keyof Kinds]: readonly ObjectOf<Kinds[Name]>[] }
  /** True if every node that is wanted is ready and every other is gone; for `done({ ready })`. */
  readonly ready: true | NotReady
}

type AnyKinds = Readonly<Record<string, Kind<unknown, unknown>>>

/**
 * A workflow for a kind. Names of nodes go into a label of their objects, so that a node that wants fewer, or other
 * ones, knows which are its own. Throws a TypeError for a circle, and for names that no label can have. Two workflows
 * of one primary have other names for nodes of one kind: a run that calls for both throws a TypeError otherwise.
 */
export function workflow<Primary, Kinds extends AnyKinds>(
  primary: Kind<Primary, unknown>,
  nodes: { readonly [Name in keyof Kinds]: Dependent<Primary, Kinds[Name], keyof Kinds & string> },
): Workflow<Primary, Kinds> {
  const dependents = nodes as unknown as AnyDependents<Primary>
  const graph = createGraph(dependenciesIn(primary, dependents), `workflow of ${primary.kind}`)

  const run: Workflow<Primary, Kinds>['run'] = async (object, ctx) => {
    refuseRivals({ graph, dependents, ctx })
    const result = await runNodes({ graph, dependents, primary: object, ctx, isEnd: false })
    throwErrors(result)
    return toWorkflowResult(graph, result)
  }

  const tearDown: Workflow<Primary, Kinds>['tearDown'] = async (object, ctx) => {
    refuseRivals({ graph, dependents, ctx })
    const result = await runNodes({ graph, dependents, primary: object, ctx, isEnd: true })
    throwErrors(result)
    return readiness(graph, result)
  }

  return {
    owns: [...new Set(Object.values(dependents).map(({ kind }) => kind))] as readonly Kind<unknown, unknown>[],
    run,
    tearDown,
    reconcile: async (object, ctx) => {
      const { states, ready } = await run(object, ctx)
      const awaits = (name: string): boolean => states[name] === 'going' && dependents[name]?.goneWhen !== undefined
      return graph.names.some(awaits) ? again(goneCheckMs, { ready }) : done({ ready })
    },
    cleanup: async (object, ctx) => {
      if (isLettingGo(object)) return done()
      const ready = await tearDown(object, ctx)
      return ready === true ? done() : again(goneCheckMs, { ready })
    },
  }
}

/** Whoever deletes with `--cascade=orphan` keeps the dependents: nothing owns them from then on. */
function isLettingGo(object: unknown): boolean {
  return (object as ApiObject).metadata.finalizers?.includes('orphan') === true
}

/** A child that goes wakes its owner; this is for conditions that nothing tells of. */
const goneCheckMs = 60_000

function dependenciesIn<Primary>(
  { kind }: Kind<Primary, unknown>,
  dependents: AnyDependents<Primary>,
): Readonly<Record<string, readonly string[]>> {
  for (const [name, node] of Object.entries(dependents)) {
    if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i.test(name))
      throw new DefinitionError(
        `workflow of ${kind}: ${name} is no name for a node: letters, digits and dashes, 63 at most`,
      )
    refuseUnknownOptions(`workflow of ${kind}: ${name}`, node, knownOptions)
    requireFunctions(`workflow of ${kind}: ${name}`, node, ['desired'])
  }
  return Object.fromEntries(Object.entries(dependents).map(([name, { dependsOn = [] }]) => [name, dependsOn]))
}

const knownOptions: KnownOptions<Dependent<unknown, unknown, string>> = {
  kind: true,
  dependsOn: true,
  desired: true,
  wantedWhen: true,
  readyWhen: true,
  goneWhen: true,
  activeWhen: true,
}

function throwErrors({ errors }: PassResult): void {
  if (errors.size > 0) throw combineFailures([...errors].map(([name, error]) => ({ name, error })))
}

function toWorkflowResult<Kinds extends AnyKinds>(graph: Graph, result: PassResult): WorkflowResult<Kinds> {
  const byName = <Value>(value: (name: string) => Value) =>
    Object.fromEntries(graph.names.map((name) => [name, value(name)]))
  return {
    states: byName((name) => result.states.get(name) ?? 'waiting') as WorkflowResult<Kinds>['states'],
    objects: byName((name) => result.objects.get(name) ?? []) as unknown as WorkflowResult<Kinds>['objects'],
    ready: readiness(graph, result),
  }
}

/** Names what is waited for, and not what waits for that. */
function readiness({ names }: Graph, { states }: PassResult): true | NotReady {
  const pending = names.flatMap((name) => describePending(name, states.get(name)))
  return pending.length === 0 ? true : waiting('DependentsNotReady', pending.join('; '))
}

function describePending(name: string, state: NodeState | undefined): readonly string[] {
  if (state === 'notReady') return [`${name} is not ready`]
  if (state === 'going') return [`${name} is being deleted`]
  return []
}
