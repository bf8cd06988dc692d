import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createWidgetHarness, widgets, type Harness } from './harness.ts'

/**
 * Which objects have a `metadata.generation` that clients see: those that have one in Kubernetes. Source: where
 * `Generation = 1` stands in pkg/registry of Kubernetes 1.36 and of its apiextensions-apiserver, and custom resources.
 */
let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const maps = '/api/v1/namespaces/default/configmaps'
const rbac = '/apis/rbac.authorization.k8s.io/v1'
const admission = '/apis/admissionregistration.k8s.io/v1'
const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' }
const event = { involvedObject: { namespace: 'default', name: 'x' } }

const without = [
  { path: '/api/v1/namespaces', body: {} },
  { path: maps, body: {} },
  { path: '/api/v1/namespaces/default/secrets', body: {} },
  { path: '/api/v1/namespaces/default/serviceaccounts', body: {} },
  { path: '/api/v1/namespaces/default/resourcequotas', body: { spec: { hard: { configmaps: 9 } } } },
  { path: '/api/v1/namespaces/default/events', body: event },
  { path: '/apis/coordination.k8s.io/v1/namespaces/default/leases', body: {} },
  { path: `${rbac}/namespaces/default/roles`, body: {} },
  { path: `${rbac}/namespaces/default/rolebindings`, body: { roleRef } },
  { path: `${rbac}/clusterroles`, body: {} },
  { path: `${rbac}/clusterrolebindings`, body: { roleRef } },
]

const having = [
  { path: widgets, body: { spec: { size: 1 } } },
  { path: `${admission}/validatingwebhookconfigurations`, body: {} },
  { path: `${admission}/mutatingwebhookconfigurations`, body: {} },
]

const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'

/** The generations that a client is told of one new object, in all forms, as far as there are any. */
async function generationsOf(path: string, body: object): Promise<readonly unknown[]> {
  const one = `${path}/one`
  const created = await harness.send(`POST ${path}`, { body: { ...body, metadata: { name: 'one' } } })
  expect([created.status, created.body.message]).toEqual([201, undefined])
  const got = await harness.send(`GET ${one}`)
  const partial = await harness.send(`GET ${one}`, { headers: { accept: metadataOnly } })
  const row = await harness.send(`GET ${one}?includeObject=Object`, { headers: { accept: table } })
  const list = await harness.send(`GET ${path}?fieldSelector=metadata.name=one`)
  const type = 'application/merge-patch+json'
  const patched = await harness.send(`PATCH ${one}`, { type, body: { metadata: { labels: { a: 'b' } } } })
  const replies = [created, got, partial, patched]
  expect(replies.map(({ status }) => status)).toEqual([201, 200, 200, 200])
  const all = replies.map((reply) => reply.body)
  return [...all, list.body.items[0], row.body.rows[0].object].map(({ metadata }) => metadata.generation)
}

describe('an object has', () => {
  it.each(without)('no generation that clients see: $path', async ({ path, body }) => {
    expect(await generationsOf(path, body)).toEqual(Array.from({ length: 6 }))
  })

  it.each(having)('a generation: $path', async ({ path, body }) => {
    expect(await generationsOf(path, body)).toEqual(Array.from({ length: 6 }, () => 1))
  })

  it('a generation that moves with what it says, if it is a definition', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com'
    const type = 'application/merge-patch+json'
    const patch = async (body: JsonObject) =>
      (await harness.send(`PATCH ${path}`, { type, body })).body.metadata.generation
    expect((await harness.send(`GET ${path}`)).body.metadata.generation).toBe(1)
    expect(await patch({ metadata: { labels: { a: 'b' } } })).toBe(1)
    expect(await patch({ spec: { names: { shortNames: ['wi'] } } })).toBe(2)
  })

  it('only its own hidden: what is called so elsewhere stays', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u', generation: 1 }
    const labels = { generation: '1' }
    const annotations = { a: ',"generation":1' }
    const metadata = { name: 'odd', labels, annotations, ownerReferences: [owner] }
    const { body } = await harness.send(`POST ${maps}`, { body: { metadata, data: { generation: ',"generation":1' } } })
    expect(body).toMatchObject({ metadata: { labels, annotations }, data: { generation: ',"generation":1' } })
    expect(body.metadata.generation).toBeUndefined()
    expect(body.metadata.ownerReferences[0].name).toBe('o')
    expect((await harness.send(`GET ${maps}/odd`)).body).toEqual(body)
  })

  it('one for the engine that moves with its content, seen or not', async () => {
    await harness.send(`POST ${maps}`, { body: { metadata: { name: 'm' }, data: { a: '1' } } })
    const type = 'application/merge-patch+json'
    const { status } = await harness.send(`PATCH ${maps}/m`, { type, body: { data: { a: '2' } } })
    expect(status).toBe(200)
    const kind = await harness.services.catalog.byPlural('', 'v1', 'configmaps')
    if (kind === undefined) throw new Error('there is no kind of ConfigMaps')
    const stored = await harness.services.resources.get(kind, { namespace: 'default', name: 'm' })
    expect(stored.object.metadata.generation).toBe(2)
    expect((await harness.send(`GET ${maps}/m`)).body.metadata.generation).toBeUndefined()
  })
})
