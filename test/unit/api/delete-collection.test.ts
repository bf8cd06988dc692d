import { describe, expect, it } from 'vitest'
import { createDeleteCollection } from '../../../shared/api/verbs/delete-collection.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ObjectList } from '../../../shared/resources/resources.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'
import { fakeServices, storedOf, throwing } from './fake-services.ts'

const path = 'DELETE /apis/g.dev/v1/namespaces/n/ks'
const page = (names: readonly string[], more: Partial<ObjectList> = {}): ObjectList => {
  const items = names.map((name) => storedOf({ name, namespace: 'n', uid: `u${name}` }))
  return { items, resourceVersion: '50', ...more }
}

function open(pages: readonly ObjectList[], ends: Readonly<Record<string, () => unknown>> = {}) {
  const left = [...pages]
  const services = fakeServices({
    list: () => left.shift(),
    delete: (_kind, { name }) => ends[name]?.() ?? { stored: storedOf({ name }), gone: true },
  })
  const remove = createDeleteCollection(services)
  const ask = (query: string, body?: JsonObject) =>
    endOf(async () => {
      const response = await remove(callOf(`${path}?${query}`, body === undefined ? {} : { body }))
      const { metadata, items } = JSON.parse(response.body as string) as {
        metadata: JsonObject
        items: { metadata: JsonObject }[]
      }
      const names = items.map((item) => item.metadata['name']).join('')
      return { status: response.status, ...metadata, names, warning: response.headers['warning'] }
    })
  const deleted = () => services.asked.filter(([verb]) => verb === 'delete')
  const listed = () => services.asked.filter(([verb]) => verb === 'list').map(([, , options]) => options)
  return { remove, ask, deleted, listed }
}

const done = { status: 200, resourceVersion: '50', warning: undefined }

describe('a delete of many', () => {
  it('leaves what cannot be read to deletions of its own', async () => {
    const { ask, deleted } = open([page(['a'])])
    const end = await ask('ignoreStoreReadErrorWithClusterBreakingPotential=true')
    expect(String(end)).toContain(
      'ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: is not allowed with DELETECOLLECTION',
    )
    expect(deleted()).toEqual([])
  })

  it('deletes all that are selected, page by page', async () => {
    const { ask, deleted, listed } = open([page(['a', 'b'], { continue: 'c' }), page(['d'], { resourceVersion: '60' })])
    expect(await ask('')).toEqual({ ...done, names: 'abd' })
    expect(listed()).toEqual([
      { namespace: 'n', limit: 32 },
      { namespace: 'n', limit: 32, continue: 'c' },
    ])
    expect(deleted()).toHaveLength(3)
    expect(deleted()[0]).toEqual([
      'delete',
      plainKind,
      { namespace: 'n', name: 'a' },
      {
        manager: 'kubectl',
        dryRun: false,
        ignoreDamage: false,
        said: {},
        preconditions: { uid: 'ua' },
        user: { name: 'ann', groups: [] },
      },
    ])
  })

  it.each([
    [32, 'string'],
    [33, 'object'],
  ])('of %d objects has a body of the type %s: what is long is sent piece by piece', async (count, type) => {
    const { remove } = open([page(Array.from({ length: count }, (_, i) => `k${i}`))])
    const { status, body } = await remove(callOf(path))
    expect([status, typeof body]).toEqual([200, type])
  })

  it.each([
    ['limit=2', { namespace: 'n', limit: 2 }],
    ['continue=c', { namespace: 'n', continue: 'c' }],
  ])('with %s deletes that page only', async (query, asked) => {
    const { ask, listed } = open([page(['a', 'b'], { continue: 'd' }), page(['c'])])
    expect(await ask(query)).toEqual({ ...done, continue: 'd', names: 'ab' })
    expect(listed()).toEqual([asked])
  })

  it('passes over what is gone, and what was made anew', async () => {
    const gone = throwing('NOT_FOUND', 'gone')
    const another = throwing('VERSION_CONFLICT', 'another')
    expect(await open([page(['a', 'b', 'c'])], { a: gone, b: another }).ask('')).toEqual({ ...done, names: 'c' })
    const held = { a: throwing('UNAVAILABLE', 'down') }
    expect(await open([page(['a'])], held).ask('')).toBe('UNAVAILABLE: down')
  })

  it('holds to the preconditions of its client', async () => {
    const another = throwing('VERSION_CONFLICT', 'another')
    const body = { preconditions: { resourceVersion: '7' } }
    const { ask, deleted } = open([page(['a'])], { a: another })
    expect(await ask('', body)).toBe('VERSION_CONFLICT: another')
    expect(deleted()[0]?.[3]).toMatchObject({ preconditions: { uid: 'ua', resourceVersion: '7' } })
    const gone = open([page(['a'])], { a: throwing('NOT_FOUND', 'gone') })
    expect(await gone.ask('', body)).toEqual({ ...done, names: '' })
  })

  it('tells of what cannot be read', async () => {
    const key = (name: string) => ({ group: 'g.dev', kind: 'K', namespace: 'n', name })
    const pages = [page(['a'], { continue: 'c', damaged: [key('x1')] }), page([], { damaged: [key('x2')] })]
    expect(await open(pages).ask('')).toMatchObject({ names: 'a', warning: expect.stringMatching(/x1.*x2/) as string })
  })

  it('hands on what admission has to say', async () => {
    const { remove, deleted } = open([page(['a'])])
    const annotate = () => {}
    await remove({ ...callOf(path), annotate })
    expect(deleted()[0]?.[3]).toMatchObject({ annotate })
  })

  it('of objects of the cluster names no namespace', async () => {
    const services = fakeServices({
      list: () => ({ items: [storedOf({ name: 'a' })], resourceVersion: '50' }),
      delete: () => ({ stored: storedOf({ name: 'a' }), gone: true }),
    })
    const kind = { ...plainKind, namespaced: false }
    await createDeleteCollection(services)(callOf('DELETE /apis/g.dev/v1/ks', { kind }))
    expect(services.asked[1]?.[2]).toEqual({ namespace: '', name: 'a' })
  })

  it('says only that all are deleted where a list of them would be very long', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `n${i}`)
    const { remove, deleted } = open(
      [page(names)],
      Object.fromEntries(
        names.map((name) => {
          const { object, engine } = storedOf({ name })
          return [
            name,
            () => ({ stored: { object: { ...object, data: { a: 'x'.repeat(300_000) } }, engine }, gone: true }),
          ]
        }),
      ),
    )
    const response = await remove(callOf(path))
    expect(JSON.parse(response.body as string)).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      details: { group: plainKind.group, kind: plainKind.plural },
    })
    expect(deleted()).toHaveLength(40)
  })

  /** The answer's kind, for objects of which the first one's text has so many characters. */
  async function answerTo(names: readonly string[], characters: number) {
    const ask = async (padding: number) => {
      const endOfOne = (name: string) => () => {
        const { object, engine } = storedOf({ name }, { data: name === 'a' ? 'x'.repeat(padding) : '' })
        return { stored: { object, engine }, gone: true }
      }
      const { remove } = open([page(names)], Object.fromEntries(names.map((name) => [name, endOfOne(name)])))
      const { body } = await remove(callOf(path))
      return JSON.parse(body as string) as { kind: string; items?: readonly object[] }
    }
    const bare = JSON.stringify((await ask(0)).items?.[0]).length
    const { kind, items = [] } = await ask(characters - bare)
    return [kind, items.length]
  }

  it.each<[string, readonly string[], number, readonly [string, number]]>([
    ['a list where its objects have eight million characters', ['a'], 8 << 20, ['KList', 1]],
    ['a word where they have one more', ['a'], (8 << 20) + 1, ['Status', 0]],
    ['a word where there is one more object', ['a', 'b'], 8 << 20, ['Status', 0]],
  ])('is answered by %s', async (...[, names, characters, answer]) => {
    expect(await answerTo(names, characters)).toEqual(answer)
  })
})
