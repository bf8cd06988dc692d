import { listOf, mapOf, objectOf, plain, type Type } from '../cel/type.ts'

/** What expressions know of a request: AdmissionRequest of admission.k8s.io/v1. */

const { string, bool, dyn } = plain

function typeOf(name: string, fields: Readonly<Record<string, Type>>): Type {
  return objectOf(`kubernetes.${name}`, new Map(Object.entries(fields)))
}

const kind = typeOf('GroupVersionKind', { group: string, version: string, kind: string })
const resource = typeOf('GroupVersionResource', { group: string, version: string, resource: string })
const userInfo = typeOf('UserInfo', {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
})

export const requestType: Type = typeOf('AdmissionRequest', {
  kind,
  resource,
  subResource: string,
  requestKind: kind,
  requestResource: resource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo,
  dryRun: bool,
  options: dyn,
})
