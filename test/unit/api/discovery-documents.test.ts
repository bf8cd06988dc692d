import { describe, expect, it } from 'vitest'
import { aggregateDiscovery } from '../../../shared/api/discovery/aggregated.ts'
import { groupVersions } from '../../../shared/api/discovery/group-versions.ts'
import { coreVersions, groupDocument, groupList, resourceList } from '../../../shared/api/discovery/legacy.ts'
import { resourceVerbs } from '../../../shared/api/discovery/resource-verbs.ts'
import { computedKinds, queuedKeyKind, timerKind } from '../../../shared/api/computed/computed-kinds.ts'
import { emptyKinds, verbRefusal, withUnstoredKinds } from '../../../shared/api/empty-kinds.ts'
import { reviewKinds } from '../../../shared/api/reviews/review-kinds.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { secretKind, namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { plainKind } from './called.ts'

const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' }
const rich: ServedKind = {
  ...plainKind,
  kind: 'R',
  plural: 'rs',
  singular: 'r',
  version: 'v2',
  namespaced: false,
  shortNames: ['rr'],
  categories: ['all'],
  hasStatus: true,
  scale,
}
const versions = groupVersions([secretKind, plainKind, namespaceKind, rich])
const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const change = ['get', 'patch', 'update']

it('kinds stand together by group and version, and the version that clients prefer comes first', () => {
  expect(versions).toEqual([
    { group: '', version: 'v1', kinds: [secretKind, namespaceKind] },
    { group: 'g.dev', version: 'v2', kinds: [rich] },
    { group: 'g.dev', version: 'v1', kinds: [plainKind] },
  ])
})

it('the order of versions is the one of Kubernetes, wherever objects are stored', () => {
  const given = [
    'foo',
    'v1alpha1',
    'v2',
    'v1beta1',
    'v10',
    'v1beta10',
    'v1',
    'bar',
    'v1beta2',
    'v0',
    'v1gamma1',
    'v2alpha1',
  ]
  const kinds = given.map((version): ServedKind => ({ ...plainKind, version, storageVersion: 'v1alpha1' }))
  expect(groupVersions(kinds).map(({ version }) => version)).toEqual([
    'v10',
    'v2',
    'v1',
    'v0',
    'v1beta10',
    'v1beta2',
    'v1beta1',
    'v2alpha1',
    'v1alpha1',
    'bar',
    'foo',
    'v1gamma1',
  ])
})

describe('discovery', () => {
  it('names the core versions, the groups, and the versions of each', () => {
    expect(coreVersions(versions)).toEqual({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] })
    const [v1, v2] = ['v1', 'v2'].map((version) => ({ groupVersion: `g.dev/${version}`, version }))
    const group = { name: 'g.dev', versions: [v2, v1], preferredVersion: v2 }
    expect(groupList(versions)).toEqual({ kind: 'APIGroupList', apiVersion: 'v1', groups: [group] })
    expect(groupDocument(versions, 'g.dev')).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...group })
    expect([groupDocument(versions, ''), groupDocument(versions, 'h.dev')]).toEqual([undefined, undefined])
  })

  it('names the resources of a version, with their parts', () => {
    const one = { name: 'ks', singularName: 'k', namespaced: true, kind: 'K', verbs: all }
    expect(resourceList(versions, { group: 'g.dev', version: 'v1' })).toStrictEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'g.dev/v1',
      resources: [one],
    })
    const part = { singularName: '', namespaced: false, verbs: change }
    expect(resourceList(versions, { group: 'g.dev', version: 'v2' })?.['resources']).toStrictEqual([
      {
        name: 'rs',
        singularName: 'r',
        namespaced: false,
        kind: 'R',
        verbs: all,
        shortNames: ['rr'],
        categories: ['all'],
      },
      { ...part, name: 'rs/status', kind: 'R' },
      { ...part, name: 'rs/scale', kind: 'Scale', group: 'autoscaling', version: 'v1' },
    ])
    for (const wanted of [
      { group: 'g.dev', version: 'v3' },
      { group: 'h.dev', version: 'v1' },
    ])
      expect(resourceList(versions, wanted)).toBeUndefined()
  })

  it('tells all of it in one document', () => {
    const kindOf = (kind: string, version: string, group = 'g.dev') => ({ group, version, kind })
    const [core, own] = aggregateDiscovery(versions, 'v2beta1')['items'] as [unknown, unknown]
    expect(aggregateDiscovery(versions, 'v2')).toMatchObject({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      items: [core, own],
    })
    expect(core).toMatchObject({ metadata: { name: '' }, versions: [{ version: 'v1' }] })
    const plain = {
      resource: 'ks',
      responseKind: kindOf('K', 'v1'),
      scope: 'Namespaced',
      singularResource: 'k',
      verbs: all,
    }
    expect(own).toStrictEqual({
      metadata: { name: 'g.dev' },
      versions: [
        {
          version: 'v2',
          freshness: 'Current',
          resources: [
            {
              resource: 'rs',
              responseKind: kindOf('R', 'v2'),
              scope: 'Cluster',
              singularResource: 'r',
              verbs: all,
              shortNames: ['rr'],
              categories: ['all'],
              subresources: [
                { subresource: 'status', responseKind: kindOf('R', 'v2'), verbs: change },
                { subresource: 'scale', responseKind: kindOf('Scale', 'v1', 'autoscaling'), verbs: change },
              ],
            },
          ],
        },
        { version: 'v1', freshness: 'Current', resources: [plain] },
      ],
    })
  })
})

describe('the verbs', () => {
  it.each([
    ['a kind of users', plainKind, all],
    ['namespaces', namespaceKind, all.filter((verb) => verb !== 'deletecollection')],
    ['a review', reviewKinds[0] as ServedKind, ['create']],
    ['what is computed', timerKind, ['get', 'list']],
    ['what is never there', emptyKinds[0] as ServedKind, ['get', 'list', 'watch']],
  ])('of %s', (_what, kind, verbs) => {
    expect(resourceVerbs(kind)).toEqual(verbs)
  })
})

describe('a kind of which nothing is stored', () => {
  const named = (plural: string) => emptyKinds.find((kind) => kind.plural === plural) as ServedKind

  it('gives way to a definition that brings it', () => {
    const [pods, jobs] = [named('pods'), named('jobs')]
    const own = { ...pods, builtIn: false }
    expect(withUnstoredKinds([plainKind, own], [pods, jobs])).toEqual([plainKind, own, jobs])
    const other = { ...jobs, version: 'v2' }
    expect(withUnstoredKinds([other], [jobs])).toEqual([other, jobs])
  })

  it('says that this is no cluster', () => {
    const no = 'the server does not allow this method on the requested resource'
    const why = (what: string) =>
      `${no}: Setpoint is no cluster and stores no ${what}; it lists none for tools that ask`
    expect(verbRefusal(named('pods')).message).toBe(why('pods'))
    expect(verbRefusal(named('jobs')).message).toBe(why('jobs.batch'))
    expect(verbRefusal(plainKind).message).toBe(no)
  })

  it('is in the cluster or in namespaces, and some of them in all', () => {
    const spread = (is: (kind: ServedKind) => boolean) => emptyKinds.filter(is).map(({ plural }) => plural)
    expect(spread(({ namespaced }) => !namespaced)).toEqual(['nodes', 'persistentvolumes'])
    expect(spread(({ categories }) => !categories.includes('all'))).toEqual([
      'nodes',
      'endpoints',
      'persistentvolumeclaims',
      'persistentvolumes',
      'ingresses',
    ])
  })
})

it('what is computed of a controller can be selected by it', () => {
  const told = computedKinds.map(({ kind, namespaced, selectableFields }) => [kind, namespaced, selectableFields])
  expect(told).toEqual([
    ['QueuedKey', true, ['status.controller']],
    ['Queue', false, []],
    ['Timer', true, ['status.controller']],
    ['Budget', false, ['status.controller']],
    ['APIService', false, []],
  ])
  const { properties: { status: { properties = {} } = {} } = {} } = timerKind.schema
  expect(properties['controller']).toEqual({ type: 'string', description: 'The controller that runs the object.' })
  const about = queuedKeyKind.schema.properties?.['status']?.properties?.['object']
  expect(Object.values(about?.properties ?? {})).toContainEqual({ type: 'string' })
})
