import { OperatingError } from '../model/errors.ts'
import { isObject, textOf, type Json, type JsonObject } from '../model/json.ts'
import type { ApiObject } from '../model/object.ts'
import { checkConfig } from '../model/apply/typed/check-config.ts'
import { merge } from '../model/apply/typed/merge.ts'
import { mergeTypeOf, shapeFor, type MergeType } from '../model/apply/typed/merge-type.ts'
import type { AdmissionBudget } from '../model/policy/admission-budget.ts'
import type { PolicyPatch } from '../model/policy/mutate.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { admitBody } from './admission.ts'
import { jsonPatch, misfit, tryPatch, type Spend } from './json-patch.ts'
import { replaceObject, withGeneration, withStatus } from './transitions.ts'

/** What is patched: an object on its way into the store, by what admission makes of it. */
export interface Patched {
  readonly kind: ServedKind
  readonly object: ApiObject
  /** What is there; absent for a creation. */
  readonly old?: ApiObject
  readonly subresource: string
  /** What is written is no object of its own. */
  readonly resource?: ServedKind
  /** Takes what the patch costs. */
  readonly budget?: AdmissionBudget | undefined
}

/**
 * The object with a patch, pruned and with its defaults; the same object if it changes nothing. What is the server's
 * own stays. Throws OperatingError for a patch that does not fit.
 */
export function withPolicyPatch(patched: Patched, patch: PolicyPatch): ApiObject {
  const { kind, object } = patched
  return withAdmitted(
    patched,
    patch.type === 'json'
      ? withOperations(object, patch.operations, budgeted(patched))
      : lay(kind, object, patch.config),
  )
}

/** The same with operations of JSON Patch, all of which have to fit. */
export function withPatch(patched: Patched, operations: readonly JsonObject[]): ApiObject {
  return withAdmitted(patched, jsonPatch(patched.object, operations, budgeted(patched)))
}

function budgeted({ budget }: Patched): Spend | undefined {
  return budget && ((steps) => budget.spend(steps))
}

/** An operation `test` that does not hold leaves the object as it is. */
function withOperations(object: ApiObject, operations: readonly JsonObject[], spend: Spend | undefined): JsonObject {
  const made = tryPatch(object, operations, spend)
  if ('object' in made) return made.object
  const failed = operations[made.misfit] ?? {}
  if (failed['op'] === 'test') return object
  throw misfit(made.misfit, failed)
}

/** In the words of Kubernetes. */
function lay(kind: ServedKind, object: ApiObject, config: JsonObject): JsonObject {
  const type = mergeTypeOf(kind.schema)
  const whole = { ...config, apiVersion: object.apiVersion, kind: kind.kind }
  const misfits = checkConfig(whole, type)
  if (misfits.length > 0) {
    const lines = misfits.map(({ path, message }) => `${path}: ${message}`)
    throw wrong(`failed to convert patch object to typed object: ${lines.join('; ')}`)
  }
  const atomics = findAtomics(whole, type, '')
  if (atomics.length > 0)
    throw wrong(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`)
  return merge(object, whole, type) as JsonObject
}

function wrong(why: string): OperatingError {
  return new OperatingError('INVALID', `error applying patch: ${why}`)
}

/** Who sets one field of what is of one piece would remove all others. */
function findAtomics(value: Json, type: MergeType, path: string): readonly string[] {
  if (value === null || typeof value !== 'object') return []
  const shape = shapeFor(type, value)
  if (shape.kind === 'scalar') return []
  const own = shape.atomic ? [path] : []
  if (shape.kind === 'list')
    return [...own, ...(value as readonly Json[]).flatMap((item, i) => findAtomics(item, shape.items, `${path}[${i}]`))]
  const fields = isObject(value) ? Object.entries(value) : []
  return [
    ...own,
    ...fields.flatMap(([name, part]) => {
      const inner = shape.fields.get(name)
      return part === undefined || inner === undefined ? [] : findAtomics(part, inner, `${path}.${name}`)
    }),
  ]
}

/** The object that admission makes of another. */
function withAdmitted({ kind, resource, object, old, subresource }: Patched, made: JsonObject): ApiObject {
  if (made === object) return object
  const { body } = admitBody(kind, made, { fieldValidation: 'Ignore' })
  if (resource !== undefined) return { ...object, ...body, metadata: object.metadata }
  // It stays in the version that it is shown in, which may be another one than that of the store.
  const { apiVersion } = object
  if (subresource === 'status') return { ...withStatus(kind, object, body), apiVersion }
  const next = { ...replaceObject(kind, old === undefined ? named(object, body) : object, body), apiVersion }
  return old === undefined ? withBirth(next) : withGeneration(kind, old, next)
}

/** An object whose name is to be made may be named by who changes it, as on Kubernetes. */
function named(object: ApiObject, { metadata }: JsonObject): ApiObject {
  const name = isObject(metadata) ? textOf(metadata['name']) : ''
  if (textOf(object.metadata.name) !== '' || name === '') return object
  return { ...object, metadata: { ...object.metadata, name } }
}

function withBirth(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata, generation: 1 } }
}
