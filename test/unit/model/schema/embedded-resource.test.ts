import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { hasUnknownMetadata, resourceFaults } from '../../../../shared/model/schema/embedded-resource.ts'

describe('a resource within an object', () => {
  const resource = { apiVersion: 'apps/v1', kind: 'Deployment' }
  const label = 'may have mixed case, but should otherwise match: a DNS-1035 label must'

  it.each<[JsonObject, readonly string[]]>([
    [resource, []],
    [{ ...resource, apiVersion: 'v1' }, []],
    [{ kind: 'K' }, ['p.apiVersion: Required value']],
    [{ apiVersion: 'v1' }, ['p.kind: Required value']],
    [{ ...resource, apiVersion: 5 }, ['p.apiVersion: Invalid value: 5: must be a string']],
    [{ ...resource, apiVersion: null }, ['p.apiVersion: Invalid value: null: must be a string']],
    [{ ...resource, apiVersion: '' }, ['p.apiVersion: Invalid value: "": must not be empty']],
    [
      { ...resource, apiVersion: 'a/b/c' },
      ['p.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [{ ...resource, kind: 5 }, ['p.kind: Invalid value: 5: must be a string']],
    [{ ...resource, kind: '' }, ['p.kind: Invalid value: "": must not be empty']],
    [{ ...resource, kind: 'A_b' }, [`p.kind: Invalid value: "A_b": ${label}`]],
    [{ ...resource, metadata: null }, []],
    [{ ...resource, metadata: {} }, []],
    [{ ...resource, metadata: { name: 'a', namespace: 'b', labels: { a: 'b' } } }, []],
    [{ ...resource, metadata: 5 }, ['p.metadata: Invalid value: 5: must be an object']],
    [{ ...resource, metadata: { labels: { a: 5 } } }, ['p.metadata.labels.a: Invalid value: 5: must be a string']],
    [
      { ...resource, metadata: { namespace: 'A' } },
      ['p.metadata.namespace: Invalid value: "A": a lowercase RFC 1123 label'],
    ],
    [{ ...resource, metadata: { labels: { '-': 'b' } } }, ['p.metadata.labels: Invalid value: "-": ']],
  ])('%j has these faults: %j', (object, faults) => {
    const found = resourceFaults(object, 'p').map(({ field, message }) => `${field}: ${message}`)
    expect(found.map((line, i) => line.slice(0, faults[i]?.length))).toEqual(faults)
  })

  it.each<[JsonObject, boolean]>([
    [{}, false],
    [{ metadata: null }, false],
    [{ metadata: 'x' }, false],
    [{ metadata: { name: 'a', labels: {} } }, false],
    [{ metadata: { name: 'a', nmae: 'a' } }, true],
    [{ metadata: { constructor: 'a' } }, true],
    [{ metadata: { ownerReferences: [{ uid: 'a', controller: true }] } }, false],
    [{ metadata: { ownerReferences: [{ uid: 'a', colour: 'red' }] } }, true],
    [{ metadata: { managedFields: [{ fieldsV1: { 'f:spec': {} } }] } }, false],
    [{ metadata: { managedFields: [{ fields: {} }] } }, true],
    [{ metadata: [{ name: 'a' }] }, true],
  ])('%j has metadata that no object has: %s', (object, has) => {
    expect(hasUnknownMetadata(object)).toBe(has)
  })
})
