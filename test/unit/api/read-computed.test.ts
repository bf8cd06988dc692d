import { describe, expect, it } from 'vitest'
import { createReadComputed } from '../../../shared/api/computed/read-computed.ts'
import type { ComputedObjects, ComputedPage, ComputedQuery } from '../../../shared/api/computed/computed-objects.ts'
import { computedObject } from '../../../shared/api/computed/computed-objects.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'

const clusterKind = { ...plainKind, namespaced: false }
const inN = '/apis/g.dev/v1/namespaces/n/ks'
const objectOf = (name: string, kind = plainKind) => computedObject(kind, { namespace: 'n', name }, { state: 'x' })

function open(page: ComputedPage = { items: [] }, kind = plainKind) {
  const asked: (ComputedQuery | string)[] = []
  const source: ComputedObjects = {
    kind,
    list: async (query) => {
      asked.push(query)
      return page
    },
    find: async ({ namespace, name }) => {
      asked.push(`${namespace}/${name}`)
      return name === 'a' ? objectOf('a', kind) : undefined
    },
  }
  const no = () => expect.fail('it is of another kind')
  const another = { kind: { ...kind }, list: no, find: no }
  const read = createReadComputed({ clock: createVirtualClock(), computed: [another, source] })
  const ask = (line: string) =>
    endOf(async () => {
      const { status, body } = await read(callOf(`GET ${line}`, { kind }))
      return [status, JSON.parse(body as string) as JsonObject]
    })
  return { ask, asked }
}

describe('an object that is computed', () => {
  it('is found by its name', async () => {
    const { ask, asked } = open()
    expect(await ask(`${inN}/a`)).toEqual([
      200,
      { apiVersion: 'g.dev/v1', kind: 'K', metadata: { name: 'a', namespace: 'n' }, status: { state: 'x' } },
    ])
    expect(await ask(`${inN}/b`)).toBe('NOT_FOUND: ks.g.dev "b" not found')
    expect(asked).toEqual(['n/a', 'n/b'])
  })

  it('of the cluster has no namespace', async () => {
    const { ask, asked } = open({ items: [] }, clusterKind)
    expect(await ask('/apis/g.dev/v1/ks/a')).toMatchObject([200, { metadata: { name: 'a' } }])
    expect(asked).toEqual(['/a'])
    expect(objectOf('a', clusterKind).metadata).toStrictEqual({ name: 'a' })
  })

  it('is computed by somebody', async () => {
    for (const services of [{ computed: [] }, {}]) {
      const read = createReadComputed({ clock: createVirtualClock(), ...services })
      await expect(read(callOf(`GET ${inN}/a`))).rejects.toThrow(new TypeError('nobody computes K'))
    }
  })
})

describe('a page of what is computed', () => {
  const page = { items: [objectOf('a'), objectOf('b')] }
  const token = (value: unknown) => encodeURIComponent(btoa(JSON.stringify(value)))

  it.each<[string, ComputedQuery | string]>([
    [inN, { namespace: 'n', limit: 500 }],
    ['/apis/g.dev/v1/ks', { namespace: '', limit: 500 }],
    [`${inN}?limit=5`, { namespace: 'n', limit: 5 }],
    [`${inN}?limit=501`, { namespace: 'n', limit: 500 }],
    [`${inN}?continue=${token([7, 0])}`, { namespace: 'n', limit: 500, after: [7, 0] }],
    [`${inN}?fieldSelector=metadata.name%3Da`, 'n/a'],
    ['/apis/g.dev/v1/ks?fieldSelector=metadata.name%3Da', { namespace: '', limit: 500 }],
  ])('at %s is asked for as %j', async (line, query) => {
    const { ask, asked } = open(page)
    await ask(line)
    expect(asked).toStrictEqual([query])
  })

  it('of one name of the cluster is that object', async () => {
    const { ask, asked } = open(page, clusterKind)
    const line = '/apis/g.dev/v1/ks?fieldSelector=metadata.name%3D'
    expect(await ask(`${line}a`)).toMatchObject([200, { items: [{ metadata: { name: 'a' } }] }])
    expect(await ask(`${line}z`)).toMatchObject([200, { items: [] }])
    expect(asked).toEqual(['/a', '/z'])
  })

  it('says where the next one begins, if there is one', async () => {
    const list = { kind: 'KList', apiVersion: 'g.dev/v1' }
    const [status, last] = (await open(page).ask(inN)) as [number, JsonObject]
    expect([status, last['metadata'], last]).toMatchObject([200, {}, { ...list, items: [{}, {}] }])
    expect(last['metadata']).toStrictEqual({})
    const [, body] = (await open({ ...page, end: [2, 0] }).ask(inN)) as [number, { metadata: JsonObject }]
    expect(body.metadata).toStrictEqual({ continue: btoa('[2,0]') })
  })

  it('holds what is selected', async () => {
    const { ask } = open(page)
    expect(await ask(`${inN}?labelSelector=x`)).toMatchObject([200, { items: [] }])
    expect(await ask(`${inN}?fieldSelector=metadata.name!%3Da`)).toMatchObject([
      200,
      { items: [{ metadata: { name: 'b' } }] },
    ])
  })

  it.each([token([1]), token([1, 2, 3]), token([1, -1]), token([-1, 1]), token([1.5, 0]), token({}), '%25', 'x'])(
    'is none behind %s',
    async (text) => {
      const { ask, asked } = open(page)
      expect(await ask(`${inN}?continue=${text}`)).toMatch(/^BAD_REQUEST: invalid continue token/)
      expect(asked).toEqual([])
    },
  )

  it('may begin at the beginning', async () => {
    const { ask, asked } = open(page)
    await ask(`${inN}?continue=${token([0, 0])}`)
    expect(asked).toStrictEqual([{ namespace: 'n', limit: 500, after: [0, 0] }])
  })
})
