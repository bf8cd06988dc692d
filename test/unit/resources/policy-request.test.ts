import { describe, expect, it } from 'vitest'
import type { ApiObject } from '../../../shared/model/object.ts'
import { defineBuiltInKind } from '../../../shared/model/served-kind.ts'
import {
  admissionRequestOf,
  askedOf,
  matchedOf,
  namespaceOf,
  partOf,
} from '../../../shared/resources/policy-request.ts'
import { namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import type { Reviewed } from '../../../shared/resources/policy-review.ts'
import { creation, deletion, kind, thing, withoutObject } from './admission-world.ts'
import { createMapStore } from './map-store.ts'

const scale = defineBuiltInKind({ group: 'autoscaling', kind: 'Scale', plural: 'scales', namespaced: true, schema: {} })
const wide = { ...kind, namespaced: false }
const nowhere: ApiObject | undefined = undefined
const space: ApiObject = {
  ...thing(),
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { ...thing({}, { a: 'b' }).metadata, name: 'n' },
}

describe('a request, as rules see it', () => {
  it.each<[string, Reviewed, object]>([
    [
      'of a kind',
      creation,
      {
        groups: ['g.dev'],
        versions: ['v1', 'v2'],
        plural: 'things',
        subresource: '',
        operation: 'CREATE',
        name: 't',
        isNamespaced: true,
      },
    ],
    [
      'of a kind of one version',
      { ...creation, kind: { ...scale, version: 'v2', storageVersion: 'v3' } },
      { versions: ['v2', 'v3'] },
    ],
    [
      'in another version than it was asked in',
      { ...creation, requested: { ...kind, version: 'v2' } },
      { versions: ['v2', 'v1'] },
    ],
    [
      'by a path',
      { ...creation, kind: scale, resource: kind, subresource: 'scale' },
      { groups: ['g.dev'], plural: 'things', subresource: 'scale' },
    ],
    [
      'of a kind with a twin',
      { ...creation, kind: { ...kind, twinGroup: 'new.dev' } },
      { groups: ['g.dev', 'new.dev'] },
    ],
    [
      'by the group of a twin',
      { ...creation, kind: { ...kind, twinGroup: 'new.dev', askedAs: 'new.dev' } },
      { groups: ['new.dev', 'g.dev'] },
    ],
    ['of the cluster', { ...creation, kind: wide }, { isNamespaced: false }],
    ['of what is there', deletion, { name: 't', operation: 'DELETE' }],
  ])('%s', (_what, asked, seen) => {
    expect(askedOf(asked)).toMatchObject(seen)
  })

  it.each<[string, Reviewed, ApiObject | undefined, unknown, number]>([
    ['in a namespace with labels', creation, space, { a: 'b' }, 1],
    ['in a namespace without', creation, { ...space, metadata: thing().metadata }, {}, 1],
    ['in a namespace that is not there', creation, undefined, {}, 1],
    ['in none', { ...creation, kind: wide }, undefined, undefined, 1],
    ['of an update', { ...creation, old: thing() }, space, { a: 'b' }, 2],
    ['of a deletion', deletion, space, { a: 'b' }, 1],
  ])('%s', (...row) => {
    const [, asked, namespaceObject, namespaceLabels, objects] = row
    const matched = matchedOf(asked, namespaceObject)
    expect([matched.namespaceLabels, matched.objects.length]).toEqual([namespaceLabels, objects])
  })
})

describe('a request about a namespace', () => {
  const { object: _, ...anyone } = creation
  const about = { ...anyone, kind: namespaceKind }
  const space2 = { ...space, metadata: { ...space.metadata, labels: { a: 'c' } } }
  const named = { 'kubernetes.io/metadata.name': 'n' }

  it.each<[string, Reviewed, object]>([
    ['that is new', { ...about, object: space }, { a: 'b' }],
    ['without labels', { ...about, object: { ...space, metadata: { ...thing().metadata, name: 'n' } } }, {}],
    ['that changes', { ...about, operation: 'UPDATE', object: space2, old: space }, { a: 'c' }],
    ['of which the status changes', { ...about, subresource: 'status', object: space2, old: space }, { a: 'b' }],
    ['that goes', { ...about, operation: 'DELETE', old: space }, { a: 'b' }],
  ])('%s is selected by its own labels', (_what, asked, labels) => {
    expect(matchedOf(asked, nowhere).namespaceLabels).toEqual({ ...named, ...labels })
  })

  it('is in that namespace, and in no other', async () => {
    const asked: Reviewed = { ...about, object: space }
    const store = createMapStore()
    store.put(space)
    expect(admissionRequestOf(asked)).toMatchObject({ name: 'n', namespace: 'n' })
    expect(await namespaceOf(asked, store)).toBeUndefined()
  })

  it('is no request about a kind of the same name in another group', () => {
    const other = { ...wide, kind: 'Namespace' }
    expect(matchedOf({ ...creation, kind: other }, nowhere).namespaceLabels).toBeUndefined()
  })
})

describe('what a request is about', () => {
  it('is the object as it is to be, or as it was', () => {
    const named = { ...thing(), metadata: { ...thing().metadata, name: 'was' } }
    expect(partOf({ ...creation, old: named }, 'name')).toBe('t')
    expect(partOf({ ...deletion, old: named }, 'name')).toBe('was')
    expect([partOf(withoutObject, 'name'), partOf(withoutObject, 'namespace')]).toEqual(['', ''])
  })

  it.each<[string, Reviewed, string | undefined, number]>([
    ['an object in a namespace', creation, 'n', 1],
    ['an object of the cluster', { ...creation, kind: wide }, undefined, 0],
    [
      'an object that names none',
      { ...creation, object: { ...thing(), metadata: { ...thing().metadata, namespace: '' } } },
      undefined,
      0,
    ],
  ])('is in the namespace of %s', async (...row) => {
    const [, asked, name, looks] = row
    const store = createMapStore()
    const { namespace: __, ...metadata } = space.metadata
    store.put({ ...space, metadata })
    expect((await namespaceOf(asked, store))?.metadata.name).toBe(name)
    expect(store.asked).toHaveLength(looks)
  })
})

describe('a request of admission', () => {
  const named = (version: string) => ({ group: 'g.dev', version, kind: 'Thing' })
  const resource = (version: string) => ({ group: 'g.dev', version, resource: 'things' })

  it('says all that is known', () => {
    const user = { name: 'ann', groups: ['people'], uid: '7', extra: { team: ['a'] } }
    expect(admissionRequestOf({ ...creation, user, said: { fieldManager: 'm' } })).toStrictEqual({
      kind: named('v1'),
      resource: resource('v1'),
      subResource: '',
      requestKind: named('v1'),
      requestResource: resource('v1'),
      requestSubResource: '',
      name: 't',
      namespace: 'n',
      operation: 'CREATE',
      userInfo: { username: 'ann', uid: '7', groups: ['people'], extra: { team: ['a'] } },
      dryRun: false,
      options: { fieldManager: 'm', apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions' },
    })
    expect(admissionRequestOf(creation)['userInfo']).toStrictEqual({ username: 'ann', groups: ['people'] })
  })

  it.each([
    ['CREATE', 'CreateOptions'],
    ['UPDATE', 'UpdateOptions'],
    ['DELETE', 'DeleteOptions'],
  ] as const)('of %s has %s', (operation, kindName) => {
    expect(admissionRequestOf({ ...creation, operation, dryRun: true })).toMatchObject({
      dryRun: true,
      options: { kind: kindName },
    })
  })

  it('tells the version in which it was asked, and the path by which it came', () => {
    const requested = { ...kind, version: 'v2' }
    expect(admissionRequestOf({ ...creation, requested })).toMatchObject({
      kind: named('v1'),
      requestKind: named('v2'),
      requestResource: resource('v2'),
    })
    expect(admissionRequestOf({ ...creation, kind: scale, resource: kind, subresource: 'scale' })).toMatchObject({
      kind: { group: 'autoscaling', kind: 'Scale' },
      resource: resource('v1'),
      requestResource: resource('v1'),
      subResource: 'scale',
    })
  })

  it('tells the group of the twin in which it was asked', () => {
    const asked = { ...creation, kind: { ...kind, askedAs: 'new.dev' } }
    expect(admissionRequestOf(asked)).toMatchObject({
      kind: named('v1'),
      resource: resource('v1'),
      requestKind: { ...named('v1'), group: 'new.dev' },
      requestResource: { ...resource('v1'), group: 'new.dev' },
    })
    const requested = asked.kind
    expect(admissionRequestOf({ ...creation, kind: { ...kind, group: 'new.dev' }, requested })).toMatchObject({
      kind: { group: 'new.dev' },
      requestKind: { group: 'new.dev' },
    })
  })
})
