import { namespaceKind } from './built-in-kinds.ts'
import { userInfoOf } from './user-info.ts'
import type { JsonObject } from '../model/json.ts'
import { namespaceKeyOf } from '../model/object-key.ts'
import { apiVersionOf, type ApiObject } from '../model/object.ts'
import type { RuledRequest, Matched } from '../model/policy/matches.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Reviewed } from './policy-review.ts'

/** A request as rules, selectors and expressions of admission see it. */

export function askedOf(reviewed: Reviewed): RuledRequest {
  const { kind, resource = kind, requested = resource, operation, subresource } = reviewed
  const { servedVersions = [resource.storageVersion] } = resource
  return {
    groups: [...new Set([askedGroupOf(requested), resource.group, resource.twinGroup ?? resource.group])],
    versions: [...new Set([requested.version, ...servedVersions])],
    plural: resource.plural,
    subresource,
    operation,
    name: partOf(reviewed, 'name'),
    isNamespaced: resource.namespaced,
  }
}

/** A kind of two groups is asked for by one of them. */
function askedGroupOf({ askedAs, group }: ServedKind): string {
  return askedAs ?? group
}

export function matchedOf(reviewed: Reviewed, namespaceObject: ApiObject | undefined): Matched {
  const { object, old } = reviewed
  return {
    ...askedOf(reviewed),
    objects: [object, old].filter((one) => one !== undefined),
    namespaceLabels: labelsOfNamespace(reviewed, namespaceObject),
  }
}

/** Undefined for what is in none. A namespace is selected by its own labels; by a path of it, by those it had. */
function labelsOfNamespace(
  reviewed: Reviewed,
  namespaceObject: ApiObject | undefined,
): Readonly<Record<string, string>> | undefined {
  if (!isNamespace(reviewed)) return namespaceObject?.metadata.labels ?? (reviewed.kind.namespaced ? {} : undefined)
  const { object, old, subresource } = reviewed
  const { labels } = ((subresource === '' ? object : undefined) ?? old ?? object)?.metadata ?? {}
  return { 'kubernetes.io/metadata.name': partOf(reviewed, 'name'), ...labels }
}

function isNamespace({ kind, resource: { group, kind: name } = kind }: Reviewed): boolean {
  return group === namespaceKind.group && name === namespaceKind.kind
}

/** The name or the namespace of what is written; empty if it has none. A namespace is in itself, as on Kubernetes. */
export function partOf(reviewed: Reviewed, part: 'name' | 'namespace'): string {
  const { object, old } = reviewed
  return (object ?? old)?.metadata[isNamespace(reviewed) ? 'name' : part] ?? ''
}

export async function namespaceOf(reviewed: Reviewed, store: ObjectStore): Promise<ApiObject | undefined> {
  const name = reviewed.kind.namespaced ? partOf(reviewed, 'namespace') : ''
  if (name === '') return undefined
  return (await store.get(namespaceKeyOf(name)))?.object
}

/** AdmissionRequest of admission.k8s.io/v1, without the objects. */
export function admissionRequestOf(asked: Reviewed): JsonObject {
  const { kind, resource = kind, requested = kind, operation, dryRun, subresource, user, said } = asked
  const as = asked.resource ?? requested
  return {
    kind: kindNameOf(kind),
    resource: resourceNameOf(resource),
    subResource: subresource,
    requestKind: { ...kindNameOf(requested), group: askedGroupOf(requested) },
    requestResource: { ...resourceNameOf(as), group: askedGroupOf(as) },
    requestSubResource: subresource,
    name: partOf(asked, 'name'),
    namespace: partOf(asked, 'namespace'),
    operation,
    userInfo: userInfoOf(user),
    dryRun,
    options: { ...said, apiVersion: apiVersionOf('meta.k8s.io', 'v1'), kind: optionsKinds[operation] },
  }
}

function kindNameOf({ group, version, kind }: ServedKind): JsonObject {
  return { group, version, kind }
}

function resourceNameOf({ group, version, plural }: ServedKind): JsonObject {
  return { group, version, resource: plural }
}

const optionsKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const
