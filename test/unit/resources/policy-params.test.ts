import { describe, expect, it } from 'vitest'
import { objectText } from '../../../shared/model/object-text.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import type { ParamRef } from '../../../shared/model/policy/policy.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import { namespaceKind, secretKind } from '../../../shared/resources/built-in-kinds.ts'
import { collectParams } from '../../../shared/resources/policy-params.ts'
import { createMapStore } from './map-store.ts'

/** Secrets of one namespace, the last of which has the label, in pages of a hundred. */
function sourcesOf(count: number): Parameters<typeof collectParams>[1] {
  const all = Array.from({ length: count }, (_, i): StoredObject => {
    const name = `c${String(i).padStart(4, '0')}`
    const labels = i === count - 1 ? { use: 'limits' } : {}
    const metadata = { name, namespace: 'default', labels, uid: name, resourceVersion: '1', generation: 1 }
    return { object: { apiVersion: 'v1', kind: 'Secret', metadata } as StoredObject['object'], engine: {} }
  })
  const list: ObjectStore['list'] = ({ after }) => {
    const from = all.findIndex(({ object }) => after === undefined || object.metadata.name > after.name)
    const items = from < 0 ? [] : all.slice(from, from + 100)
    return Promise.resolve({ items, resourceVersion: '1', more: from + items.length < count })
  }
  return {
    store: { list } as ObjectStore,
    catalog: { byKind: async () => secretKind, inVersion: async () => secretKind },
  }
}

describe('the parameters of a policy', () => {
  const wanted = {
    paramKind: { apiVersion: 'v1', kind: 'Secret' },
    paramRef: { selector: { matchLabels: { use: 'limits' } }, parameterNotFoundAction: 'Allow' as const },
    namespace: 'default',
  }

  it('are found on every page', async () => {
    expect(await collectParams(wanted, sourcesOf(500))).toMatchObject({ found: [{ metadata: { name: 'c0499' } }] })
  })

  it('are a fault, not fewer, where there are too many objects to look through', async () => {
    const fault = 'paramRef.selector: a policy looks through 500 objects at most, and there are more'
    expect(await collectParams(wanted, sourcesOf(501))).toEqual({ fault })
  })
})

describe('what a binding names', () => {
  const metadata = { namespace: 'n', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' }
  const secret = (name: string, namespace = 'n', labels = {}): ApiObject => {
    return { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name, namespace, labels } }
  }
  const { namespace: _, ...unplaced } = metadata
  const space = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { ...unplaced, name } })
  const kinds = [secretKind, namespaceKind]

  async function find(paramRef: ParamRef | undefined, more: Partial<Parameters<typeof collectParams>[0]> = {}) {
    const store = createMapStore()
    const all = [secret('a'), secret('bb', 'n', { use: 'x' }), secret('a', 'm'), space('n'), space('m')]
    for (const object of all) store.put(object)
    const spent: number[] = []
    const catalog: Parameters<typeof collectParams>[1]['catalog'] = {
      byKind: async (group, kind) => kinds.find((one) => one.group === group && one.kind === kind),
      inVersion: async (kind, version) => (version === 'v2' ? { ...kind, version } : undefined),
    }
    const budget = { spend: (steps: number) => void spent.push(steps) } as unknown as AdmissionBudget
    const paramKind = { apiVersion: 'v1', kind: 'Secret' }
    const found = await collectParams({ paramKind, paramRef, namespace: 'n', ...more }, { store, catalog, budget })
    const names = (object?: ApiObject) => object && `${object.metadata.namespace ?? ''}/${object.metadata.name}`
    return { result: 'fault' in found ? found.fault : found.found.map(names), spent, store, found }
  }

  const ofCluster = { paramKind: { apiVersion: 'v1', kind: 'Namespace' } }
  const missed = 'no params found for policy binding with `Deny` parameterNotFoundAction'
  it.each<[string, ParamRef | undefined, Partial<Parameters<typeof collectParams>[0]>, unknown]>([
    ['nothing', undefined, {}, [undefined]],
    ['what has no kind', { name: 'a' }, { paramKind: undefined }, [undefined]],
    ['one by its name, in the namespace of the request', { name: 'a' }, {}, ['n/a']],
    ['one by its name, in another namespace', { name: 'a', namespace: 'm' }, {}, ['m/a']],
    ['one that is not there', { name: 'x' }, {}, []],
    ['one that has to be there, and is', { name: 'a', parameterNotFoundAction: 'Deny' }, {}, ['n/a']],
    ['one that has to be there, and is not', { name: 'x', parameterNotFoundAction: 'Deny' }, {}, missed],
    ['all of a namespace', { selector: {} }, {}, ['n/a', 'n/bb']],
    ['all, without saying so', {}, {}, ['n/a', 'n/bb']],
    ['those with a label', { selector: { matchLabels: { use: 'x' } } }, {}, ['n/bb']],
    ['one of the cluster', { name: 'm' }, ofCluster, ['/m']],
    ['all of the cluster', { selector: {} }, ofCluster, ['/m', '/n']],
    [
      'one of the cluster in a namespace',
      { name: 'm', namespace: 'n' },
      ofCluster,
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    ],
    [
      'one in a namespace, for a request in none',
      { name: 'a' },
      { namespace: '' },
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    ],
    [
      'one in a namespace that it names, for a request in none',
      { name: 'a', namespace: 'm' },
      { namespace: '' },
      ['m/a'],
    ],
    [
      'one of a kind that is not there',
      { name: 'a' },
      { paramKind: { apiVersion: 'v1', kind: 'X' } },
      "failed to find resource referenced by paramKind: 'v1, Kind=X'",
    ],
    [
      'one of a version that is not there',
      { name: 'a' },
      { paramKind: { apiVersion: 'v3', kind: 'Secret' } },
      "failed to find resource referenced by paramKind: 'v3, Kind=Secret'",
    ],
  ])('is %s', async (_what, paramRef, more, result) => {
    expect((await find(paramRef, more)).result).toEqual(result)
  })

  it('is shown in the version that the policy names', async () => {
    const { found } = await find({ name: 'a' }, { paramKind: { apiVersion: 'v2', kind: 'Secret' } })
    expect(found).toMatchObject({ found: [{ apiVersion: 'v2' }] })
    expect((await find({ name: 'a' })).found).toMatchObject({ found: [{ apiVersion: 'v1' }] })
  })

  it('costs half a step for each character that is looked through', async () => {
    const { spent } = await find({ selector: {} })
    const length = objectText(secret('a')).length + objectText(secret('bb', 'n', { use: 'x' })).length
    expect(spent).toEqual([Math.ceil(length / 2)])
    expect((await find({ name: 'a' })).spent).toEqual([])
  })

  it('is looked for in pages of twenty-five, which are each converted together', async () => {
    const limits: unknown[] = []
    const asked: (readonly string[])[] = []
    const convert = (object: ApiObject, version: string): ApiObject => {
      if (asked.length === 0) throw new Error('it was not prepared')
      return { ...object, apiVersion: version }
    }
    const prepare = async (objects: readonly ApiObject[], version: string): Promise<void> => {
      asked.push([version, ...objects.map(({ metadata: { name } }) => name)])
    }
    const kind = { ...secretKind, conversion: { version: 'v9', convert, prepare } } as unknown as ServedKind
    const items = [secret('a'), secret('bb')].map((object) => ({ object, engine: {} }))
    const list: ObjectStore['list'] = async ({ limit }) => {
      limits.push(limit)
      return { items, resourceVersion: '1', more: false }
    }
    const sources = {
      store: { list } as ObjectStore,
      catalog: { byKind: async () => kind, inVersion: async () => kind },
    }
    const paramKind = { apiVersion: 'v1', kind: 'Secret' }
    const found = await collectParams({ paramKind, paramRef: { selector: {} }, namespace: 'n' }, sources)
    expect(found).toMatchObject({ found: [{ apiVersion: 'v1' }, { apiVersion: 'v1' }] })
    expect([limits, asked]).toEqual([[25], [['v1', 'a', 'bb']]])
  })
})
