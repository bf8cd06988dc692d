import { describe, expect, it } from 'vitest'
import { childrenOf } from '../../../../shared/engine/turn/children.ts'
import { applyChild, isNamed, ownerKeys, withOwner } from '../../../../shared/engine/turn/owners.ts'
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

  describe('applies', () => {
    const other = { ...reference, name: 'other', uid: 'other' }
    /** What comes of each look, and whether the owner was read. */
    async function looksOf(is: ApiObject, live: ApiObject | undefined, by = owner) {
      const looks: unknown[] = []
      let reads = 0
      const store = {
        get: async () => {
          reads++
          return live && { object: live, engine: {} }
        },
      }
      const applied = applyChild(by, store, async (check) => {
        check(is)
        looks.push('applied')
      })
      await applied.catch((error: unknown) => looks.push(error))
      return { looks, reads }
    }
    const going = { ...owner, metadata: { ...owner.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const another = { ...owner, metadata: { ...owner.metadata, uid: 'another' } }
    const deleted = expect.objectContaining({ code: 'VERSION_CONFLICT' })

    it.each([
      ['its own child', child('c', [reference]), owner, owner, 'applied', 0],
      ['what nobody has, once it has looked at itself', child('c'), owner, owner, 'applied', 1],
      ['what others only name', child('c', [{ ...other, controller: false }]), owner, owner, 'applied', 1],
      ['nothing more if it is being deleted by then', child('c'), going, owner, deleted, 1],
      ['nothing more if it is gone', child('c'), undefined, owner, deleted, 1],
      ['nothing more if another has its name', child('c'), another, owner, deleted, 1],
      ['what its clean-up asks for', child('c'), going, going, 'applied', 0],
    ] as const)('%s', async (...[, is, live, by, look, reads]) => {
      expect(await looksOf(is, live, by)).toEqual({ looks: [look], reads })
    })

    it('nobody else’s child', async () => {
      const { looks, reads } = await looksOf(child('c', [other]), owner)
      expect([String(looks[0]), reads]).toEqual([expect.stringContaining('is a child of Widget other'), 0])
    })
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
