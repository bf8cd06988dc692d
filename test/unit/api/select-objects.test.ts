import { describe, expect, it } from 'vitest'
import { selectObjects, selectPages, type SelectedOptions } from '../../../shared/api/select-objects.ts'
import type { Selection } from '../../../shared/api/selection.ts'
import type { ListOptions } from '../../../shared/resources/resources.ts'
import { plainKind } from './called.ts'
import { fakeServices, storedOf, throwing } from './fake-services.ts'

const clusterKind = { ...plainKind, namespaced: false }
const selector = () => true

function optionsOf(selection: Partial<Selection>, more: Partial<SelectedOptions> = {}): SelectedOptions {
  const all = { namespace: '', name: undefined, selector: undefined, isMutable: false }
  return { kind: plainKind, selection: { ...all, ...selection }, ...more }
}

describe('selected objects', () => {
  it.each<[string, SelectedOptions, ListOptions]>([
    ['of all namespaces', optionsOf({}), {}],
    ['of a namespace', optionsOf({ namespace: 'n' }), { namespace: 'n' }],
    ['by a selector', optionsOf({ selector }), { selector }],
    ['of a page', optionsOf({}, { limit: 5, continue: 'c' }), { limit: 5, continue: 'c' }],
    ['of one name in all namespaces', optionsOf({ name: 'a', selector }), { selector }],
  ])('%s are listed', async (_what, options, asked) => {
    const list = { items: [], resourceVersion: '7' }
    const services = fakeServices({ list: () => list })
    expect(await selectObjects(options, services)).toBe(list)
    expect(services.asked).toStrictEqual([['list', plainKind, asked]])
  })

  it.each([
    ['in a namespace', optionsOf({ name: 'a', namespace: 'n' }), 'n'],
    ['of the cluster', optionsOf({ name: 'a' }, { kind: clusterKind }), ''],
  ])('of one name %s are one read', async (_where, options, namespace) => {
    const stored = storedOf({ namespace: 'n' })
    const services = fakeServices({ get: () => stored })
    expect(await selectObjects(options, services)).toEqual({ items: [stored], resourceVersion: '100' })
    expect(services.asked).toEqual([['get', options.kind, { namespace, name: 'a' }]])
  })

  it.each([
    ['99', '100'],
    ['100', '100'],
    ['101', '101'],
  ])('of one name in version %s are followed from %s', async (resourceVersion, from) => {
    const services = fakeServices({ get: () => storedOf({ namespace: 'n', resourceVersion }) })
    const list = await selectObjects(optionsOf({ name: 'a', namespace: 'n' }), services)
    expect(list.resourceVersion).toBe(from)
  })

  it('of one name are none if it is not selected, or not there', async () => {
    const options = (of: () => boolean) => optionsOf({ name: 'a', namespace: 'n', selector: of })
    const none = { items: [], resourceVersion: '100' }
    const there = fakeServices({ get: () => storedOf({ namespace: 'n' }) })
    const gone = fakeServices({ get: throwing('NOT_FOUND', 'not there') })
    expect(
      await selectObjects(
        options(() => false),
        there,
      ),
    ).toEqual(none)
    expect(
      await selectObjects(
        options(() => true),
        gone,
      ),
    ).toEqual(none)
    const broken = fakeServices({ get: throwing('UNAVAILABLE', 'down') })
    await expect(
      selectObjects(
        options(() => true),
        broken,
      ),
    ).rejects.toThrow('down')
  })
})

describe('pages', () => {
  it('come one after the other, 32 objects each, until the last', async () => {
    const tokens = ['t1', 't2', undefined]
    const services = fakeServices({
      list: () => ({ items: [], resourceVersion: '7', continue: tokens.shift() }),
    })
    const pages = selectPages(optionsOf({}), services)
    for (let i = 0; i < 3; i++) expect(await pages()).toBeDefined()
    expect([await pages(), await pages()]).toEqual([undefined, undefined])
    expect(services.asked.map(([, , asked]) => asked)).toEqual([
      { limit: 32 },
      { limit: 32, continue: 't1' },
      { limit: 32, continue: 't2' },
    ])
  })

  it('can be asked for again where one has failed', async () => {
    const ends = [throwing('UNAVAILABLE', 'down'), () => ({ items: [], resourceVersion: '7' })]
    const services = fakeServices({ list: () => ends.shift()?.() })
    const pages = selectPages(optionsOf({}), services)
    await expect(pages()).rejects.toThrow('down')
    expect(await pages()).toEqual({ items: [], resourceVersion: '7' })
  })
})
