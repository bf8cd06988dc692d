import type { JsonObject } from '../../model/json.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { byGroup, type GroupVersion } from './group-versions.ts'
import { resourceVerbs, statusVerbs } from './resource-verbs.ts'

export type DiscoveryVersion = 'v2' | 'v2beta1'

/** `APIGroupDiscoveryList`: everything that is served, in one document. The two versions differ in their name only. */
export function aggregateDiscovery(versions: readonly GroupVersion[], version: DiscoveryVersion): JsonObject {
  const items = [...byGroup(versions)].map(([group, ofGroup]) => ({
    metadata: { name: group },
    versions: ofGroup.map((one) => ({
      version: one.version,
      resources: one.kinds.map(resource),
      freshness: 'Current',
    })),
  }))
  return { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items }
}

function resource(kind: ServedKind): JsonObject {
  const { shortNames, categories } = kind
  const responseKind = { group: kind.group, version: kind.version, kind: kind.kind }
  return {
    resource: kind.plural,
    responseKind,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: resourceVerbs(kind),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(kind.hasStatus ? { subresources: [{ subresource: 'status', responseKind, verbs: statusVerbs }] } : {}),
  }
}
