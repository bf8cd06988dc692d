import type { JsonObject } from '../../model/json.ts'
import { apiVersionOf, type ApiObject } from '../../model/object.ts'
import type { ApiServices } from '../call.ts'
import { deriveFromKinds } from '../derive-from-kinds.ts'
import { groupVersions, type GroupVersion } from '../discovery/group-versions.ts'
import { emptyKinds, withUnstoredKinds } from '../empty-kinds.ts'
import { reviewKinds } from '../reviews/review-kinds.ts'
import { apiServiceKind, type computedKinds } from './computed-kinds.ts'
import type { ComputedObjects } from './computed-objects.ts'

/** The group versions that are served, as a cluster tells them: each is served by this API itself. */
export function apiServiceObjects(
  { catalog }: Pick<ApiServices, 'catalog'>,
  computed: typeof computedKinds,
): ComputedObjects {
  const all = deriveFromKinds(catalog, (kinds) =>
    groupVersions([...withUnstoredKinds(kinds, [...emptyKinds, ...computed]), ...reviewKinds]).map(apiService),
  )
  return {
    kind: apiServiceKind,
    list: async ({ limit, after: [start] = [0, 0] }) => {
      const services = await all()
      const end = start + limit
      return { items: services.slice(start, end), ...(end < services.length && { end: [end, 0] }) }
    },
    find: async ({ name }) => (await all()).find(({ metadata }) => metadata.name === name),
  }
}

function apiService({ group, version }: GroupVersion, place: number): ApiObject {
  const spec: JsonObject = {
    group,
    version,
    groupPriorityMinimum: Math.max(1, priorityMax - place),
    versionPriority: Math.max(1, versionMax - place),
  }
  const available = { type: 'Available', status: 'True', reason: 'Local', message: 'this control plane serves it' }
  const { kind } = apiServiceKind
  const apiVersion = apiVersionOf(apiServiceKind.group, apiServiceKind.version)
  const object = {
    apiVersion,
    kind,
    metadata: { name: `${version}.${group}` },
    spec,
    status: { conditions: [available] },
  }
  return object as unknown as ApiObject
}

/** As in Kubernetes, what is preferred has the higher number, and discovery names it first. */
const priorityMax = 18_000
const versionMax = 1_000
