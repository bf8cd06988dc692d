import { isObject, type JsonObject } from '../../model/json.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { Applied, Context } from '../context.ts'
import type { Kind } from '../kind.ts'
import { refusePromise } from '../refuse-promise.ts'
import { allDone } from './combine-failures.ts'
import type { Dependent } from './dependent.ts'

/** Says which node of its owner's workflow an object belongs to. */
const dependentLabel = 'setpoint.dev/dependent'

/** Which node of a pass wants an object, by its kind and place. */
export type NodeClaims = Map<string, string>

/** One node of one primary. */
export interface WorkflowNode<Primary> {
  readonly name: string
  readonly dependent: Dependent<Primary, Kind, string>
  readonly primary: Primary
  readonly ctx: Context
  /** The children of a kind, before anything was deleted. */
  readonly childrenBefore: (kind: Kind) => Promise<readonly ApiObject[]>
  readonly claims: NodeClaims
  /** The nodes that have said which objects they want. */
  readonly saysWanted: Set<string>
}

export interface Made {
  readonly objects: readonly ApiObject[]
  readonly ready: boolean
}

/** Applies what is wanted; all of it, even if some of it fails. */
export async function makeNode<Primary>(node: WorkflowNode<Primary>): Promise<Made> {
  const { name, dependent, primary, ctx, saysWanted } = node
  const wanted = toList(await dependent.desired(primary, ctx))
  for (const object of wanted) claim(node, requireWanted(object).metadata)
  saysWanted.add(name)
  const objects = await allDone(wanted.map((object) => ctx.apply(dependent.kind, labelNode(object, name))))
  return { objects, ready: objects.every((object) => !isDeleting(object) && isReady(node, object)) }
}

function isReady<Primary>({ dependent, primary }: WorkflowNode<Primary>, object: ApiObject): boolean {
  const { readyWhen = () => true } = dependent
  const ready = readyWhen(object, primary)
  refusePromise(ready, 'readyWhen tells at once whether an object is ready')
  return ready
}

/** Throws a TypeError for what is left out where there are no types. */
function requireWanted(object: Applied<JsonObject>): Applied<JsonObject> {
  if (isObject(object) && isObject(object.metadata)) return object
  throw new TypeError(
    `desired returns an object with metadata, or a list of them, and not ${JSON.stringify(object)}: wantedWhen says that none is wanted`,
  )
}

/** Two nodes would undo each other's work for ever. */
function claim<Primary>(node: WorkflowNode<Primary>, at: Named): void {
  const { name, dependent, claims } = node
  const place = placeText(node, at)
  const other = claims.get(place)
  if (other === name) throw new TypeError(`${name} wants the same object twice: ${at.name}`)
  if (other !== undefined) throw new TypeError(`it wants ${dependent.kind.kind} ${at.name}, which ${other} wants, too`)
  claims.set(place, name)
}

interface Named {
  readonly name: string
  readonly namespace?: string
}

function placeText<Primary>({ dependent: { kind }, primary }: WorkflowNode<Primary>, at: Named): string {
  const own = (primary as ApiObject).metadata.namespace
  const namespace = kind.namespaced ? (at.namespace ?? own ?? '') : ''
  return [kind.group, kind.kind, namespace, at.name].join('/')
}

/** Asks for the deletion of the node's objects that no node wants. */
export async function deleteUnwanted<Primary>(node: WorkflowNode<Primary>): Promise<void> {
  await deleteObjects(node, unwanted(node, await node.childrenBefore(node.dependent.kind)))
}

/** Asks for the deletion of the node's objects, and tells whether they are gone. */
export async function deleteNode<Primary>(node: WorkflowNode<Primary>): Promise<'gone' | 'going'> {
  const { dependent, primary, ctx, childrenBefore } = node
  const objects = unwanted(node, await childrenBefore(dependent.kind))
  await deleteObjects(node, objects)
  const isGone =
    dependent.goneWhen === undefined
      ? objects.length === 0 || unwanted(node, await ctx.children(dependent.kind)).length === 0
      : await dependent.goneWhen(primary, ctx)
  return isGone ? 'gone' : 'going'
}

/** The node's own of these, but for those that a node wants: another one may have taken them over. */
function unwanted<Primary>(node: WorkflowNode<Primary>, children: readonly ApiObject[]): readonly ApiObject[] {
  return children.filter(
    ({ metadata }) => metadata.labels?.[dependentLabel] === node.name && !node.claims.has(placeText(node, metadata)),
  )
}

async function deleteObjects<Primary>(
  { ctx, dependent }: WorkflowNode<Primary>,
  objects: readonly ApiObject[],
): Promise<void> {
  const living = objects.filter((object) => !isDeleting(object))
  await allDone(living.map(({ metadata }) => ctx.delete(dependent.kind, placeOf(metadata))))
}

/** Another object may have got the name since the children were read. */
function placeOf({ name, namespace, uid }: ApiObject['metadata']): Named & { readonly uid: string } {
  return { name, uid, ...(namespace !== undefined && { namespace }) }
}

function toList<One>(given: One | readonly One[]): readonly One[] {
  return Array.isArray(given) ? (given as readonly One[]) : [given as One]
}

function labelNode(object: Applied<JsonObject>, node: string): Applied<JsonObject> {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, labels: { ...metadata.labels, [dependentLabel]: node } } }
}
