import type { JsonObject } from '../../model/json.ts'
import { apiVersionOf } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { subresourcesOf } from '../subresources.ts'
import type { GroupVersion } from './group-versions.ts'
import { byGroup } from './group-versions.ts'
import { resourceVerbs } from './resource-verbs.ts'

/** Discovery in one document per group version: `can-i`, client-node and old clients read it. */

/** `/api`: the versions of the core group. */
export function coreVersions(versions: readonly GroupVersion[]): JsonObject {
  return {
    kind: 'APIVersions',
    versions: versions.filter(({ group }) => group === '').map(({ version }) => version),
    serverAddressByClientCIDRs: [],
  }
}

/** `/apis`: every named group. */
export function groupList(versions: readonly GroupVersion[]): JsonObject {
  const groups = [...byGroup(versions)]
    .filter(([group]) => group !== '')
    .map(([group, ofGroup]) => describeGroup(group, ofGroup))
  return { kind: 'APIGroupList', apiVersion: 'v1', groups }
}

/** `/apis/G`; `undefined` for a group that is not served. */
export function groupDocument(versions: readonly GroupVersion[], group: string): JsonObject | undefined {
  const ofGroup = group === '' ? undefined : byGroup(versions).get(group)
  return ofGroup === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group, ofGroup) }
}

function describeGroup(name: string, ofGroup: readonly GroupVersion[]): JsonObject {
  const versions = ofGroup.map(({ version }) => ({ groupVersion: apiVersionOf(name, version), version }))
  return { name, versions, preferredVersion: versions[0] }
}

/** `/api/v1` and `/apis/G/V`; `undefined` for a version that is not served. */
export function resourceList(
  versions: readonly GroupVersion[],
  wanted: Pick<GroupVersion, 'group' | 'version'>,
): JsonObject | undefined {
  const found = versions.find(({ group, version }) => group === wanted.group && version === wanted.version)
  if (found === undefined) return undefined
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(found.group, found.version),
    resources: found.kinds.flatMap(resources),
  }
}

function resources(kind: ServedKind): JsonObject[] {
  const { plural, namespaced, shortNames, categories } = kind
  const main = {
    name: plural,
    singularName: kind.singular,
    namespaced,
    kind: kind.kind,
    verbs: resourceVerbs(kind),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  }
  const parts = subresourcesOf(kind).map(({ name, verbs, is }) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    kind: is.kind,
    ...(is === kind ? {} : { group: is.group, version: is.version }),
    verbs: [...verbs],
  }))
  return [main, ...parts]
}
