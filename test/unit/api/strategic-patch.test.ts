import { describe, expect, it } from 'vitest'
import { strategicAsMerge } from '../../../shared/api/strategic-patch.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { plainKind } from './called.ts'
import { endOf } from './end-of.ts'

const keyed = (properties: Readonly<Record<string, StructuralSchema>>): StructuralSchema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: { type: 'object', properties },
})
const ports = keyed({ list: { type: 'array' }, inner: keyed({}) })
const builtIn: ServedKind = {
  ...plainKind,
  builtIn: true,
  schema: {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { ports, plain: { type: 'array' } } },
      status: { type: 'object', properties: { conditions: ports } },
    },
  },
}
/** A kind that a definition brings, and kubectl is compiled with. */
const defined: ServedKind = { ...plainKind, group: 'apps' }

/** The field that is not such as a merge patch has it; undefined if the patch is taken as it is. */
function refusedField(kind: ServedKind, patch: JsonObject): unknown {
  const end = endOf(() => strategicAsMerge(kind, patch))
  if (end === patch) return undefined
  return (
    /^UNSUPPORTED_MEDIA_TYPE: .* merge patch, and (\S+) is not such a field; use kubectl patch/.exec(
      String(end),
    )?.[1] ?? end
  )
}

describe('a strategic merge patch of a built-in kind', () => {
  it.each<[JsonObject, string | undefined]>([
    [{}, undefined],
    [{ spec: { a: { b: 1 }, list: [1], plain: [{ name: 'a' }] } }, undefined],
    [{ spec: null }, undefined],
    [{ metadata: { labels: { a: 'b' }, finalizers: ['a/b'], ownerReferences: [{ uid: 'u' }] } }, undefined],
    [{ metadata: { managedFields: [{}] } }, 'metadata.managedFields'],
    [{ metadata: { managedFields: null } }, undefined],
    [{ metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b'] } }, undefined],
    [{ metadata: { '$setElementOrder/finalizers': ['a/b'] } }, undefined],
    [{ metadata: { '$deleteFromPrimitiveList/labels': ['a'] } }, 'metadata.$deleteFromPrimitiveList/labels'],
    [{ metadata: { '$setElementOrder/ownerReferences': [{ uid: 'u' }] } }, undefined],
    [{ metadata: { '$setElementOrder/labels': [] } }, 'metadata.$setElementOrder/labels'],
    // Of a name that is no order, though it ends like one.
    [{ metadata: { aaaaaaaaaaaaaaaaafinalizers: { $patch: 'x' } } }, 'metadata.aaaaaaaaaaaaaaaaafinalizers.$patch'],
    [{ metadata: { ownerReferences: [{ $patch: 'delete', uid: 'u' }] } }, undefined],
    [{ metadata: { ownerReferences: [{ $patch: 'replace' }] } }, 'metadata.ownerReferences.$patch'],
    [{ spec: { ports: [{ name: 'a' }, { $patch: 'delete', name: 'b' }] } }, undefined],
    [{ spec: { ports: [{ name: 'a' }, { $patch: 'merge', name: 'b' }] } }, 'spec.ports.$patch'],
    [{ spec: { ports: [{ name: 'a', $retainKeys: ['name'] }] } }, 'spec.ports.$retainKeys'],
    [{ spec: { ports: ['a', null] } }, undefined],
    [{ spec: { ports: { $patch: 'replace' } } }, 'spec.ports.$patch'],
    [{ spec: { ports: [{ inner: [{ $patch: 'delete', name: 'x' }] }] } }, undefined],
    [{ spec: { ports: [{ list: [{ $patch: 'delete', name: 'x' }] }] } }, undefined],
    [{ spec: { ports: [{ '$setElementOrder/inner': [] }] } }, undefined],
    [{ spec: { ports: [{ '$setElementOrder/list': [] }] } }, 'spec.ports.$setElementOrder/list'],
    [{ spec: { '$setElementOrder/ports': [{ name: 'a' }] } }, undefined],
    [{ spec: { '$deleteFromPrimitiveList/ports': [] } }, 'spec.$deleteFromPrimitiveList/ports'],
    [{ spec: { '$setElementOrder/plain': [] } }, 'spec.$setElementOrder/plain'],
    [{ $patch: 'replace' }, '$patch'],
    [{ spec: { a: 1, b: { $patch: 'replace' }, c: { $patch: 'x' } } }, 'spec.b.$patch'],
    [{ status: { conditions: [{ type: 'Ready' }] } }, 'status.conditions'],
    [{ status: { conditions: null } }, undefined],
    [{ status: { other: [{ type: 'Ready' }] } }, undefined],
  ])('%j is refused for %j', (patch, field) => {
    expect(refusedField(builtIn, patch)).toBe(field)
  })
})

describe('a strategic merge patch of a kind that a definition brings', () => {
  it.each<[JsonObject, string | undefined]>([
    [{ spec: { args: ['a'], replicas: 3 } }, undefined],
    [{ spec: { containers: [{ name: 'a' }] } }, 'spec.containers'],
    [{ spec: { mixed: ['a', {}] } }, 'spec.mixed'],
    [{ spec: { containers: null } }, undefined],
    [{ spec: { containers: [] } }, undefined],
    [{ metadata: { finalizers: ['a/b'] } }, 'metadata.finalizers'],
    [{ spec: { $patch: 'replace' } }, 'spec.$patch'],
    [{ metadata: { '$setElementOrder/ownerReferences': [] } }, 'metadata.$setElementOrder/ownerReferences'],
  ])('%j is refused for %j', (patch, field) => {
    expect(refusedField(defined, patch)).toBe(field)
  })

  it('is refused in a group of users', () => {
    expect(endOf(() => strategicAsMerge(plainKind, {}))).toBe(
      'UNSUPPORTED_MEDIA_TYPE: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml; application/strategic-merge-patch+json: kinds defined by a CustomResourceDefinition do not support it; use kubectl patch --type=merge or kubectl apply --server-side',
    )
    expect(refusedField({ ...plainKind, group: 'x.k8s.io' }, {})).toBeUndefined()
  })
})
