import type { ListPage, ListQuery, ObjectStore } from '../ports/object-store.ts'

const objectsPerPage = 500

/** All objects of a query, page by page: so much is in memory at once. */
export async function* listPages(
  store: Pick<ObjectStore, 'list'>,
  query: Pick<ListQuery, 'group' | 'kind' | 'namespace'>,
  pageSize = objectsPerPage,
): AsyncGenerator<ListPage> {
  let after: ListQuery['after']
  do {
    const page = await store.list({ ...query, limit: pageSize, ...(after && { after }) })
    yield page
    const last = page.items.at(-1)?.object.metadata
    after = page.more && last !== undefined ? { namespace: last.namespace ?? '', name: last.name } : undefined
  } while (after !== undefined)
}
