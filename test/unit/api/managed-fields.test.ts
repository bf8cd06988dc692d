import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import { createHarness, type Harness } from './harness.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const merge = 'application/merge-patch+json'
const applying = 'application/apply-patch+yaml'

let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
  await harness.send(`POST ${maps}?fieldManager=alice`, { body: { metadata: { name: 'm' }, data: { a: '1', b: '1' } } })
})
afterEach(() => harness.close())

/** The names of the data that each manager owns. */
async function owners(): Promise<Record<string, readonly string[]>> {
  const { body } = await harness.send(`GET ${maps}/m`)
  const entries = (body.metadata.managedFields ?? []) as { manager: string; fieldsV1: { 'f:data'?: object } }[]
  return Object.fromEntries(entries.map(({ manager, fieldsV1 }) => [manager, Object.keys(fieldsV1['f:data'] ?? {})]))
}

const patch = (manager: string, body: object, type = merge) =>
  harness.send(`PATCH ${maps}/m?fieldManager=${manager}`, { type, body: body as never })

describe('managedFields', () => {
  it('are there from the creation on, in reads, lists, tables and watches', async () => {
    const { body } = await harness.send(`GET ${maps}/m`)
    expect(body.metadata.managedFields).toEqual([
      {
        manager: 'alice',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } },
      },
    ])
    const list = await harness.send(`GET ${maps}`)
    expect(list.body.items[0].metadata).toEqual(body.metadata)
    for (const accept of [
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    ]) {
      const { body: shown } = await harness.send(`GET ${maps}/m`, { accept })
      expect((shown.rows?.[0].object ?? shown).metadata).toEqual(body.metadata)
    }
    const watch = await harness.watch(`${maps}?watch=1`)
    expect((await watch.take(1))[0]?.object.metadata).toEqual(body.metadata)
    watch.leave()
  })

  it.each([null, [], [{}], [{ manager: 'x' }], 'those of another object'])(
    'are those of the creator, though the body has %j',
    async (sent) => {
      const { body: other } = await harness.send(`GET ${maps}/m`)
      const managedFields = typeof sent === 'string' ? other.metadata.managedFields : sent
      const metadata = { name: 'copy', managedFields }
      await harness.send(`POST ${maps}?fieldManager=bob`, { body: { metadata, data: { a: '1' } } as never })
      const { body } = await harness.send(`GET ${maps}/copy`)
      expect(body.metadata.managedFields).toMatchObject([{ manager: 'bob', fieldsV1: { 'f:data': { 'f:a': {} } } }])
    },
  )

  it('are the same in the answer to a write', async () => {
    const { body } = await patch('alice', { data: { a: '2' } })
    expect(body.metadata.managedFields).toMatchObject([{ manager: 'alice', operation: 'Update' }])
    expect((await harness.send(`GET ${maps}/m`)).body).toEqual(body)
  })

  it('are where they belong, though an owner reference has fields of their names', async () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'm', uid: 'u' }]
    const written = ownerReferences.map((owner) => ({ ...owner, fieldsType: 'FieldsV1' }))
    const metadata = { name: 'owned', labels: { fieldsType: 'FieldsV1' }, ownerReferences: written }
    await harness.send(`POST ${maps}?fieldManager=alice`, { body: { metadata, data: { a: '1' } } as never })
    const shown = (await harness.send(`GET ${maps}/owned`)).body.metadata
    expect(shown.ownerReferences).toEqual(ownerReferences)
    expect(shown.managedFields).toMatchObject([{ manager: 'alice', fieldsV1: { 'f:data': { 'f:a': {} } } }])
    await harness.send(`PATCH ${maps}/owned?fieldManager=alice`, { type: merge, body: { data: { a: '2' } } as never })
    expect((await harness.send(`GET ${maps}/owned`)).body.metadata.ownerReferences).toEqual(ownerReferences)
  })

  it('stay with the one writer, and move with a second one', async () => {
    await patch('alice', { data: { c: '1' } })
    expect(await owners()).toEqual({ alice: ['.', 'f:a', 'f:b', 'f:c'] })
    await patch('bob', { data: { b: '2', d: '1' } })
    expect(await owners()).toEqual({ alice: ['.', 'f:a', 'f:c'], bob: ['f:b', 'f:d'] })
  })

  it('that are sent back as they were read change nothing', async () => {
    const { body } = await harness.send(`GET ${maps}/m`)
    const again = await harness.send(`PUT ${maps}/m?fieldManager=bob`, { body })
    expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion)
    await harness.send(`PUT ${maps}/m?fieldManager=bob`, { body: { ...body, data: { a: '1', b: '2' } } })
    expect(await owners()).toEqual({ alice: ['.', 'f:a'], bob: ['f:b'] })
  })

  it('make an apply conflict with the writer by name, over what it wrote and nothing else', async () => {
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { b: '9', z: '1' } }
    const refused = await patch('carol', config, applying)
    expect([refused.status, refused.body.message]).toEqual([
      409,
      expect.stringContaining('conflict with "alice" using v1: .data.b'),
    ])
    const forced = await patch('carol&force=true', config, applying)
    expect(forced.status).toBe(200)
    expect(await owners()).toEqual({ alice: ['.', 'f:a'], carol: ['f:b', 'f:z'] })
  })

  it('end where a writer says so', async () => {
    await patch('bob', [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }], 'application/json-patch+json')
    expect(await owners()).toEqual({})
  })

  const json = 'application/json-patch+json'
  it.each<[string, (shown: JsonObject) => Json]>([
    ['/metadata/managedFields', ({ metadata }) => (metadata as JsonObject)['managedFields'] ?? null],
    ['/metadata/managedFields/0/fieldsV1', () => ({ 'f:data': { '.': {}, 'f:a': {}, 'f:b': {} } })],
    ['/metadata', ({ metadata }) => metadata ?? null],
    ['', (shown) => shown],
  ])('are tested at %j by a JSON patch as they are shown', async (path, valueOf) => {
    const { body } = await harness.send(`GET ${maps}/m`)
    const { status } = await patch('alice', [{ op: 'test', path, value: valueOf(body as JsonObject) }], json)
    expect(status).toBe(200)
    expect((await harness.send(`GET ${maps}/m`)).body).toEqual(body)
  })

  it('are changed by a JSON patch as they are shown', async () => {
    const at = '/metadata/managedFields/0'
    await patch('bob', [{ op: 'remove', path: `${at}/fieldsV1/f:data/f:b` }], json)
    expect(await owners()).toEqual({ alice: ['.', 'f:a'] })
    await patch('bob', [{ op: 'copy', from: at, path: '/metadata/managedFields/-' }], json)
    expect(await owners()).toEqual({ alice: ['.', 'f:a'] })
  })

  it('name whoever holds an object by finalizers from its creation on', async () => {
    await harness.send(`POST ${maps}?fieldManager=alice`, {
      body: { metadata: { name: 'held', finalizers: ['x.dev/y'] } },
    })
    const { body } = await harness.send(`GET ${maps}/held`)
    expect(body.metadata.managedFields).toMatchObject([
      { manager: 'alice', fieldsV1: { 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"x.dev/y"': {} } } } },
    ])
  })
})

it('an apply that leaves nothing owned leaves no owner, who would take away what others write later', async () => {
  const config = (data?: object) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'n' },
    ...(data && { data }),
  })
  const apply = (data?: object) =>
    harness.send(`PATCH ${maps}/n?fieldManager=carol`, { type: applying, body: config(data) as never })
  expect((await apply({ a: '1' })).status).toBe(201)
  const { body } = await apply()
  expect([body.data ?? {}, body.metadata.managedFields]).toEqual([{}, undefined])
  await harness.send(`PATCH ${maps}/n?fieldManager=bob`, { type: merge, body: { data: { a: '2' } } })
  expect((await apply()).body.data).toEqual({ a: '2' })
})

describe('what is one piece in policies and webhook configurations', () => {
  const group = 'admissionregistration.k8s.io/v1'
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
  const labels = (name: string) => ({ matchLabels: { [name]: 'x' } })
  const webhook = (parts: object) => ({
    webhooks: [
      {
        name: 'a.b.c',
        clientConfig: { url: 'https://a.b/c' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...parts,
      },
    ],
  })
  const policy = (parts: object) => ({
    spec: { validations: [{ expression: 'true' }], matchConstraints: { resourceRules: rules }, ...parts },
  })
  const binding = (parts: object) => ({ spec: { policyName: 'p', validationActions: ['Deny'], ...parts } })

  it.each<[string, (parts: object) => object, object, object]>([
    [
      'ValidatingWebhookConfiguration',
      webhook,
      { namespaceSelector: labels('a'), objectSelector: labels('a') },
      { namespaceSelector: labels('b'), objectSelector: labels('b') },
    ],
    [
      'ValidatingAdmissionPolicy',
      policy,
      { matchConstraints: { resourceRules: rules, excludeResourceRules: rules, objectSelector: labels('a') } },
      { matchConstraints: { resourceRules: rules } },
    ],
    [
      'ValidatingAdmissionPolicyBinding',
      binding,
      {
        paramRef: { name: 'a', namespace: 'n', parameterNotFoundAction: 'Deny' },
        matchResources: { namespaceSelector: labels('a') },
      },
      {
        paramRef: { selector: labels('b'), parameterNotFoundAction: 'Deny' },
        matchResources: { objectSelector: labels('b') },
      },
    ],
  ])('of a %s is set whole by who takes it over, and conflicts otherwise', async (kind, content, before, after) => {
    const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies')
    const apply = (manager: string, parts: object) =>
      harness.send(`PATCH /apis/${group}/${plural}/p?fieldManager=${manager}`, {
        type: applying,
        body: { apiVersion: group, kind, metadata: { name: 'p' }, ...content(parts) } as never,
      })
    expect((await apply('one', before)).status).toBe(201)
    expect((await apply('other', after)).status).toBe(409)
    const { body } = await apply('other&force=true', after)
    const { body: alone } = await harness.send(`POST /apis/${group}/${plural}?dryRun=All`, {
      body: { metadata: { name: 'q' }, ...content(after) } as never,
    })
    expect([body.spec, body.webhooks]).toEqual([alone.spec, alone.webhooks])
  })
})
