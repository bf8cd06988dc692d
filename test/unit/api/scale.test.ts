import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHarness, type Harness } from './harness.ts'

const lamps = '/apis/example.com/v1/namespaces/default/lamps'
const merge = 'application/merge-patch+json'
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'lamps.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Lamp', plural: 'lamps' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.light.bulbs',
            statusReplicasPath: '.status.bulbs',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ],
  },
}

let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
  await harness.send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition })
  await harness.send(`POST ${lamps}`, {
    body: { metadata: { name: 'a' }, spec: { light: { bulbs: 2 }, color: 'red' } },
  })
  await harness.send(`PATCH ${lamps}/a/status`, { type: merge, body: { status: { bulbs: 1, selector: 'app=a' } } })
})
afterEach(() => harness.close())

describe('the scale of an object', () => {
  it('says the replicas where the definition says they are', async () => {
    expect((await harness.send(`GET ${lamps}/a/scale`)).body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: { name: 'a', namespace: 'default', uid: expect.any(String), resourceVersion: expect.any(String) },
      spec: { replicas: 2 },
      status: { replicas: 1, selector: 'app=a' },
    })
  })

  it('is a table for those who print it', async () => {
    const { body } = await harness.send(`GET ${lamps}/a/scale`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
    })
    expect(body.columnDefinitions.map(({ name }: { readonly name: string }) => name)).toEqual([
      'Name',
      'Desired',
      'Available',
      'Age',
    ])
    expect(body.rows[0].cells.slice(0, 3)).toEqual(['a', 2, 1])
  })

  const writes = [
    { line: `PATCH ${lamps}/a/scale`, type: merge, body: { spec: { replicas: 5 } } },
    {
      line: `PATCH ${lamps}/a/scale`,
      type: 'application/json-patch+json',
      body: [{ op: 'replace', path: '/spec/replicas', value: 5 }],
    },
    { line: `PUT ${lamps}/a/scale`, body: { metadata: { name: 'a', namespace: 'default' }, spec: { replicas: 5 } } },
  ]
  it.each(writes)('is written by $line $type, and nothing else changes', async ({ line, ...sent }) => {
    expect(await harness.send(line, sent)).toMatchObject({
      status: 200,
      body: { kind: 'Scale', spec: { replicas: 5 } },
    })
    expect((await harness.send(`GET ${lamps}/a`)).body).toMatchObject({
      metadata: { generation: 2 },
      spec: { light: { bulbs: 5 }, color: 'red' },
      status: { bulbs: 1 },
    })
  })

  it('is owned by who writes it, as by its own path', async () => {
    const path = `${lamps}/a/scale?fieldManager=scaler`
    await harness.send(`PATCH ${path}`, { type: merge, body: { spec: { replicas: 5 } } })
    const { managedFields } = (await harness.send(`GET ${lamps}/a`)).body.metadata
    expect(managedFields).toContainEqual({
      manager: 'scaler',
      operation: 'Update',
      subresource: 'scale',
      apiVersion: 'example.com/v1',
      time: expect.any(String),
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:light': { 'f:bulbs': {} } } },
    })
  })

  it('is not written by a dry run', async () => {
    await harness.send(`PATCH ${lamps}/a/scale?dryRun=All`, { type: merge, body: { spec: { replicas: 5 } } })
    expect((await harness.send(`GET ${lamps}/a`)).body.spec.light.bulbs).toBe(2)
  })

  const refusals = [
    { why: 'fewer than none', sent: { body: { spec: { replicas: -1 } } }, status: 422 },
    { why: 'half of one', sent: { body: { spec: { replicas: 0.5 } } }, status: 422 },
    { why: 'a version that has passed', sent: { body: { metadata: { resourceVersion: '1' } } }, status: 409 },
    { why: 'no object', sent: { body: '[]' }, status: 400 },
    { why: 'a strategic patch', sent: { type: 'application/strategic-merge-patch+json', body: {} }, status: 415 },
  ]
  it.each(refusals)('refuses $why', async ({ sent, status }) => {
    expect((await harness.send(`PATCH ${lamps}/a/scale`, { type: merge, ...sent })).status).toBe(status)
  })

  const json = 'application/json-patch+json'
  const odd = { replicas: 5, odd: 1 }
  const strange = [
    { line: 'PUT', body: { metadata: { name: 'a' }, spec: odd }, status: 400, told: 'unknown field "spec.odd"' },
    { line: 'PATCH', type: merge, body: { spec: odd }, status: 422, told: 'unknown field "spec.odd"' },
    {
      line: 'PATCH',
      type: json,
      body: [{ op: 'add', path: '/spec', value: odd }],
      status: 422,
      told: 'unknown field "spec.odd"',
    },
    {
      line: 'PATCH',
      type: json,
      body: [{ op: 'replace', path: '/spec/replicas', value: 5, odd: 1 }],
      status: 422,
      told: 'json patch unknown field "[0].odd"',
    },
    { line: 'PUT', body: '{"spec":{"replicas":5,"replicas":5}}', status: 400, told: 'duplicate field "spec.replicas"' },
    {
      line: 'PATCH',
      type: merge,
      body: '{"spec":{"replicas":5,"replicas":5}}',
      status: 422,
      told: 'duplicate field "spec.replicas"',
    },
  ]
  it.each(strange)(
    'with $told by a $line $type is warned of it, or refused',
    async ({ line, status, told, ...sent }) => {
      const ask = (mode: string) => harness.send(`${line} ${lamps}/a/scale?fieldValidation=${mode}`, sent)
      const strict = await ask('Strict')
      expect([strict.status, strict.body.message]).toEqual([status, expect.stringContaining(told)])
      expect((await harness.send(`GET ${lamps}/a/scale`)).body.spec).toEqual({ replicas: 2 })
      expect((await ask('Warn')).headers['warning']).toBe(`299 - ${JSON.stringify(told)}`)
      expect((await ask('Ignore')).headers['warning']).toBeUndefined()
      expect((await harness.send(`GET ${lamps}/a/scale`)).body.spec).toEqual({ replicas: 5 })
    },
  )

  it('may be sent back as it is shown', async () => {
    const { body } = await harness.send(`GET ${lamps}/a/scale`)
    const put = await harness.send(`PUT ${lamps}/a/scale?fieldValidation=Strict`, { body })
    expect([put.status, put.headers['warning']]).toEqual([200, undefined])
  })

  it('is there for its own kind only', async () => {
    expect(await harness.send('GET /api/v1/namespaces/default/configmaps/a/scale')).toMatchObject({ status: 404 })
    expect(await harness.send(`DELETE ${lamps}/a/scale`)).toMatchObject({ status: 405 })
    expect(await harness.send(`GET ${lamps}/none/scale`)).toMatchObject({ status: 404 })
  })

  it('is discovered', async () => {
    expect((await harness.send('GET /apis/example.com/v1')).body.resources).toContainEqual(
      expect.objectContaining({ name: 'lamps/scale', group: 'autoscaling', version: 'v1', kind: 'Scale' }),
    )
  })
})

describe('a Scale that is applied', () => {
  const apply = 'application/apply-patch+yaml'
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' } }
  const send = (manager: string, spec: { readonly replicas: number }, options = '') =>
    harness.send(`PATCH ${lamps}/a/scale?fieldManager=${manager}${options}`, { type: apply, body: { ...scale, spec } })

  it('owns the number of replicas in the object, and has conflicts about it', async () => {
    expect(await send('scaler', { replicas: 5 })).toMatchObject({ status: 409, body: { reason: 'Conflict' } })
    expect(await send('scaler', { replicas: 5 }, '&force=true')).toMatchObject({
      status: 200,
      body: { kind: 'Scale', spec: { replicas: 5 } },
    })
    const { body } = await harness.send(`GET ${lamps}/a`)
    expect(body.spec).toEqual({ light: { bulbs: 5 }, color: 'red' })
    expect(body.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'scaler',
        operation: 'Apply',
        subresource: 'scale',
        apiVersion: 'example.com/v1',
        fieldsV1: { 'f:spec': { '.': {}, 'f:light': { '.': {}, 'f:bulbs': {} } } },
      }),
    )
    expect(await send('other', { replicas: 6 })).toMatchObject({ status: 409 })
    expect(await send('scaler', { replicas: 7 }, '&dryRun=All')).toMatchObject({ status: 200 })
    expect((await send('scaler', { replicas: 5 })).body.spec).toEqual({ replicas: 5 })
  })

  it('is refused where it says what it may not, or there is nothing to scale', async () => {
    expect((await send('scaler', { replicas: -1 }, '&force=true')).status).toBe(422)
    const body = { ...scale, kind: 'Lamp', spec: { replicas: 1 } }
    expect((await harness.send(`PATCH ${lamps}/a/scale?fieldManager=m`, { type: apply, body })).status).toBe(400)
    expect((await harness.send(`PATCH ${lamps}/a/scale`, { type: apply, body: scale })).status).toBe(422)
    const none = { ...scale, metadata: { name: 'none' }, spec: { replicas: 1 } }
    expect((await harness.send(`PATCH ${lamps}/none/scale?fieldManager=m`, { type: apply, body: none })).status).toBe(
      404,
    )
    expect((await harness.send(`GET ${lamps}/none`)).status).toBe(404)
  })
})

describe('a scale that a policy changes', () => {
  const policies = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies'
  const matchConstraints = {
    resourceRules: [
      { apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['lamps/scale'] },
    ],
  }
  const expression = `[JSONPatch{op: 'replace', path: '/spec/replicas', value: 3}]`
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }]
  const put = (replicas: number) =>
    harness.send(`PUT ${lamps}/a/scale`, { body: { metadata: { name: 'a' }, spec: { replicas } } })
  const noted = async () => {
    const { generation, resourceVersion } = (await harness.send(`GET ${lamps}/a`)).body.metadata
    return [generation, resourceVersion]
  }

  beforeEach(async () => {
    const spec = { reinvocationPolicy: 'Never', matchConstraints, mutations }
    await harness.send(`POST ${policies}`, { body: { metadata: { name: 'm' }, spec } })
    const bindings = policies.replace('policies', 'policybindings')
    await harness.send(`POST ${bindings}`, { body: { metadata: { name: 'b' }, spec: { policyName: 'm' } } })
  })

  it('is stored though the writer asks for what there is', async () => {
    expect((await put(2)).body.spec).toEqual({ replicas: 3 })
    expect((await harness.send(`GET ${lamps}/a`)).body).toMatchObject({
      metadata: { generation: 2 },
      spec: { light: { bulbs: 3 } },
    })
  })

  it('is no change where it is put back to what there is', async () => {
    await harness.clock.advance(1_000)
    await put(3)
    const before = await noted()
    for (const _ of ['once', 'again']) {
      await harness.clock.advance(1_000)
      expect((await put(2)).body.spec).toEqual({ replicas: 3 })
      expect(await noted()).toEqual(before)
    }
  })
})
