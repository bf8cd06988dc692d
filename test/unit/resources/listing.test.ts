import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../shared/model/errors.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ListPage, ListQuery, ObjectStore } from '../../../shared/ports/object-store.ts'
import { listObjects } from '../../../shared/resources/listing.ts'
import type { ListOptions } from '../../../shared/resources/resources.ts'

const kind = {
  group: 'example.com',
  version: 'v1',
  storageVersion: 'v1',
  kind: 'Widget',
  namespaced: true,
  schema: { type: 'object' },
} as unknown as ServedKind

function stored(name: string): StoredObject {
  const metadata = { name, namespace: 'n', uid: name, resourceVersion: '1', generation: 1, creationTimestamp: '' }
  return { object: { apiVersion: 'example.com/v1', kind: 'Widget', metadata }, engine: {} }
}

/** A store of objects called `0`, `1`, …, that gives so many a page at most. */
function storeOf(count: number, pageMax = Infinity) {
  const queries: ListQuery[] = []
  const list = async (query: ListQuery): Promise<ListPage> => {
    if (queries.push(query) > 200) throw new Error('the pages have no end')
    const from = query.after === undefined ? 0 : Number(query.after.name) + 1
    const to = Math.min(count, from + Math.min(query.limit ?? Infinity, pageMax))
    const items = Array.from({ length: Math.max(0, to - from) }, (_, i) => stored(String(from + i)))
    return { items, more: to < count, resourceVersion: String(100 + queries.length) }
  }
  return { store: { list } as unknown as ObjectStore, queries }
}

/** All pages: the names of each. */
async function pagesOf(store: ObjectStore, options: ListOptions) {
  const pages: (readonly string[])[] = []
  const versions = new Set<string>()
  let token: string | undefined
  do {
    const page = await listObjects(store, kind, { ...options, ...(token !== undefined && { continue: token }) })
    pages.push(page.items.map(({ object }) => object.metadata.name))
    versions.add(page.resourceVersion)
    token = page.continue
  } while (token !== undefined && pages.length < 50)
  return { pages, versions: [...versions] }
}

const isEven: ListOptions['selector'] = ({ metadata }) => Number(metadata.name) % 2 === 0

describe('a list', () => {
  it.each<[string, number, ListOptions, number, readonly (readonly string[])[]]>([
    ['of nothing', 0, {}, Infinity, [[]]],
    ['of nothing, by pages', 0, { limit: 2 }, Infinity, [[]]],
    ['of all', 3, {}, Infinity, [['0', '1', '2']]],
    ['of all, in pages of the store', 5, {}, 2, [['0', '1', '2', '3', '4']]],
    ['by pages', 5, { limit: 2 }, Infinity, [['0', '1'], ['2', '3'], ['4']]],
    [
      'by pages that come out even',
      4,
      { limit: 2 },
      Infinity,
      [
        ['0', '1'],
        ['2', '3'],
      ],
    ],
    ['by pages that the store ends early', 5, { limit: 3 }, 2, [['0', '1'], ['2', '3'], ['4']]],
    ['by pages of one, which the store ends early', 3, { limit: 3 }, 1, [['0'], ['1'], ['2']]],
    ['of none, by pages that the store ends early', 5, { limit: 3, selector: () => false }, 2, [[]]],
    ['of some', 5, { selector: isEven }, Infinity, [['0', '2', '4']]],
    [
      'of some, by pages',
      7,
      { limit: 2, selector: isEven },
      Infinity,
      [
        ['0', '2'],
        ['4', '6'],
      ],
    ],
    ['of some, and the last is not among them', 6, { limit: 3, selector: isEven }, Infinity, [['0', '2', '4'], []]],
    ['of none', 5, { limit: 2, selector: () => false }, Infinity, [[]]],
  ])('%s', async (...[, count, options, pageMax, pages]) => {
    const { store } = storeOf(count, pageMax)
    expect((await pagesOf(store, options)).pages).toEqual(pages)
  })

  it('has the version of its first page on all of them, and asks for the others as of it', async () => {
    const { store, queries } = storeOf(5)
    const { versions } = await pagesOf(store, { limit: 2, namespace: 'n' })
    expect(versions).toEqual(['101'])
    const query = { group: 'example.com', kind: 'Widget', namespace: 'n', limit: 2 }
    expect(queries).toEqual([
      query,
      { ...query, after: { namespace: 'n', name: '1' }, asOf: '101' },
      { ...query, after: { namespace: 'n', name: '3' }, asOf: '101' },
    ])
  })

  it('of a kind without namespaces is of all, whichever namespace is named', async () => {
    const { store, queries } = storeOf(1)
    await listObjects(store, { ...kind, namespaced: false }, { namespace: 'n' })
    expect(queries).toEqual([{ group: 'example.com', kind: 'Widget' }])
  })

  it('of few among many reads larger and larger pages of the store, and never larger than a hundred', async () => {
    const { store, queries } = storeOf(400)
    const selector: ListOptions['selector'] = ({ metadata: { name } }) => name === '390' || name === '395'
    const { pages } = await pagesOf(store, { limit: 1, selector })
    expect(pages).toEqual([['390'], ['395'], []])
    const limits = queries.map(({ limit }) => limit)
    expect(limits).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 100, 100, 1, 2, 4, 1, 2, 4])
  })

  it('that asks for larger pages reads no larger ones', async () => {
    const { store, queries } = storeOf(600)
    await pagesOf(store, { limit: 250, selector: () => false })
    expect(queries.map(({ limit }) => limit)).toEqual([250, 250, 250])
  })

  it('goes on behind a name of any letters, as roles may have', async () => {
    const names = ['leser', 'роль', '役割']
    const queries: ListQuery[] = []
    const list = async (query: ListQuery): Promise<ListPage> => {
      const from = names.indexOf(query.after?.name ?? '') + 1
      queries.push(query)
      return { items: names.slice(from, from + 1).map(stored), more: from + 1 < names.length, resourceVersion: '9' }
    }
    const { pages } = await pagesOf({ list } as unknown as ObjectStore, { limit: 1 })
    expect(pages).toEqual(names.map((name) => [name]))
    expect(queries.map(({ after }) => after?.name)).toEqual([undefined, 'leser', 'роль'])
  })

  it('of everything says no more than that', async () => {
    const { store, queries } = storeOf(1)
    expect(await listObjects(store, kind, {})).toEqual({ items: [stored('0')], resourceVersion: '101' })
    expect(queries).toStrictEqual([{ group: 'example.com', kind: 'Widget' }])
  })

  it('names what cannot be read', async () => {
    const damaged = [{ group: 'example.com', kind: 'Widget', namespace: 'n', name: 'x' }]
    const list = async () => ({ items: [], more: false, resourceVersion: '1', damaged })
    expect(await listObjects({ list } as never, kind, {})).toMatchObject({ items: [], damaged })
  })

  it('has the objects of a page converted together, and names those that cannot be', async () => {
    const asked: (readonly string[])[] = []
    const convert = (object: ApiObject, version: string): ApiObject => {
      if (object.metadata.name === '1') throw new OperatingError('CONVERSION_FAILED', 'no')
      return { ...object, apiVersion: `example.com/${version}` }
    }
    const prepare = async (objects: readonly ApiObject[], version: string): Promise<void> => {
      asked.push([version, ...objects.map(({ metadata }) => metadata.name)])
    }
    const shown = { ...kind, version: 'v2', conversion: { version: 'v1', convert, prepare } } as unknown as ServedKind
    const { store } = storeOf(3, 2)
    const { items, damaged } = await listObjects(store, shown, {})
    expect(items.map(({ object }) => [object.metadata.name, object.apiVersion])).toEqual([
      ['0', 'example.com/v2'],
      ['2', 'example.com/v2'],
    ])
    expect(damaged).toEqual([{ group: 'example.com', kind: 'Widget', namespace: 'n', name: '1' }])
    expect(asked).toEqual([
      ['v2', '0', '1'],
      ['v2', '2'],
    ])
  })

  it.each(
    [
      [
        '',
        '{}',
        '{"namespace":"n","name":"a"}',
        '{"namespace":"n","name":"a","version":5}',
        '{"namespace":"n","name":"a","version":"abc"}',
        '{"namespace":"n","name":"a","version":""}',
        '{"namespace":"n","name":"a","version":"0"}',
        '{"namespace":"n","name":"a","version":"01"}',
        '{"namespace":"n","name":"a","version":"-1"}',
        '{"namespace":"n","name":"a","version":"1.5"}',
        '{"namespace":"n","name":"a","version":"1\\n"}',
        `{"namespace":"n","name":"a","version":"${'9'.repeat(40)}"}`,
        '{"namespace":5,"name":"a","version":"1"}',
        '{"namespace":"n","name":5,"version":"1"}',
        'null',
        '[]',
      ],
    ]
      .flat()
      .map((text) => [btoa(text)])
      .concat([['!!'], [btoa('x')]]),
  )('has no page for the token %j', async (token) => {
    const { store } = storeOf(1)
    await expect(listObjects(store, kind, { continue: token })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })
})
