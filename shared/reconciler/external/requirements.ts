import { conditionOf, type ConditionPatch } from '../../model/conditions.ts'
import type { Json } from '../../model/json.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { Context } from '../context.ts'
import type { Kind } from '../kind.ts'
import { reference, type Reference, type ReferenceTo } from '../watches.ts'

/**
 * References that must be valid before anything is done outside: each has a condition of its own, and its changes wake
 * the object.
 */
export interface Requirement<Read, Target> {
  readonly kind: Kind<unknown, unknown>
  readonly of: (object: Read) => Reference | undefined
  /** What is outside is inside of what that stands for, and goes with it. */
  readonly contains: boolean
  /** Never set: carries the type. */
  readonly target?: () => Target
}

export type Requirements<Read> = Readonly<Record<string, Requirement<Read, unknown>>>

/** The objects that were found, by the names of the requirements. */
export type Resolved<Required> = {
  readonly [Name in keyof Required]: Required[Name] extends { readonly target?: () => infer Target } ? Target : never
}

/**
 * An object that must exist and be Ready, if its kind has a status. `contains`: the entity outside is part of the
 * other's, so that there is nothing to clean up once that is gone.
 */
export function requires<Read, Target>(
  kind: Kind<Target, unknown>,
  of: (object: Read) => Reference,
  { contains = false }: { readonly contains?: boolean } = {},
): Requirement<Read, Target> {
  return { kind, of, contains }
}

/** As `requires`, if the object names one. */
export function mayRequire<Read, Target>(
  kind: Kind<Target, unknown>,
  of: (object: Read) => Reference | undefined,
): Requirement<Read, Target | undefined> {
  return { kind, of, contains: false }
}

/** What has become of the references of one object. */
export interface Found {
  readonly objects: Readonly<Record<string, ApiObject | undefined>>
  /** One for each reference that the object has. */
  readonly conditions: Readonly<Record<string, ConditionPatch>>
  /** The conditions that are not True. */
  readonly invalid: readonly ConditionPatch[]
  /** What the entity would be a part of is gone. */
  readonly isContainerGone: boolean
  /** What the entity is inside of, by the names of the requirements: `namespace/name`. */
  readonly inside: { readonly [requirement: string]: string }
  /** Other objects, or others in their place, make it another declaration. */
  readonly identity: Json
}

/** `inside`: what the entity is inside of already, whatever the object says now. */
export async function findRequired(
  object: ApiObject,
  requirements: Requirements<ApiObject>,
  { ctx, inside = {} }: { readonly ctx: Context; readonly inside?: Found['inside'] | undefined },
): Promise<Found> {
  const looked = await Promise.all(
    Object.entries(requirements).map(([name, requirement]) =>
      findOne(name, requirement, { object, ctx, inside: inside[name] }),
    ),
  )
  const found = looked.filter((one) => one !== undefined)
  const conditions = found.map(({ name, condition }) => [`${name}Valid`, condition] as const)
  return {
    objects: Object.fromEntries(found.map(({ name, target }) => [name, target])),
    conditions: Object.fromEntries(conditions),
    invalid: found.flatMap(({ condition }) => (condition.status === 'True' ? [] : [condition])),
    isContainerGone: found.some(({ contains, target }) => contains && target === undefined),
    inside: Object.fromEntries(found.flatMap(({ name, contains, path }) => (contains ? [[name, path]] : []))),
    identity: Object.fromEntries(found.map(({ name, target }) => [name, identityOf(target)])),
  }
}

interface FoundOne {
  readonly name: string
  readonly target: ApiObject | undefined
  readonly contains: boolean
  /** `namespace/name` */
  readonly path: string
  readonly condition: ConditionPatch
}

async function findOne(
  name: string,
  { kind, of, contains }: Requirement<ApiObject, unknown>,
  { object, ctx, inside }: { readonly object: ApiObject; readonly ctx: Context; readonly inside: string | undefined },
): Promise<FoundOne | undefined> {
  const at = inside === undefined ? of(object) : placeOf(inside)
  if (at === undefined) return undefined
  const path = `${at.namespace ?? object.metadata.namespace ?? ''}/${at.name}`
  const target = (await ctx.get(kind, at)) as ApiObject | undefined
  const isElsewhere = at.namespace !== undefined && at.namespace !== object.metadata.namespace
  const text = `${kind.kind} ${isElsewhere ? path : at.name}`
  return {
    name,
    target,
    contains,
    path,
    condition: validityOf(target, { text, hasStatus: kind.definition !== undefined }),
  }
}

function placeOf(path: string): Reference {
  const [namespace = '', name = ''] = path.split('/')
  return { name, namespace }
}

function validityOf(
  target: ApiObject | undefined,
  { text, hasStatus }: { readonly text: string; readonly hasStatus: boolean },
): ConditionPatch {
  if (target === undefined) return { status: 'False', reason: 'NotFound', message: `${text} does not exist` }
  if (isDeleting(target)) return { status: 'False', reason: 'BeingDeleted', message: `${text} is being deleted` }
  // Of whatever generation: an edit of it that is not observed yet takes nothing away from those who refer to it.
  if (hasStatus && conditionOf(target, 'Ready')?.status !== 'True')
    return { status: 'False', reason: 'NotReady', message: `${text} is not ready` }
  return { status: 'True', reason: 'Valid' }
}

/** An object with a status is another one if its entity is; one without, such as a Secret, with each change. */
function identityOf(target: ApiObject | undefined): Json {
  if (target === undefined) return null
  const { uid, resourceVersion } = target.metadata
  return [uid, target.status === undefined ? (resourceVersion ?? null) : (target.status['id'] ?? null)]
}

/** The watches that wake an object when what it requires changes. */
export function watchesOf(requirements: Requirements<ApiObject>): readonly ReferenceTo<ApiObject>[] {
  return Object.values(requirements).map(({ kind, of }) => reference(kind, of))
}
