import type { JsonObject } from '../../model/json.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { subresourcesOf } from '../subresources.ts'
import { byGroup, type GroupVersion } from './group-versions.ts'
import { resourceVerbs } from './resource-verbs.ts'

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
  const subresources = subresourcesOf(kind).map(({ name, verbs, is }) => ({
    subresource: name,
    responseKind: { group: is.group, version: is.version, kind: is.kind },
    verbs: [...verbs],
  }))
  return {
    resource: kind.plural,
    responseKind,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: resourceVerbs(kind),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
    ...(subresources.length === 0 ? {} : { subresources }),
  }
}
