import { describe, expect, it } from 'vitest'
import type { Conversion } from '../../../shared/model/conversion.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { collectKindFunctions } from '../../../shared/resources/converted-reads.ts'
import { createKindCatalog, type CatalogOptions } from '../../../shared/resources/store-kind-catalog.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { createMapStore } from './map-store.ts'

const webhook = {
  strategy: 'Webhook',
  webhook: { clientConfig: { url: 'https://h.dev' }, conversionReviewVersions: ['v1'] },
}

function open(options: Partial<CatalogOptions> = {}) {
  const store = createMapStore()
  const clock = createVirtualClock(1_000_000)
  const catalog = createKindCatalog({ store, clock, maxAgeMs: Infinity, ...options })
  const define = (kind: string, spec: JsonObject = {}, { plural = `${kind.toLowerCase()}s`, status = 'True' } = {}) => {
    const metadata = { name: `${plural}.g.dev`, uid: kind, resourceVersion: '1', generation: 1, creationTimestamp: '' }
    const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1' }))
    const names = { kind, plural }
    store.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata,
      spec: { group: 'g.dev', scope: 'Namespaced', names, versions, ...spec },
      status: { acceptedNames: names, conditions: [{ type: 'Established', status }] },
    })
  }
  return { store, clock, define, ...catalog }
}

describe('a catalog of kinds', () => {
  it('finds kinds by their names, in their versions, at once where they are known', async () => {
    const { define, byPlural, byKind, inVersion, store } = open()
    define('Thing')
    expect(await byPlural('g.dev', 'v2', 'things')).toMatchObject({ kind: 'Thing', version: 'v2' })
    const kind = byKind('g.dev', 'Thing')
    expect(kind).toMatchObject({ version: 'v1' })
    expect(inVersion(kind as never, 'v2')).toMatchObject({ version: 'v2' })
    expect(byPlural('', 'v1', 'configmaps')).toMatchObject({ kind: 'ConfigMap' })
    expect(byPlural('events.k8s.io', 'v1', 'events')).toMatchObject({ kind: 'Event' })
    expect(store.asked).toHaveLength(1)
  })

  it('lists those that are served, and those of which there are objects', async () => {
    const { define, all, listStored } = open()
    define('Thing')
    const versions = async (list: typeof all) =>
      (await list()).filter(({ group }) => group === 'g.dev').map(({ version }) => version)
    expect(await versions(all)).toEqual(['v1', 'v2'])
    expect(await versions(listStored)).toEqual(['v1'])
    expect((await listStored()).filter(({ kind }) => kind === 'Event')).toHaveLength(1)
    expect((await all()).filter(({ kind }) => kind === 'Event')).toHaveLength(2)
  })

  it('looks again for what it does not know, once a second', async () => {
    const { define, byKind, clock, store } = open()
    expect(await byKind('g.dev', 'Thing')).toBeUndefined()
    define('Thing')
    await clock.advance(900)
    expect(await byKind('g.dev', 'Thing')).toBeUndefined()
    await clock.advance(101)
    expect(await byKind('g.dev', 'Thing')).toMatchObject({ kind: 'Thing' })
    expect(store.asked).toHaveLength(2)
  })

  it('keeps the kinds of definitions that have not changed, with all that was made of their schemas', async () => {
    const { define, all, byKind, invalidate } = open()
    define('Thing')
    define('Other')
    const [things, others] = [await byKind('g.dev', 'Thing'), await byKind('g.dev', 'Other')]
    expect((await all()).filter((kind) => kind === things)).toHaveLength(1)
    define('Other')
    invalidate()
    expect(await byKind('g.dev', 'Thing')).toBe(things)
    expect(await byKind('g.dev', 'Other')).not.toBe(others)
  })

  it('looks again when it is told to', async () => {
    const { define, byKind, invalidate } = open()
    expect(await byKind('g.dev', 'Thing')).toBeUndefined()
    define('Thing')
    invalidate()
    expect(await byKind('g.dev', 'Thing')).toMatchObject({ kind: 'Thing' })
  })

  it('looks again when what it knows is old', async () => {
    const { byPlural, clock, store } = open({ maxAgeMs: 500 })
    await byPlural('', 'v1', 'configmaps')
    await clock.advance(501)
    await byPlural('', 'v1', 'configmaps')
    expect(store.asked).toHaveLength(2)
  })

  it('looks again for who says how old it may be, but not for what is built in, nor where every change is told', async () => {
    const { define, byKind, listStored, clock, store } = open({ maxAgeMs: 300_000 })
    define('Thing')
    await byKind('g.dev', 'Thing')
    await clock.advance(10_001)
    await byKind('', 'ConfigMap', 10_000)
    await byKind('g.dev', 'Thing', 20_000)
    await byKind('g.dev', 'Thing')
    expect(store.asked).toHaveLength(1)
    expect(await byKind('g.dev', 'Thing', 10_000)).toMatchObject({ kind: 'Thing' })
    expect(store.asked).toHaveLength(2)
    await clock.advance(1_001)
    await listStored(1_000)
    expect(store.asked).toHaveLength(3)

    const told = open()
    told.define('Thing')
    await told.byKind('g.dev', 'Thing')
    await told.clock.advance(1_000_000)
    expect(told.byKind('g.dev', 'Thing', 0)).toMatchObject({ kind: 'Thing' })
    expect(told.store.asked).toHaveLength(1)
  })

  it('has the functions of the program, and webhooks where somebody asks them', async () => {
    const conversion = { version: 'v2', schema: { type: 'object' } } as unknown as Conversion
    const functions = collectKindFunctions([{ group: 'g.dev', kind: 'Own', conversion }])
    const conversions = { random: { next: () => 0, uuid: () => 'u' } }
    const conversionsBy = async (options: Partial<CatalogOptions>) => {
      const { define, byKind } = open(options)
      define('Own')
      define('Thing', { conversion: webhook })
      const kinds = [await byKind('g.dev', 'Own'), await byKind('g.dev', 'Thing')]
      return kinds.map((kind) => (kind?.conversion === conversion ? 'own' : kind?.conversion && 'webhook'))
    }
    expect(await conversionsBy({})).toEqual([undefined, undefined])
    expect(await conversionsBy({ functions })).toEqual(['own', undefined])
    expect(await conversionsBy({ functions, conversions })).toEqual(['own', 'webhook'])
    expect(await conversionsBy({ conversions })).toEqual([undefined, 'webhook'])
  })

  it.each([
    ['names another', { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://other.dev' } } }],
    ['names none', { strategy: 'None' }],
  ])('keeps the webhook of a kind whose name a definition waits for that %s', async (_, conversion) => {
    const asked: string[] = []
    const post = async ({ url }: { readonly url: string }) => {
      asked.push(url)
      return ''
    }
    const conversions = { random: { next: () => 0, uuid: () => 'u' }, webhooks: { post } }
    const { define, byKind } = open({ conversions })
    define('Thing', { conversion: webhook })
    define('Thing', { conversion }, { plural: 'zzz', status: 'False' })
    const kind = await byKind('g.dev', 'Thing')
    const metadata = { name: 'a', uid: 'a', resourceVersion: '1', generation: 1, creationTimestamp: '' }
    const thing = { apiVersion: 'g.dev/v1', kind: 'Thing', metadata }
    await expect(kind?.conversion?.prepare?.([thing], 'v2')).rejects.toThrow('conversion webhook')
    expect(asked).toEqual(['https://h.dev'])
  })
})
