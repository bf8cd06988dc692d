import { describe, expect, it } from 'vitest'
import type { AdmissionHooks } from '../../../shared/model/admission-hooks.ts'
import type { Conversion } from '../../../shared/model/conversion.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ChangeFeed } from '../../../shared/ports/change-feed.ts'
import {
  collectKindFunctions,
  convertChanges,
  convertFeed,
  convertReads,
  isOutdated,
} from '../../../shared/resources/converted-reads.ts'
import { createMapStore } from './map-store.ts'

/** Kinds stored in v2 by now; what is called odd cannot be converted, and slips are slips. */
const conversion = {
  version: 'v2',
  convert: (object: ApiObject, version: string) => {
    if (object.metadata.name === 'odd') throw new OperatingError('CONVERSION_FAILED', 'no')
    if (object.metadata.name === 'slip') throw new TypeError('a slip')
    return { ...object, apiVersion: `g.dev/${version}` }
  },
} as unknown as Conversion
const functions = collectKindFunctions([{ group: 'g.dev', kind: 'K', conversion }])
const none = collectKindFunctions([{ group: 'g.dev', kind: 'K' }])

function objectOf(name: string, version = 'v1', kind = 'K'): ApiObject {
  const metadata = { name, namespace: 'n', uid: name, resourceVersion: '1', generation: 1, creationTimestamp: '' }
  return { apiVersion: `g.dev/${version}`, kind, metadata }
}
const stored = (...given: Parameters<typeof objectOf>): StoredObject => ({ object: objectOf(...given), engine: {} })
const keyOf = (name: string, kind = 'K') => ({ group: 'g.dev', kind, namespace: 'n', name })

describe('functions of kinds', () => {
  it('are those of the first that brings them', () => {
    const [first, second] = [{ ...conversion }, { ...conversion }]
    const [hooks, others]: AdmissionHooks[] = [{ validate: () => {} }, {}]
    const found = collectKindFunctions([
      { group: 'g.dev', kind: 'K' },
      { group: 'g.dev', kind: 'K', conversion: first, ...(hooks && { hooks }) },
      { group: 'g.dev', kind: 'K', conversion: second, ...(others && { hooks: others }) },
    ])
    expect([found.of('g.dev', 'K'), found.hooksOf('g.dev', 'K')]).toEqual([first, hooks])
    expect(found.of('g.dev', 'K')).toBe(first)
    expect(found.hooksOf('g.dev', 'K')).toBe(hooks)
    expect([found.of('g.dev', 'X'), found.hooksOf('x.dev', 'K'), found.isEmpty]).toEqual([undefined, undefined, false])
  })

  it('are empty without conversions', () => {
    const hooked = collectKindFunctions([{ group: 'g.dev', kind: 'K', hooks: {} }])
    expect([none.isEmpty, hooked.isEmpty, functions.isEmpty]).toEqual([true, true, false])
    expect(none.of('g.dev', 'K')).toBeUndefined()
    expect(none.hooksOf('g.dev', 'K')).toBeUndefined()
  })
})

describe('a store of converted reads', () => {
  it('is the store itself where nothing is converted', () => {
    const store = createMapStore()
    expect(convertReads(store, none)).toBe(store)
  })

  it('gives what is stored in older versions in the present one, and marks it', async () => {
    const store = createMapStore()
    const given = [objectOf('a'), objectOf('b', 'v2'), objectOf('odd'), objectOf('c', 'v1', 'Other')]
    for (const object of given) store.put(object)
    const reads = convertReads(store, functions)
    const found = [
      await reads.get(keyOf('a')),
      await reads.get(keyOf('b')),
      await reads.get(keyOf('odd')),
      await reads.get(keyOf('c', 'Other')),
    ]
    expect(found.map((one) => one?.object.apiVersion)).toEqual(['g.dev/v2', 'g.dev/v2', 'g.dev/v1', 'g.dev/v1'])
    expect(found.map((one) => one && isOutdated(one.object))).toEqual([true, false, false, false])
    expect(await reads.get(keyOf('x'))).toBeUndefined()
    const { items } = await reads.list({ group: 'g.dev', kind: 'K' })
    expect(items.map(({ object }) => object.apiVersion)).toEqual(['g.dev/v2', 'g.dev/v2', 'g.dev/v1'])
    expect((await reads.list({ group: 'g.dev', kind: 'Other' })).items).toMatchObject([
      { object: { apiVersion: 'g.dev/v1' } },
    ])
  })

  it('gives a page of a kind that is not converted as it is, and passes slips on', async () => {
    const store = createMapStore()
    store.put(objectOf('slip'))
    const page = { items: [stored('a', 'v1', 'Other')], resourceVersion: '1', more: false }
    const reads = convertReads({ ...store, list: async () => page }, functions)
    expect(await reads.list({ group: 'g.dev', kind: 'Other' })).toBe(page)
    await expect(reads.get(keyOf('slip'))).rejects.toThrow('a slip')
  })
})

describe('changes of objects', () => {
  const changes = [{ stored: stored('a') }, { stored: stored('b', 'v2') }]

  it('have their objects in the present version, and stay the same where they are', () => {
    const made = convertChanges(changes, functions)
    expect(made.map((one) => one.stored.object.apiVersion)).toEqual(['g.dev/v2', 'g.dev/v2'])
    expect(made[1]).toBe(changes[1])
    expect(convertChanges(changes, none)).toBe(changes)
  })

  it('have their objects of before in the present version, too', () => {
    const [made] = convertChanges([{ stored: stored('a', 'v2'), before: stored('a') }], functions)
    expect(made?.before?.object.apiVersion).toBe('g.dev/v2')
  })

  it.each([
    [undefined, 'g.dev/v2'],
    [{ group: 'g.dev', kind: 'K' }, 'g.dev/v2'],
    [{ group: 'g.dev', kind: 'Other' }, 'g.dev/v1'],
  ])('come so by the feed of %j', async (of, apiVersion) => {
    async function* follow() {
      yield { changes, position: 'p' }
    }
    const feed = { follow } as unknown as ChangeFeed
    expect(convertFeed(feed, none)).toBe(feed)
    const seen: unknown[] = []
    const options = { ...(of && { of }) } as unknown as Parameters<ChangeFeed['follow']>[0]
    for await (const batch of convertFeed(feed, functions).follow(options)) seen.push(batch)
    expect(seen).toMatchObject([{ position: 'p', changes: [{ stored: { object: { apiVersion } } }, {}] }])
  })
})
