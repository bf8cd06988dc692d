import type { JsonObject } from '../../model/json.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { Applied, Context } from '../context.ts'
import type { Kind } from '../kind.ts'
import { allDone } from './combine-failures.ts'
import type { Dependent } from './dependent.ts'

/** Says which node of its owner's workflow an object belongs to. */
const dependentLabel = 'setpoint.dev/dependent'

/** One node of one primary. */
export interface WorkflowNode<Primary> {
  readonly name: string
  readonly dependent: Dependent<Primary, Kind, string>
  readonly primary: Primary
  readonly ctx: Context
  /** The children of a kind, before anything was done. */
  readonly childrenBefore: (kind: Kind) => Promise<readonly ApiObject[]>
  /** Which node of this pass wants an object. */
  readonly wantedBy: Map<string, string>
}

export interface Made {
  readonly objects: readonly ApiObject[]
  readonly ready: boolean
}

/** Applies what is wanted and deletes what no longer is; all of it, even if some of it fails. */
export async function makeNode<Primary>(node: WorkflowNode<Primary>): Promise<Made> {
  const { name, dependent, primary, ctx } = node
  const { kind, readyWhen = () => true } = dependent
  const wanted = toList(await dependent.desired(primary, ctx))
  const names = wanted.map(({ metadata }) => metadata.name)
  if (new Set(names).size < names.length)
    throw new TypeError(`${name} wants the same object twice: ${names.join(', ')}`)
  for (const { metadata } of wanted) claim(node, metadata)
  const extra = (await ownObjects(node)).filter(({ metadata }) => !names.includes(metadata.name))
  const [objects] = await Promise.all([
    allDone(wanted.map((object) => ctx.apply(kind, labelNode(object, name)))),
    deleteObjects(node, extra),
  ])
  return { objects, ready: objects.every((object) => !isDeleting(object) && readyWhen(object, primary)) }
}

/** Two nodes would undo each other's work for ever. */
function claim<Primary>(
  { name, dependent: { kind }, wantedBy }: WorkflowNode<Primary>,
  { name: object, namespace = '' }: { readonly name: string; readonly namespace?: string },
): void {
  const key = [kind.group, kind.kind, namespace, object].join('/')
  const other = wantedBy.get(key)
  if (other !== undefined) throw new TypeError(`it wants ${kind.kind} ${object}, which ${other} wants, too`)
  wantedBy.set(key, name)
}

/** Asks for the deletion of the node's objects, and tells whether they are gone. */
export async function deleteNode<Primary>(node: WorkflowNode<Primary>): Promise<'gone' | 'going'> {
  const { name, dependent, primary, ctx } = node
  const objects = await ownObjects(node)
  await deleteObjects(node, objects)
  const isGone =
    dependent.goneWhen === undefined
      ? objects.length === 0 || of(name, await ctx.children(dependent.kind)).length === 0
      : await dependent.goneWhen(primary, ctx)
  return isGone ? 'gone' : 'going'
}

async function ownObjects<Primary>({
  name,
  dependent,
  childrenBefore,
}: WorkflowNode<Primary>): Promise<readonly ApiObject[]> {
  return of(name, await childrenBefore(dependent.kind))
}

function of(name: string, children: readonly ApiObject[]): readonly ApiObject[] {
  return children.filter(({ metadata }) => metadata.labels?.[dependentLabel] === name)
}

async function deleteObjects<Primary>(
  { ctx, dependent }: WorkflowNode<Primary>,
  objects: readonly ApiObject[],
): Promise<void> {
  const living = objects.filter((object) => !isDeleting(object))
  await allDone(living.map(({ metadata }) => ctx.delete(dependent.kind, placeOf(metadata))))
}

function placeOf({ name, namespace }: ApiObject['metadata']): { readonly name: string; readonly namespace?: string } {
  return { name, ...(namespace !== undefined && { namespace }) }
}

function toList<One>(given: One | readonly One[]): readonly One[] {
  return Array.isArray(given) ? (given as readonly One[]) : [given as One]
}

function labelNode(object: Applied<JsonObject>, node: string): Applied<JsonObject> {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, [dependentLabel]: node } } }
}
