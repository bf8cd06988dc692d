import { describe, expect, it } from 'vitest'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import { secretKind } from '../../../shared/resources/built-in-kinds.ts'
import { collectParams } from '../../../shared/resources/policy-params.ts'

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
