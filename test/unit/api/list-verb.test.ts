import { describe, expect, it } from 'vitest'
import { createList } from '../../../shared/api/verbs/list.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ObjectKey } from '../../../shared/model/object-key.ts'
import type { HttpResponse } from '../../../shared/ports/http-handler.ts'
import type { ListOptions, ObjectList } from '../../../shared/resources/resources.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'
import { fakeServices, storedOf, throwing } from './fake-services.ts'

const path = '/apis/g.dev/v1/namespaces/n/ks'
const page = (names: readonly string[], more: Partial<ObjectList> = {}): ObjectList => {
  return { items: names.map((name) => storedOf({ name })), resourceVersion: '50', ...more }
}

function open(pages: readonly ObjectList[], changesSince: readonly unknown[] = [], damaged: readonly ObjectKey[] = []) {
  const left = [...pages]
  const batch = { changes: changesSince, resourceVersion: '100' }
  const follow = () => ({ [Symbol.asyncIterator]: () => ({ next: async () => ({ value: batch, done: false }) }) })
  const feed = { latest: async () => '100', follow } as never
  const services = fakeServices({ list: () => left.shift() }, { feed, damaged: () => damaged })
  const list = createList(services)
  const ask = (query: string) =>
    endOf(async () => {
      const response = await list(callOf(`GET ${path}?${query}`))
      return [await shapeOf(response), response.headers['warning']]
    })
  const asked = () => services.asked.map(([, , options]) => options as ListOptions)
  return { list, ask, asked }
}

/** Whether it came in pieces, and what it holds. */
async function shapeOf({ status, body }: HttpResponse): Promise<unknown> {
  const pieces: string[] = []
  if (typeof body === 'string') pieces.push(body)
  else for await (const piece of body as AsyncIterable<string>) pieces.push(piece)
  const { metadata, items } = JSON.parse(pieces.join('')) as { metadata: JsonObject; items: { metadata: JsonObject }[] }
  return { status, pieces: pieces.length, ...metadata, names: items.map((item) => item.metadata['name']).join('') }
}

const whole = { status: 200, pieces: 1, resourceVersion: '50' }

describe('a list', () => {
  it.each<[string, readonly ObjectList[], JsonObject, readonly ListOptions[]]>([
    ['', [page(['a'])], { ...whole, names: 'a' }, [{ limit: 32 }]],
    ['limit=5', [page(['a'])], { ...whole, names: 'a' }, [{ limit: 5 }]],
    ['limit=5', [page(['a'], { continue: 'c' })], { ...whole, names: 'a', continue: 'c' }, [{ limit: 5 }]],
    ['continue=b', [page(['a'])], { ...whole, names: 'a' }, [{ continue: 'b' }]],
    [
      '',
      [page(['a', 'b'], { continue: 'c' }), page([], { continue: 'd', resourceVersion: '60' }), page(['e'])],
      { ...whole, pieces: 4, names: 'abe' },
      [{ limit: 32 }, { limit: 32, continue: 'c' }, { limit: 32, continue: 'd' }],
    ],
    [
      '',
      [page([], { continue: 'c' }), page(['e'])],
      { ...whole, pieces: 3, names: 'e' },
      [{ limit: 32 }, { limit: 32, continue: 'c' }],
    ],
  ])('asked for by %j of pages %j', async (query, pages, shape, options) => {
    const { ask, asked } = open(pages)
    expect(await ask(query)).toEqual([shape, undefined])
    expect(asked()).toEqual(options.map((one) => ({ namespace: 'n', ...one })))
  })

  it('warns of what cannot be read, of its first page', async () => {
    const damaged = [{ group: 'g.dev', kind: 'K', namespace: 'n', name: 'x' }]
    const warning = expect.stringContaining('x') as string
    expect(await open([page(['a'], { damaged })]).ask('')).toEqual([{ ...whole, names: 'a' }, warning])
    expect(await open([page(['a'], { damaged })]).ask('limit=1')).toEqual([{ ...whole, names: 'a' }, warning])
    const pages = [page(['a'], { damaged, continue: 'c' }), page(['b'])]
    expect(await open(pages).ask('')).toEqual([{ ...whole, pieces: 4, names: 'ab' }, warning])
  })

  it('warns of what is known to be damaged on the pages behind the first, each once', async () => {
    const key = { group: 'g.dev', kind: 'K', namespace: 'n', name: 'x' }
    const others = [{ namespace: 'other' }, { group: 'other' }, { kind: 'Other' }].map((more) => ({ ...key, ...more }))
    const known = [key, { ...key, name: 'y' }, ...others]
    const pages = () => [page(['a'], { damaged: [key], continue: 'c' }), page(['b'])]
    const [, warning] = (await open(pages(), [], known).ask('')) as [unknown, string]
    expect(warning.match(/[\w.]+\/\w+\/\w+\/\w+/g)).toEqual(['g.dev/K/n/x', 'g.dev/K/n/y'])
    // A page that is read before it is sent tells what is on it.
    expect(await open([page(['a'])], [], known).ask('limit=1')).toEqual([{ ...whole, names: 'a' }, undefined])
  })

  it('of one name that is damaged is empty, and warns', async () => {
    const services = fakeServices({ get: throwing('DAMAGED', 'it is damaged') })
    const { status, headers, body } = await createList(services)(
      callOf(`GET ${path}?fieldSelector=${encodeURIComponent('metadata.name=x')}`),
    )
    expect([status, headers['warning'], JSON.parse(body as string).items]).toEqual([
      200,
      expect.stringContaining('g.dev/K/n/x is damaged and left out'),
      [],
    ])
  })

  it('is not told from before a version that the store has not reached', async () => {
    for (const query of ['', '&resourceVersionMatch=NotOlderThan', '&limit=1', '&resourceVersionMatch=Exact']) {
      const line = `GET ${path}?resourceVersion=101${query}`
      const end = open([page([])]).list(callOf(line, { signal: AbortSignal.abort() }))
      await expect(end).rejects.toThrow('Too large resource version: 101, current: 100')
    }
    expect(await open([page(['a'])]).ask('resourceVersion=100')).toEqual([{ ...whole, names: 'a' }, undefined])
  })
})

describe('a list at an exact version', () => {
  const exact = 'resourceVersion=40&resourceVersionMatch=Exact'
  it.each([
    [exact, '40'],
    [`${exact}&limit=5`, '40'],
    ['resourceVersion=40&resourceVersionMatch=NotOlderThan', '50'],
    ['resourceVersion=40', '50'],
  ])('by %j says %s', async (query, resourceVersion) => {
    expect(await open([page(['a'])]).ask(query)).toEqual([{ ...whole, names: 'a', resourceVersion }, undefined])
  })

  it('is refused if there were changes since', async () => {
    expect(await open([page(['a'])], [{}]).ask(exact)).toMatch(/^EXPIRED: .* resourceVersion 40 is not served exactly$/)
    expect(await open([page(['a'])], [{}]).ask('resourceVersion=40')).toEqual([{ ...whole, names: 'a' }, undefined])
  })
})

it('a list is of the kind and the namespace of its path', async () => {
  const services = fakeServices({ list: () => page([]) })
  await createList(services)(callOf('GET /apis/g.dev/v1/ks?labelSelector=a'))
  expect(services.asked).toEqual([['list', plainKind, { limit: 32, selector: expect.any(Function) as unknown }]])
})
