import { describe, expect, it } from 'vitest'
import { childrenOf } from '../../../../shared/engine/turn/children.ts'
import { isNamed, ownerKeys, refuseAnothersChild, withOwner } from '../../../../shared/engine/turn/owners.ts'
import { keyOf, type ObjectKey } from '../../../../shared/model/object-key.ts'
import type { ApiObject, OwnerReference } from '../../../../shared/model/object.ts'
import type { ObjectIndex } from '../../../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const { object: owner } = storedWidget('owner')
const { namespace: _, ...clusterMetadata } = owner.metadata
const clusterOwner: ApiObject = { ...owner, metadata: clusterMetadata }
const reference: OwnerReference = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  name: 'owner',
  uid: owner.metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
}

function child(name: string, references: readonly OwnerReference[] = [], namespace = 'default'): ApiObject {
  return storedWidget(name, { namespace, ownerReferences: [...references] }).object
}

describe('an owner', () => {
  it('can be in the namespace of its child, or in none', () => {
    const key = { group: 'example.com', kind: 'Widget', name: 'owner' }
    expect(ownerKeys(reference, child('c'))).toEqual([
      { ...key, namespace: 'default' },
      { ...key, namespace: '' },
    ])
    const { namespace: __, ...metadata } = child('c').metadata
    expect(ownerKeys(reference, { ...child('c'), metadata })).toEqual([{ ...key, namespace: '' }])
  })

  it.each([
    ['by its name', owner, reference, true],
    ['of no namespace', clusterOwner, reference, true],
    ['that had its name before', owner, { ...reference, uid: 'before' }, true],
    ['of another name', owner, { ...reference, name: 'other' }, false],
    ['of another kind', owner, { ...reference, kind: 'Gadget' }, false],
    ['of another group', owner, { ...reference, apiVersion: 'x.dev/v1' }, false],
  ])('is named: %s', (_what, of, by, is) => {
    expect(isNamed(of, by, child('c'))).toBe(is)
  })

  it('is written into what it owns, in its own namespace or out of none', () => {
    const body = { metadata: { name: 'c', labels: { a: 'b' } }, spec: 1 }
    const named = { metadata: { ...body.metadata, ownerReferences: [reference] }, spec: 1 }
    expect(withOwner(body, { namespace: 'default', name: 'c' }, owner)).toEqual(named)
    expect(withOwner(body, { namespace: 'elsewhere', name: 'c' }, clusterOwner)).toEqual(named)
    expect(withOwner({}, { namespace: 'default', name: 'c' }, owner)).toEqual({
      metadata: { ownerReferences: [reference] },
    })
    expect(() => withOwner(body, { namespace: 'elsewhere', name: 'c' }, owner)).toThrow('cannot own c outside')
  })

  it('takes nobody else’s child', () => {
    const other = { ...reference, name: 'other' }
    expect(() => refuseAnothersChild(child('c', [other]), owner)).toThrow('is a child of Widget other')
    refuseAnothersChild(child('c', [reference]), owner)
    refuseAnothersChild(child('c'), owner)
    refuseAnothersChild(child('c', [{ ...other, controller: false }]), owner)
  })
})

describe('children', () => {
  const childrenAmong = (there: readonly ApiObject[], listed: readonly ObjectKey[]) => {
    const store = {
      get: async (key: ObjectKey) => {
        const object = there.find(
          (one) => one.metadata.name === key.name && (one.metadata.namespace ?? '') === key.namespace,
        )
        return object && { object, engine: {} }
      },
    } as unknown as ObjectStore
    const index = { childrenOf: async () => listed } as unknown as ObjectIndex
    return childrenOf(owner, { group: 'example.com', kind: 'Widget' }, { index, store })
  }

  it('come by namespace and name, those that are there, of the kind and of this owner', async () => {
    const [b, a, before] = [child('b', [reference]), child('a', [reference], 'other'), child('a', [reference])]
    const strange = child('c', [{ ...reference, uid: 'before' }])
    const there = [a, before, b, strange]
    const listed = [
      ...[b, a, before, strange].map(keyOf),
      keyOf(child('gone', [reference])),
      { ...keyOf(b), kind: 'Gadget' },
      { ...keyOf(b), group: 'x.dev' },
    ]
    expect((await childrenAmong(there, listed)).map(keyOf)).toEqual([before, b, a].map(keyOf))
  })
})
