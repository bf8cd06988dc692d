import type { Json, JsonObject } from './json.ts'

/**
 * The object: Kubernetes' conventions, whole. Objects are values: nothing here or above changes one in place.
 * Source: https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
 */
export type ApiObject = {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec?: JsonObject
  status?: JsonObject
  [field: string]: Json | undefined
}

export type ObjectMeta = {
  name: string
  generateName?: string
  /** Absent on cluster-scoped objects. */
  namespace?: string
  uid: string
  /** A decimal integer; grows with each write of the object. */
  resourceVersion: string
  /** Grows when the desired state changes, and when deletion is asked for; never by a status write. */
  generation: number
  creationTimestamp: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
  labels?: { [label: string]: string }
  annotations?: { [annotation: string]: string }
  managedFields?: ManagedFieldsEntry[]
}

export type OwnerReference = {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export type ManagedFieldsEntry = {
  manager: string
  operation: 'Apply' | 'Update'
  apiVersion: string
  time?: string
  fieldsType: 'FieldsV1'
  fieldsV1: JsonObject
  subresource?: string
}

/** `group/version` of an apiVersion; the core group is the empty string. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

export function apiVersionOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

/** Deletion has been asked for; the object goes once its finalizers are gone. */
export function isDeleting(object: ApiObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

/** The one owner that controls the object, if any. */
export function controllerOf(object: ApiObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true)
}
