import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'
import { request } from './sent-request.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const count = 450
const nameOf = (i: number): string => `w${String(i).padStart(3, '0')}`
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const metadata = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'

async function fill(spec: (i: number) => { readonly size: number }): Promise<void> {
  for (let i = 0; i < count; i++) await harness.send(`POST ${widgets}`, { body: widget(nameOf(i), spec(i)) })
}

/** The list as it is sent; `between` runs when its first page has gone out. */
async function listed(path: string, between: () => Promise<unknown> = async () => {}, accept = 'application/json') {
  const { body, headers } = await harness.api(request(`GET ${path}`, { accept }))
  if (typeof body === 'string' || body instanceof Uint8Array) throw new Error('the list is whole')
  let pieces = 0
  let text = ''
  for await (const piece of body) {
    text += String(piece)
    if (++pieces === 2) await between()
  }
  return { headers, pieces, body: JSON.parse(text) }
}

describe('a long list', () => {
  it('is sent while it is read, and is the same as its pages together', async () => {
    await fill((size) => ({ size: size + 1 }))
    const { headers, pieces, body } = await listed(widgets)
    expect(headers['content-type']).toBe('application/json')
    expect(pieces).toBeGreaterThan(3)
    const first = (await harness.send(`GET ${widgets}?limit=300`)).body
    const rest = (await harness.send(`GET ${widgets}?limit=300&continue=${first.metadata.continue}`)).body
    expect(body.items).toEqual([...first.items, ...rest.items])
    expect(body.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion })
  })

  it.each([
    [table, 'Table', 'rows'],
    [metadata, 'PartialObjectMetadataList', 'items'],
  ])('is so in every form: %s', async (accept, kind, items) => {
    await fill((size) => ({ size: size + 1 }))
    const { body } = await listed(widgets, undefined, accept)
    expect(body.kind).toBe(kind)
    expect(body[items]).toHaveLength(count)
    if (kind === 'Table') expect(body.columnDefinitions[0]).toMatchObject({ name: 'Name' })
  })

  it('tells the objects of one moment, and a watch from there what happened since', async () => {
    await fill(() => ({ size: 1 }))
    const { body } = await listed(widgets, async () => {
      const patch = { type: 'application/merge-patch+json', body: { spec: { size: 2 } } }
      for (const i of [0, 440, 440]) await harness.send(`PATCH ${widgets}/${nameOf(i)}`, patch)
      await harness.send(`PATCH ${widgets}/${nameOf(441)}`, { ...patch, body: { spec: { size: 3 } } })
      await harness.send(`POST ${widgets}`, { body: widget('w999') })
      await harness.send(`DELETE ${widgets}/${nameOf(442)}`)
    })
    const items = body.items as readonly { metadata: { name: string }; spec: { size: number } }[]
    expect(items.filter(({ spec }) => spec.size !== 1)).toEqual([])
    // What was removed before its page was read is left out.
    expect(items.map((item) => item.metadata.name)).toEqual(
      Array.from({ length: count }, (_, i) => nameOf(i)).filter((name) => name !== nameOf(442)),
    )
    const watch = await harness.watch(`${widgets}?watch=1&resourceVersion=${body.metadata.resourceVersion}`)
    const events = await watch.take(5)
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name} ${object.spec.size ?? ''}`)).toEqual([
      'MODIFIED w000 2',
      'MODIFIED w440 2',
      'MODIFIED w441 3',
      'ADDED w999 ',
      'DELETED w442 1',
    ])
    watch.leave()
  })

  it('ends a page early whose objects are large', async () => {
    for (let i = 0; i < 12; i++)
      await harness.send(`POST /api/v1/namespaces/default/configmaps`, {
        body: { metadata: { name: nameOf(i) }, data: { text: 'x'.repeat(300_000) } },
      })
    const path = '/api/v1/namespaces/default/configmaps'
    const first = (await harness.send(`GET ${path}?limit=12`)).body
    expect(first.items.length).toBeLessThan(12)
    let { items } = first
    for (let token = first.metadata.continue; token !== undefined;) {
      const { body } = await harness.send(`GET ${path}?limit=12&continue=${token}`)
      items = [...items, ...body.items]
      token = body.metadata.continue
    }
    expect(items).toHaveLength(12)
    expect((await listed(path)).body.items).toHaveLength(12)
  })
})
