import type { Condition } from './conditions.ts'
import { acceptNames } from './crd/accept-names.ts'
import { checkNames, checkNamesUnchanged } from './crd/check-names.ts'
import { checkVersion } from './crd/check-version.ts'
import { customResourceDefinitionSchema } from './crd/crd-schema.ts'
import { equal, type Json } from './json.ts'
import type { ApiObject, ObjectMeta } from './object.ts'
import { entry, type FieldError, invalid } from './schema/field-error.ts'
import type { StructuralSchema } from './schema/structural-schema.ts'
import { validate } from './schema/validate.ts'
import type { PrinterColumn } from './served-kind.ts'
import { timestamp } from './time.ts'

/** The kind that defines kinds: apiextensions.k8s.io/v1, without conversion by webhook. */
export interface CustomResourceDefinition {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<Partial<ObjectMeta>> & { readonly name: string }
  readonly spec: CustomResourceDefinitionSpec
  readonly status?: CustomResourceDefinitionStatus
}

/** One kind in one group, in one or several versions that differ in their schemas only. */
export interface CustomResourceDefinitionSpec {
  readonly group: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly names: CustomResourceDefinitionNames
  readonly versions: readonly CustomResourceDefinitionVersion[]
  readonly conversion?: { readonly strategy: 'None' }
  readonly preserveUnknownFields?: boolean
}

/** What a kind is called: in objects, in paths and on the command line. */
export interface CustomResourceDefinitionNames {
  readonly kind: string
  readonly plural: string
  /** Default: the kind in lower case. */
  readonly singular?: string
  /** Default: the kind with `List` behind it. */
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

/** One version of a kind. */
export interface CustomResourceDefinitionVersion {
  readonly name: string
  readonly served: boolean
  /** True for exactly one version: the one objects are stored in. */
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: { readonly openAPIV3Schema?: StructuralSchema }
  readonly subresources?: { readonly status?: object; readonly scale?: ScalePaths }
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

/** Where `kubectl scale` reads and writes: JSON paths below `.spec` and `.status`. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/** What became of a definition. */
export interface CustomResourceDefinitionStatus {
  readonly conditions?: readonly Condition[]
  /** The names under which the kind is served: those of the spec, as far as no other definition had them before. */
  readonly acceptedNames?: CustomResourceDefinitionNames
  /** Every version objects were ever stored in. */
  readonly storedVersions?: readonly string[]
}

/** A definition as it was sent or stored: what it holds is only known once it has been checked. */
type Given = ApiObject | CustomResourceDefinition

/**
 * Everything that keeps an object from being accepted as a definition; without errors it may be taken for a
 * CustomResourceDefinition. `live` is the stored definition that an update would replace. Rules in CEL are checked
 * elsewhere.
 */
export function checkCrd(object: Given, live?: Given): readonly FieldError[] {
  const shapeErrors = checkShape(object)
  if (shapeErrors.length > 0) return shapeErrors
  const crd = object as CustomResourceDefinition
  return [
    ...checkNames(crd),
    ...checkVersions(crd.spec.versions),
    ...checkStoredVersions(crd),
    ...checkPreserveUnknownFields(crd.spec),
    ...(live === undefined ? [] : checkNamesUnchanged(crd, live as CustomResourceDefinition)),
  ]
}

function checkShape(object: Given): readonly FieldError[] {
  return validate(customResourceDefinitionSchema, object as Json)
}

function checkVersions(versions: readonly CustomResourceDefinitionVersion[]): readonly FieldError[] {
  const field = 'spec.versions'
  const names = versions.map(({ name }) => name)
  const errors = versions.flatMap((version, i) => checkVersion(version, entry(field, i)))
  if (new Set(names).size < names.length) errors.push(invalid(field, names, 'must contain unique version names'))
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid(field, names, 'must have exactly one version marked as storage version'))
  }
  return errors
}

function checkStoredVersions({ spec, status }: CustomResourceDefinition): readonly FieldError[] {
  const names = new Set(spec.versions.map(({ name }) => name))
  return (status?.storedVersions ?? []).flatMap((name, i) => {
    if (names.has(name)) return []
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    return [invalid(entry('status.storedVersions', i), name, detail)]
  })
}

function checkPreserveUnknownFields({ preserveUnknownFields }: CustomResourceDefinitionSpec): readonly FieldError[] {
  if (preserveUnknownFields !== true) return []
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [invalid('spec.preserveUnknownFields', true, detail)]
}

/**
 * The definition as it is served: left-out names filled in, and the status Kubernetes gives it: the names it gets among
 * the `others` of its group, the conditions NamesAccepted and Established, the versions objects were ever stored in.
 * The same reference if all that was so already, or if the object is not even shaped like a definition.
 */
export function acceptCrd<Definition extends Given>(
  object: Definition,
  nowMs: number,
  others: Iterable<CustomResourceDefinition> = [],
): Definition {
  if (checkShape(object).length > 0) return object
  const crd = object as CustomResourceDefinition
  const complete = { ...crd, spec: withDefaults(crd.spec) }
  const accepted = { ...complete, status: acceptedStatus(complete, nowMs, others) }
  return equal(accepted, crd) ? object : (accepted as unknown as Definition)
}

function withDefaults(spec: CustomResourceDefinitionSpec): CustomResourceDefinitionSpec {
  const { kind } = spec.names
  const { singular = kind.toLowerCase(), listKind = `${kind}List` } = spec.names
  return { conversion: { strategy: 'None' }, ...spec, names: { ...spec.names, singular, listKind } }
}

function acceptedStatus(
  crd: CustomResourceDefinition,
  nowMs: number,
  others: Iterable<CustomResourceDefinition>,
): CustomResourceDefinitionStatus {
  const { names, conflict } = acceptNames(crd, others)
  const { conditions = [], storedVersions = [] } = crd.status ?? {}
  const isAccepted = conflict === undefined
  const wasEstablished = conditions.some(({ type, status }) => type === 'Established' && status === 'True')
  const current: readonly Omit<Condition, 'lastTransitionTime'>[] = [
    { type: 'NamesAccepted', status: isAccepted ? 'True' : 'False', ...(conflict ?? noConflict) },
    { type: 'Established', ...(isAccepted || wasEstablished ? established : notEstablished) },
  ]
  const storage = crd.spec.versions.find((version) => version.storage)
  const isStored = storage === undefined || storedVersions.includes(storage.name)
  return {
    conditions: current.reduce((all, condition) => withCondition(all, condition, nowMs), conditions),
    acceptedNames: names,
    storedVersions: isStored ? storedVersions : [...storedVersions, storage.name],
  }
}

const noConflict = { reason: 'NoConflicts', message: 'no conflicts found' }
const established = {
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
} as const
const notEstablished = { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' } as const

/** In its place, with the time of its last change of status. */
function withCondition(
  conditions: readonly Condition[],
  condition: Omit<Condition, 'lastTransitionTime'>,
  nowMs: number,
): readonly Condition[] {
  const before = conditions.find(({ type }) => type === condition.type)
  const isSame = before?.status === condition.status && before.lastTransitionTime !== undefined
  const next = { ...condition, lastTransitionTime: isSame ? before.lastTransitionTime : timestamp(nowMs) }
  if (before === undefined) return [...conditions, next]
  return conditions.map((other) => (other === before ? next : other))
}
