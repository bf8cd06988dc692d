import { expect, it } from 'vitest'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { ListQuery } from '../../../shared/ports/object-store.ts'
import { listPages } from '../../../shared/resources/list-pages.ts'

/** Asks for all of so many objects in pages: the sizes of these, and what was asked for behind the first. */
async function pagesOf(
  count: number,
  {
    pageSize,
    more = false,
    namespaced = true,
  }: { readonly pageSize?: number; readonly more?: boolean; readonly namespaced?: boolean } = {},
) {
  const queries: ListQuery[] = []
  const metadata = (name: string) => ({ name, ...(namespaced && { namespace: 'n' }) })
  const list = async (query: ListQuery) => {
    if (queries.push(query) > 10) throw new Error('the pages have no end')
    const from = query.after === undefined ? 0 : Number(query.after.name) + 1
    const names = Array.from({ length: count }, (_, i) => String(i)).slice(from, from + (query.limit ?? 0))
    const items = names.map((name) => ({ object: { metadata: metadata(name) }, engine: {} }) as unknown as StoredObject)
    return { items, resourceVersion: '1', more: more || from + items.length < count }
  }
  const pages: number[] = []
  for await (const { items } of listPages(
    { list },
    { group: 'g', kind: 'K' },
    ...(pageSize === undefined ? [] : [pageSize]),
  ))
    pages.push(items.length)
  return { pages, queries }
}

it.each([
  [0, [0]],
  [2, [2]],
  [3, [2, 1]],
  [4, [2, 2]],
])('%d objects are read in pages of two: %j', async (count, sizes) => {
  expect((await pagesOf(count, { pageSize: 2 })).pages).toEqual(sizes)
})

it('a page begins behind the last object of the one before, in a namespace or in none', async () => {
  const { queries } = await pagesOf(3, { pageSize: 2 })
  expect(queries).toEqual([
    { group: 'g', kind: 'K', limit: 2 },
    { group: 'g', kind: 'K', limit: 2, after: { namespace: 'n', name: '1' } },
  ])
  expect((await pagesOf(3, { pageSize: 2, namespaced: false })).queries[1]?.after).toEqual({ namespace: '', name: '1' })
})

it('a page has five hundred objects, if nothing else is said', async () => {
  expect((await pagesOf(501)).pages).toEqual([500, 1])
})

it('an empty page is the last one, whatever it says', async () => {
  expect((await pagesOf(0, { more: true })).pages).toEqual([0])
})
