import { expect, it } from 'vitest'
import type { ObjectKey } from '../../../shared/model/object-key.ts'
import { createDeleteCollection } from '../../../shared/api/verbs/delete-collection.ts'
import type { Call } from '../../../shared/api/call.ts'
import { createWidgetHarness, widget, widgets } from './harness.ts'
import { request } from './sent-request.ts'

function keyOf(name: string): ObjectKey {
  return { group: 'example.com', kind: 'Widget', namespace: 'default', name }
}

it('names what could not be read on any page of a collection that is deleted', async () => {
  const harness = await createWidgetHarness()
  const { services } = harness
  for (const name of ['a', 'b']) await harness.send(`POST ${widgets}`, { body: widget(name) })
  const { resources } = services
  // Three pages, of which the first two have something damaged on them.
  const pages = [{ damaged: [keyOf('x')], continue: 'two' }, { damaged: [keyOf('y')], continue: 'three' }, {}]
  let page = 0
  const list: typeof resources.list = async (kind, options) => {
    const { continue: _next, ...asked } = options ?? {}
    const { continue: _, ...whole } = await resources.list(kind, asked)
    return { ...whole, items: page === 0 ? whole.items : [], ...pages[page++] }
  }
  const kind = (await services.catalog.listStored()).find((one) => one.kind === 'Widget')
  const call = {
    kind,
    request: request(`DELETE ${widgets}`),
    info: { namespace: 'default', name: '', parts: [] },
    user: { name: 'tester', groups: [] },
  } as unknown as Call
  const { headers } = await createDeleteCollection({ ...services, resources: { ...resources, list } })(call)
  expect(String(headers['warning']).match(/Widget\/default\/\w/g)).toEqual(['Widget/default/x', 'Widget/default/y'])
  harness.close()
})

it('warns at the head of a watch of what is known to be damaged behind the first page of its objects', async () => {
  const harness = await createWidgetHarness({ damaged: () => [keyOf('z')] })
  const initial = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const warning = async (): Promise<unknown> => {
    const end = new AbortController()
    const { headers } = await harness.api(request(`GET ${widgets}?${initial}`, { signal: end.signal }))
    end.abort()
    return headers['warning']
  }
  expect(await warning()).toBeUndefined()
  for (let i = 0; i < 33; i++) await harness.send(`POST ${widgets}`, { body: widget(`w${i}`) })
  expect(await warning()).toContain('example.com/Widget/default/z is damaged and left out')
  harness.close()
})
