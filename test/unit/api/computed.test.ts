import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiServices } from '../../../shared/api/call.ts'
import { apiServiceObjects } from '../../../shared/api/computed/api-services.ts'
import { budgetKind, queuedKeyKind, timerKind } from '../../../shared/api/computed/computed-kinds.ts'
import { computedObject, type ComputedObjects } from '../../../shared/api/computed/computed-objects.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { pageOf } from '../../../shared/runtime/computed/page-of.ts'
import { plainKind } from './called.ts'
import { createHarness, type Harness } from './harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await createHarness({ computed: [source(timerKind), source(budgetKind)] })
})
afterAll(() => harness.close())

/** Three objects: of kinds with namespaces, two in `default`. */
function source(kind: ServedKind): ComputedObjects {
  const places = ['default', 'default', 'other'].map((namespace, i) => ({ namespace, name: `a.${i}` }))
  const all = places.map((place) =>
    computedObject(kind, place, { controller: place.name === 'a.0' ? 'b' : 'a', waiting: 'Backoff', max: 3 }),
  )
  const isIn = (namespace: string) => (one: (typeof all)[number]) =>
    namespace === '' || one.metadata.namespace === namespace
  return {
    kind,
    list: async (query) => pageOf(all.filter(isIn(query.namespace)), query),
    find: async ({ namespace, name }) => all.filter(isIn(namespace)).find(({ metadata }) => metadata.name === name),
  }
}

const timers = '/apis/setpoint.dev/v1/timers'
const inDefault = '/apis/setpoint.dev/v1/namespaces/default/timers'
const namesOf = ({ body }: Awaited<ReturnType<Harness['send']>>): readonly string[] =>
  body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)

describe('a computed kind', () => {
  it('is listed with no version that a watch could begin at, and read by name', async () => {
    const list = await harness.send(`GET ${timers}`)
    expect(list).toMatchObject({
      status: 200,
      body: { kind: 'TimerList', apiVersion: 'setpoint.dev/v1', metadata: {} },
    })
    expect(namesOf(list)).toEqual(['a.0', 'a.1', 'a.2'])
    expect((await harness.send(`GET ${inDefault}/a.1`)).body).toEqual({
      apiVersion: 'setpoint.dev/v1',
      kind: 'Timer',
      metadata: { name: 'a.1', namespace: 'default' },
      status: { controller: 'a', waiting: 'Backoff', max: 3 },
    })
    expect(await harness.send(`GET ${inDefault}/a.2`)).toMatchObject({
      status: 404,
      body: { message: 'timers.setpoint.dev "a.2" not found' },
    })
  })

  it('is counted by what is asked: one, or many', async () => {
    await harness.send(`GET ${timers}`)
    await harness.send(`GET ${inDefault}/a.1`)
    const { body } = await harness.send('GET /metrics')
    for (const verb of ['LIST', 'GET'])
      expect(body).toContain(`apiserver_request_total{verb="${verb}",group="setpoint.dev",resource="timers"`)
  })

  it('is listed by namespace, by name and by controller', async () => {
    expect(namesOf(await harness.send(`GET ${inDefault}`))).toEqual(['a.0', 'a.1'])
    expect(namesOf(await harness.send(`GET ${inDefault}?fieldSelector=metadata.name%3Da.1`))).toEqual(['a.1'])
    expect(namesOf(await harness.send(`GET ${inDefault}?fieldSelector=metadata.name%3Da.7`))).toEqual([])
    expect(namesOf(await harness.send(`GET ${timers}?fieldSelector=status.controller%3Da`))).toEqual(['a.1', 'a.2'])
    expect((await harness.send(`GET ${timers}?fieldSelector=status.waiting%3Da`)).status).toBe(400)
  })

  it('is listed in pages, each of which says where it ended', async () => {
    const first = await harness.send(`GET ${timers}?limit=2`)
    expect(namesOf(first)).toEqual(['a.0', 'a.1'])
    const { continue: token } = first.body.metadata
    const second = await harness.send(`GET ${timers}?limit=2&continue=${token}`)
    expect([namesOf(second), second.body.metadata]).toEqual([['a.2'], {}])
  })

  it.each(['x', btoa('[1]'), btoa('[-1,2]'), btoa('["1","2"]'), btoa('[1.5,0]'), btoa('{}')])(
    'refuses %s, which is no token of its own',
    async (token) => {
      const { status, body } = await harness.send(`GET ${timers}?continue=${encodeURIComponent(token)}`)
      expect([status, body.message]).toEqual([400, expect.stringContaining('invalid continue token')])
    },
  )

  it('is a table', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    const { body } = await harness.send(`GET /apis/setpoint.dev/v1/budgets`, { accept })
    expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      'Name',
      'Bounds',
      'Allows',
      'Left',
    ])
    expect(body.rows[0].cells).toEqual(['a.0', null, '3 at a time', ''])
  })

  it('cannot be watched or written', async () => {
    expect((await harness.send(`GET ${timers}?watch=true`)).status).toBe(405)
    for (const line of [`POST ${inDefault}`, `DELETE ${inDefault}`, `PUT ${inDefault}/a.1`, `DELETE ${inDefault}/a.1`])
      expect((await harness.send(line, { body: { metadata: { name: 'a.1' } } })).status).toBe(405)
    expect((await harness.send(`GET ${inDefault}/a.1/explain`)).status).toBe(404)
  })

  it('is in discovery and OpenAPI, with what it can do, if it is served', async () => {
    const { body } = await harness.send('GET /apis/setpoint.dev/v1')
    expect(body.resources).toMatchObject([
      { name: 'timers', kind: 'Timer', namespaced: true, verbs: ['get', 'list'] },
      { name: 'budgets', kind: 'Budget', namespaced: false, verbs: ['get', 'list'] },
    ])
    const { paths, components } = (await harness.send('GET /openapi/v3/apis/setpoint.dev/v1')).body
    expect(Object.keys(paths['/apis/setpoint.dev/v1/namespaces/{namespace}/timers'])).toEqual(['parameters', 'get'])
    expect(Object.keys(paths['/apis/setpoint.dev/v1/budgets/{name}'])).toEqual(['parameters', 'get'])
    expect(components.schemas['dev.setpoint.v1.Timer'].properties.status.properties.dueTime.description).toMatch(/runs/)
    expect((await harness.send(`GET /apis/setpoint.dev/v1/${queuedKeyKind.plural}`)).status).toBe(404)
  })

  it('is read by who may read it', async () => {
    expect((await harness.send(`GET ${inDefault}`, { token: 'alice' })).status).toBe(403)
    await harness.send('POST /apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', {
      body: {
        metadata: { name: 'sees-timers' },
        rules: [{ apiGroups: ['setpoint.dev'], resources: ['timers'], verbs: ['get', 'list'] }],
      },
    })
    await harness.send('POST /apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      body: {
        metadata: { name: 'sees-timers' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'sees-timers' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
      },
    })
    expect(namesOf(await harness.send(`GET ${inDefault}`, { token: 'alice' }))).toEqual(['a.0', 'a.1'])
    expect((await harness.send(`GET ${timers}`, { token: 'alice' })).status).toBe(403)
  })

  it('gives way to a definition of its name', async () => {
    const { status } = await harness.send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      body: {
        metadata: { name: 'timers.setpoint.dev' },
        spec: {
          group: 'setpoint.dev',
          scope: 'Namespaced',
          names: { kind: 'Timer', plural: 'timers' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      },
    })
    expect(status).toBe(201)
    expect(namesOf(await harness.send(`GET ${timers}`))).toEqual([])
    expect((await harness.send(`POST ${inDefault}`, { body: { metadata: { name: 'mine' } } })).status).toBe(201)
  })
})

describe('the group versions that are served', () => {
  const kinds = Array.from({ length: 1_100 }, (_, i): ServedKind => ({ ...plainKind, group: `g${i}.dev` }))
  const catalog = { all: async () => kinds } as unknown as ApiServices['catalog']

  it('are numbered from the most preferred on, and never below one', async () => {
    const { items } = await apiServiceObjects({ catalog }, []).list({ namespace: '', limit: 2_000 })
    expect(items.length).toBeGreaterThan(1_100)
    expect(items.map(({ spec }) => [spec?.['groupPriorityMinimum'], spec?.['versionPriority']])).toEqual(
      items.map((_, place) => [18_000 - place, Math.max(1, 1_000 - place)]),
    )
  })

  it('are told from the first on, and say where a page ended', async () => {
    const { list } = apiServiceObjects({ catalog }, [])
    const { items: all } = await list({ namespace: '', limit: 2_000 })
    expect(await list({ namespace: '', limit: 2 })).toEqual({ items: all.slice(0, 2), end: [2, 0] })
    expect(await list({ namespace: '', limit: 2, after: [2, 0] })).toEqual({ items: all.slice(2, 4), end: [4, 0] })
  })
})
