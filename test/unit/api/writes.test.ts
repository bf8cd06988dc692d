import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../../../shared/api/api.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { Resources } from '../../../shared/resources/resources.ts'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'
import { request, type Sent } from './sent-request.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

const merge = 'application/merge-patch+json'
const jsonPatch = 'application/json-patch+json'
const strategic = 'application/strategic-merge-patch+json'
const apply = 'application/apply-patch+yaml'

describe('POST', () => {
  it('creates, and answers 201 with the whole object', async () => {
    const { status, body } = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: {
        name: 'w1',
        namespace: 'default',
        generation: 1,
        uid: expect.any(String),
        resourceVersion: expect.stringMatching(/^\d+$/),
      },
      spec: { color: 'red' },
    })
  })

  const bodies: readonly (Sent & { readonly because: string })[] = [
    { body: JSON.stringify(widget('w1')), because: 'JSON needs no Content-Type' },
    { body: widget('w1'), type: 'application/json; charset=utf-8', because: 'a Content-Type may have parameters' },
    {
      body: { metadata: { name: 'w1' }, spec: { color: 'red' } },
      because: 'apiVersion and kind are known from the path',
    },
    { body: widget('w1', undefined, { creationTimestamp: null }), because: 'Go clients send a null timestamp' },
    { body: widget('w1', undefined, { namespace: 'default' }), because: 'the namespace may be said twice' },
    { body: 'metadata:\n  name: w1\nspec:\n  color: red\n', type: 'application/yaml', because: 'YAML is taken too' },
  ]
  it.each(bodies)('takes a body: $because', async (sent) => {
    expect(await harness.send(`POST ${widgets}`, sent)).toMatchObject({
      status: 201,
      body: { kind: 'Widget', metadata: { name: 'w1' }, spec: { color: 'red' } },
    })
  })

  it.each(['example.com/v1beta1', 'example.com/v2'])(
    'refuses a body of another version than the path: %s',
    async (other) => {
      await harness.send(`POST ${widgets}`, { body: widget('there') })
      const body = { ...widget('w1'), apiVersion: other }
      const why = `the API version in the data (${other}) does not match the expected API version (example.com/v1)`
      const path = `${widgets}/there`
      for (const sent of [
        await harness.send(`POST ${widgets}`, { body }),
        await harness.send(`PUT ${path}`, { body: { ...body, metadata: { name: 'there' } } }),
        await harness.send(`PATCH ${path}`, { body: { apiVersion: other }, type: merge }),
        await harness.send(`PATCH ${path}?fieldManager=m`, {
          body: { ...body, metadata: { name: 'there' } },
          type: apply,
        }),
      ])
        expect([sent.status, sent.body.message]).toEqual([400, why])
      const beta = path.replace('/v1/', '/v1beta1/')
      expect((await harness.send(`PATCH ${beta}`, { body: { spec: { color: 'blue' } }, type: merge })).status).toBe(200)
    },
  )

  it.each([
    ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', undefined],
    ['PATCH', '/apis/rbac.authorization.k8s.io/v1/clusterroles/r?fieldManager=m', apply],
  ])('by %s makes an object of the cluster, though its body names a namespace', async (verb, path, type) => {
    const body = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'r', namespace: 'default' },
      rules: [],
    }
    expect((await harness.send(`${verb} ${path}`, { body, ...(type && { type }) })).status).toBe(201)
    const found = await harness.send('GET /apis/rbac.authorization.k8s.io/v1/clusterroles/r')
    expect([found.status, found.body.metadata.name]).toEqual([200, 'r'])
    expect(found.body.metadata).not.toHaveProperty('namespace')
  })

  it('makes a name of generateName', async () => {
    const { body } = await harness.send(`POST ${widgets}`, { body: { metadata: { generateName: 'w-' } } })
    expect(body.metadata.name).toMatch(/^w-[a-z0-9]{5}$/)
  })

  it('makes it behind the policies that change the object', async () => {
    const policies = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic'
    const rule = { apiGroups: ['example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['widgets'] }
    const expression = `Object{spec: Object.spec{color: 'named ' + string(has(object.metadata.name)) + request.name}}`
    const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }]
    const spec = { reinvocationPolicy: 'Never', matchConstraints: { resourceRules: [rule] }, mutations }
    expect((await harness.send(`POST ${policies}ies`, { body: { metadata: { name: 'p' }, spec } })).status).toBe(201)
    await harness.send(`POST ${policies}ybindings`, { body: { metadata: { name: 'b' }, spec: { policyName: 'p' } } })
    const { body } = await harness.send(`POST ${widgets}`, { body: { metadata: { generateName: 'w-' } } })
    expect([body.metadata.name, body.spec.color]).toEqual([expect.stringMatching(/^w-[a-z0-9]{5}$/), 'named false'])
    const named = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect([named.body.metadata.name, named.body.spec.color]).toEqual(['w1', 'named truew1'])
  })

  it('does all but the write for dryRun=All', async () => {
    expect((await harness.send(`POST ${widgets}?dryRun=All`, { body: widget('w1') })).status).toBe(201)
    expect((await harness.send(`GET ${widgets}/w1`)).status).toBe(404)
  })

  it('says for dryRun=All what it would say, and of no version, since there is none', async () => {
    const { body } = await harness.send(`POST ${widgets}?dryRun=All`, { body: widget('w1') })
    expect(body.metadata).not.toHaveProperty('resourceVersion')
    await harness.send(`POST ${widgets}`, { body })
    expect(await harness.send(`POST ${widgets}?dryRun=All`, { body: widget('w1') })).toMatchObject({
      status: 409,
      body: { reason: 'AlreadyExists', message: 'widgets.example.com "w1" already exists' },
    })
  })

  it('reads protobuf for built-in kinds', async () => {
    const bytes = Buffer.from(
      'azhzAAoMCgJ2MRIGU2VjcmV0Ei8KFwoDc2VjEgAaBGRlbW8iACoAMgA4AEIAEhIKCHBhc3N3b3JkEgZnZWhlaW0aABoAIgA=',
      'base64',
    )
    await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'demo' } } })
    const { status, body } = await harness.send('POST /api/v1/namespaces/demo/secrets', {
      body: bytes,
      type: 'application/vnd.kubernetes.protobuf',
    })
    expect([status, body.type, body.data]).toEqual([201, 'Opaque', { password: 'Z2VoZWlt' }])
  })

  it('warns of unknown fields by default, refuses them under Strict, is silent under Ignore', async () => {
    const body = widget('w1', { color: 'red', colour: 'rot' })
    const warned = await harness.send(`POST ${widgets}`, { body })
    expect([warned.status, warned.headers['warning'], warned.body.spec]).toEqual([
      201,
      '299 - "unknown field \\"spec.colour\\""',
      { color: 'red' },
    ])
    expect(await harness.send(`POST ${widgets}?fieldValidation=Strict`, { body })).toMatchObject({
      status: 400,
      body: {
        reason: 'BadRequest',
        message:
          'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.colour"',
      },
    })
    const ignored = await harness.send(`POST ${widgets}?fieldValidation=Ignore`, {
      body: { ...body, metadata: { name: 'w2' } },
    })
    expect([ignored.status, ignored.headers['warning']]).toEqual([201, undefined])
  })

  const fieldsV1 = { 'f:spec': { 'f:color': {} } }
  const entry = {
    manager: 'backup',
    operation: 'Apply',
    apiVersion: 'example.com/v1',
    fieldsType: 'FieldsV1',
    fieldsV1,
  }
  it.each([[[entry]], [[]], [[{}]], [[null]], [[{ ...entry, operation: 'Write' }]], [[{ ...entry, fieldsV1: 'all' }]]])(
    'names the creator as the owner, though the body has the managedFields %j',
    async (managedFields) => {
      const { status, body } = await harness.send(`POST ${widgets}?fieldManager=me`, {
        body: widget('w1', { color: 'red' }, { managedFields }),
      })
      expect([status, body.metadata.managedFields]).toMatchObject([201, [{ manager: 'me', operation: 'Update' }]])
    },
  )

  it('takes empty values of Secrets and ConfigMaps', async () => {
    const secrets = 'POST /api/v1/namespaces/default/secrets'
    for (const [name, value] of Object.entries({ a: { stringData: { k: '' } }, b: { data: { k: '' } } })) {
      const { status, body } = await harness.send(secrets, { body: { metadata: { name }, ...value } })
      expect([status, body.data]).toEqual([201, { k: '' }])
    }
    const map = { metadata: { name: 'm' }, binaryData: { k: '' } }
    expect(await harness.send('POST /api/v1/namespaces/default/configmaps', { body: map })).toMatchObject({
      status: 201,
    })
    const refused = await harness.send(secrets, { body: { metadata: { name: 'c' }, data: { k: 'a' } } })
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('data.k: Invalid value')])
  })

  it('takes the empty type of a Secret for none', async () => {
    const at = '/api/v1/namespaces/default/secrets'
    const made = await harness.send(`POST ${at}`, { body: { metadata: { name: 's' }, type: '' } })
    const type = 'application/merge-patch+json'
    const patched = await harness.send(`PATCH ${at}/s`, { type, body: { type: '', data: { a: 'eA==' } } })
    expect([made.body.type, patched.status, patched.body.type]).toEqual(['Opaque', 200, 'Opaque'])
  })

  it('takes stringData as long as an object may be', async () => {
    const { status, body } = await harness.send('POST /api/v1/namespaces/default/secrets', {
      body: { metadata: { name: 's' }, stringData: { long: 'ä'.repeat(100_000) } },
    })
    expect([status, Buffer.from(body.data.long, 'base64').toString()]).toEqual([201, 'ä'.repeat(100_000)])
  })

  it('shows another version as that version', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
    const { body } = await harness.send('GET /apis/example.com/v1beta1/namespaces/default/widgets/w1')
    expect(body.apiVersion).toBe('example.com/v1beta1')
  })
})

describe('a default', () => {
  const boxes = '/apis/example.com/v1/namespaces/default/boxes'
  const box = { metadata: { name: 'b' }, spec: { color: 'red' } }
  beforeEach(async () => {
    const spec = { type: 'object', properties: { color: { type: 'string' }, size: { type: 'integer', default: 5 } } }
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
    const names = { kind: 'Box', plural: 'boxes' }
    const versions = [{ name: 'v1', served: true, storage: true, schema }]
    const body = {
      metadata: { name: 'boxes.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions },
    }
    await harness.send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body })
  })

  it.each([
    { by: 'PUT', type: 'application/json', body: undefined },
    { by: 'PATCH', type: merge, body: { spec: { size: null } } },
    { by: 'PATCH', type: jsonPatch, body: [{ op: 'remove', path: '/spec/size' }] },
  ])('that a $by of $type leaves out again is no change', async ({ by, type, body }) => {
    const { body: made } = await harness.send(`POST ${boxes}`, { body: box })
    expect([made.spec, made.metadata.generation]).toEqual([{ color: 'red', size: 5 }, 1])
    const reply = await harness.send(`${by} ${boxes}/b`, { type, body: body ?? { ...made, spec: box.spec } })
    expect([reply.status, reply.body]).toEqual([200, made])
  })

  it('that came later belongs to nobody: who applies it has no conflict', async () => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boxes.example.com'
    const { body: made } = await harness.send(`POST ${boxes}?fieldManager=first`, { body: box })
    const { body: definition } = await harness.send(`GET ${definitions}`)
    definition.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.depth = {
      type: 'integer',
      default: 7,
    }
    expect((await harness.send(`PUT ${definitions}`, { body: definition })).status).toBe(200)
    const { body: shown } = await harness.send(`GET ${boxes}/b`)
    expect(shown.spec).toEqual({ color: 'red', size: 5, depth: 7 })
    expect(shown.metadata.managedFields).toEqual(made.metadata.managedFields)
    const labelled = { metadata: { labels: { a: 'b' } } }
    await harness.send(`PATCH ${boxes}/b?fieldManager=third`, { type: merge, body: labelled })
    const given = { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name: 'b' }, spec: { depth: 9 } }
    const reply = await harness.send(`PATCH ${boxes}/b?fieldManager=second`, { type: apply, body: given })
    expect([reply.status, reply.body.spec]).toEqual([200, { color: 'red', size: 5, depth: 9 }])
  })
})

describe('PUT', () => {
  it('replaces the object of its resourceVersion', async () => {
    const { body } = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    const next = { ...body, spec: { color: 'blue' } }
    const reply = await harness.send(`PUT ${widgets}/w1`, { body: next })
    expect([reply.status, reply.body.spec, reply.body.metadata.generation]).toEqual([200, { color: 'blue' }, 2])
    expect(await harness.send(`PUT ${widgets}/w1`, { body: next })).toMatchObject({
      status: 409,
      body: {
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on widgets.example.com "w1": the object has been modified; please apply your changes to the latest version and try again',
        details: { name: 'w1', group: 'example.com', kind: 'widgets' },
      },
    })
  })

  it('does not create', async () => {
    for (const metadata of [{ resourceVersion: '1' }, {}]) {
      const body = widget('w1', {}, metadata)
      expect((await harness.send(`PUT ${widgets}/w1`, { body })).status).toBe(404)
    }
  })

  it('asks for a resourceVersion', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect(await harness.send(`PUT ${widgets}/w1`, { body: widget('w1') })).toMatchObject({
      status: 422,
      body: {
        reason: 'Invalid',
        details: {
          kind: 'Widget',
          causes: [
            { field: 'metadata.resourceVersion', message: 'Invalid value: 0x0: must be specified for an update' },
          ],
        },
      },
    })
  })

  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
  const unversioned: readonly (readonly [string, number])[] = [
    ['/api/v1/namespaces/default/configmaps', 200],
    [`${rbac}/clusterroles`, 200],
    [leases, 422],
    [widgets, 422],
  ]
  it.each(unversioned)('of no version in %s is a %s, as is one of version 0', async (path, status) => {
    await harness.send(`POST ${path}`, { body: { metadata: { name: 'w1', resourceVersion: '0' } } })
    for (const metadata of [{}, { resourceVersion: '0' }, { resourceVersion: '' }, { resourceVersion: null }])
      expect((await harness.send(`PUT ${path}/w1`, { body: { metadata } })).status).toBe(status)
    const patch = { body: { metadata: { resourceVersion: '0' } }, type: merge }
    expect((await harness.send(`PATCH ${path}/w1`, patch)).status).toBe(status)
  })

  const subject = { kind: 'Widget', namespace: 'default', name: 'w' }
  it.each([
    [leases, {}],
    ['/api/v1/namespaces/default/events', { involvedObject: subject }],
    [`${rbac}/namespaces/default/roles`, {}],
    [`${rbac}/clusterroles`, {}],
  ])('creates what is not there in %s, as on Kubernetes', async (path, content) => {
    const body = { ...content, metadata: { resourceVersion: '1', labels: { a: 'b' } } }
    expect((await harness.send(`PUT ${path}/w1?dryRun=All`, { body })).status).toBe(201)
    expect(await harness.send(`PUT ${path}/w1`, { body })).toMatchObject({
      status: 201,
      body: { metadata: { name: 'w1', labels: { a: 'b' } } },
    })
    expect((await harness.send(`PUT ${path}/w1`, { body })).status).toBe(409)
    const gone = { ...body, metadata: { uid: 'x' } }
    expect((await harness.send(`PUT ${path}/w2`, { body: gone })).status).toBe(409)
  })

  it('takes its name from the URL, and refuses another', async () => {
    const { body } = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    const { name: _, ...metadata } = body.metadata
    expect((await harness.send(`PUT ${widgets}/w1`, { body: { ...body, metadata } })).status).toBe(200)
    const reply = await harness.send(`PUT ${widgets}/w1`, { body: { ...body, metadata: { ...metadata, name: 'w2' } } })
    expect([reply.status, reply.body.message]).toEqual([
      400,
      'the name of the object (w2) does not match the name on the URL (w1)',
    ])
  })
})

describe('PATCH', () => {
  beforeEach(async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1', { color: 'red', size: 3, parts: ['a', 'b'] }) })
  })

  const patches: readonly { type: string; body: Sent['body']; spec: object; because: string }[] = [
    {
      type: merge,
      body: { spec: { size: null, color: 'blue' } },
      spec: { color: 'blue', parts: ['a', 'b'] },
      because: 'null removes',
    },
    {
      type: merge,
      body: { spec: { parts: ['c'] } },
      spec: { color: 'red', size: 3, parts: ['c'] },
      because: 'lists are replaced',
    },
    {
      type: jsonPatch,
      body: [
        { op: 'replace', path: '/spec/size', value: 4 },
        { op: 'remove', path: '/spec/parts/0' },
      ],
      spec: { color: 'red', size: 4, parts: ['b'] },
      because: 'operations run in order',
    },
  ]
  it.each(patches)('of type $type: $because', async ({ type, body, spec }) => {
    const reply = await harness.send(`PATCH ${widgets}/w1`, { type, ...(body === undefined ? {} : { body }) })
    expect([reply.status, reply.body.spec]).toEqual([200, spec])
  })

  it('that changes nothing leaves the resourceVersion', async () => {
    const { body } = await harness.send(`GET ${widgets}/w1`)
    const reply = await harness.send(`PATCH ${widgets}/w1`, { type: merge, body: { spec: { size: 3 } } })
    expect([reply.status, reply.body.metadata.resourceVersion]).toEqual([200, body.metadata.resourceVersion])
  })

  it('of type apply creates what is not there, though it names a version of what was', async () => {
    const body = widget('w2', { color: 'red' }, { resourceVersion: '1' })
    const made = await harness.send(`PATCH ${widgets}/w2?fieldManager=me`, { type: apply, body })
    expect([made.status, made.body.metadata.managedFields]).toMatchObject([201, [{ manager: 'me' }]])
    expect(await harness.send(`PATCH ${widgets}/w2?fieldManager=me`, { type: apply, body })).toMatchObject({
      status: 409,
    })
  })

  it('of type apply creates what is not there, from JSON and from YAML', async () => {
    const json = await harness.send(`PATCH ${widgets}/w2?fieldManager=me`, { type: apply, body: widget('w2') })
    expect([json.status, json.body.spec]).toEqual([201, { color: 'red' }])
    const yaml = 'apiVersion: example.com/v1\nkind: Widget\nmetadata:\n  name: w2\nspec:\n  color: blue\n'
    const again = await harness.send(`PATCH ${widgets}/w2?fieldManager=me`, { type: apply, body: yaml })
    expect([again.status, again.body.spec]).toEqual([200, { color: 'blue' }])
  })

  const refused: readonly { query?: string; type: string; body: Sent['body']; status: number; message: string }[] = [
    {
      type: apply,
      body: widget('w1'),
      status: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    },
    {
      query: '?force=true',
      type: merge,
      body: {},
      status: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    },
    {
      query: '?dryRun=some',
      type: merge,
      body: {},
      status: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: "some": supported values: "All"',
    },
    {
      query: '?fieldValidation=Lax',
      type: merge,
      body: {},
      status: 422,
      message:
        'PatchOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Lax": supported values: "Ignore", "Strict", "Warn"',
    },
    {
      query: `?fieldManager=${'m'.repeat(129)}`,
      type: merge,
      body: {},
      status: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    },
    { type: merge, body: [], status: 400, message: 'the body of a merge patch must be an object' },
    {
      type: jsonPatch,
      body: [{ op: 'add', path: 7, value: 1 }],
      status: 422,
      message: 'the JSON patch does not fit the object: operation 0, add at what is no path',
    },
    { type: jsonPatch, body: {}, status: 400, message: 'the body of a JSON patch must be a list of operations' },
    {
      type: jsonPatch,
      body: ['add'] as never,
      status: 400,
      message: 'the body of a JSON patch must be a list of operations',
    },
    {
      type: jsonPatch,
      body: Array.from({ length: 10_001 }, () => ({})),
      status: 413,
      message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
    },
  ]
  it.each(refused)('is refused with $status: $message', async ({ query = '', type, body, status, message }) => {
    const reply = await harness.send(`PATCH ${widgets}/w1${query}`, { type, ...(body === undefined ? {} : { body }) })
    expect([reply.status, reply.body.message]).toEqual([status, message])
  })

  it('of an unknown type is a 415', async () => {
    expect(await harness.send(`PATCH ${widgets}/w1`, { type: 'text/plain', body: '{}' })).toMatchObject({
      status: 415,
      body: {
        reason: 'UnsupportedMediaType',
        message: expect.stringContaining(
          'accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
        ),
      },
    })
  })
})

describe('a patch that says another uid', () => {
  const patches: readonly (readonly [string, string, JsonObject | JsonObject[]])[] = [
    ['merges', merge, { metadata: { uid: 'other' } }],
    ['is a JSON patch', jsonPatch, [{ op: 'replace', path: '/metadata/uid', value: 'other' }]],
    ['is an apply', apply, { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { uid: 'other' } }],
  ]
  it.each(patches)('and %s is INVALID: who lets go of children takes that for their end', async (_, type, body) => {
    const live = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    const refused = await harness.send(`PATCH ${widgets}/w1?fieldManager=x`, { type, body })
    const cause = { field: 'metadata.uid', message: 'Invalid value: "other": field is immutable' }
    expect(refused).toMatchObject({ status: 422, body: { reason: 'Invalid', details: { causes: [cause] } } })
    const { resourceVersion } = live.body.metadata
    const put = await harness.send(`PUT ${widgets}/w1`, { body: widget('w1', {}, { uid: 'other', resourceVersion }) })
    expect(put.status).toBe(409)
  })
})

describe('a strategic merge patch', () => {
  it('is a 415 with a hint on custom kinds, as in Kubernetes', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect(await harness.send(`PATCH ${widgets}/w1`, { type: strategic, body: { spec: {} } })).toMatchObject({
      status: 415,
      body: { reason: 'UnsupportedMediaType', message: expect.stringContaining('use kubectl patch --type=merge') },
    })
  })

  it('does on built-in kinds what kubectl apply and edit want', async () => {
    const maps = '/api/v1/namespaces/default/configmaps'
    await harness.send(`POST ${maps}`, {
      body: { metadata: { name: 'c', annotations: { a: '1' } }, data: { x: '1', y: '2' } },
    })
    const reply = await harness.send(`PATCH ${maps}/c`, {
      type: strategic,
      body: { data: { x: null, z: '3' }, metadata: { annotations: { a: '2' } } },
    })
    expect([reply.status, reply.body.data, reply.body.metadata.annotations]).toEqual([
      200,
      { y: '2', z: '3' },
      { a: '2' },
    ])
  })

  const rows = [
    { body: { $patch: 'replace', data: {} }, field: '$patch' },
    { body: { data: { $retainKeys: ['x'] } }, field: 'data.$retainKeys' },
    { body: { metadata: { managedFields: [{}] } }, field: 'metadata.managedFields' },
    { body: { metadata: { '$setElementOrder/labels': [] } }, field: 'metadata.$setElementOrder/labels' },
    { body: { metadata: { labels: { $patch: 'replace' } } }, field: 'metadata.labels.$patch' },
  ]
  it.each(rows)('is a 415 where it would differ from a merge patch: $field', async ({ body, field }) => {
    const maps = '/api/v1/namespaces/default/configmaps'
    await harness.send(`POST ${maps}`, { body: { metadata: { name: 'c' } } })
    const reply = await harness.send(`PATCH ${maps}/c`, { type: strategic, body })
    expect(reply.status).toBe(415)
    expect(reply.body.message).toContain(`${field} is not such a field`)
  })
})

describe('status', () => {
  beforeEach(async () => {
    await harness.send(`POST ${widgets}`, { body: { ...widget('w1'), status: { phase: 'ignored' } } })
  })

  it('is written through its own path only, and moves no generation', async () => {
    const patched = await harness.send(`PATCH ${widgets}/w1/status`, {
      type: merge,
      body: { spec: { color: 'blue' }, status: { phase: 'On' } },
    })
    expect(patched.body).toMatchObject({ spec: { color: 'red' }, status: { phase: 'On' }, metadata: { generation: 1 } })
    const main = await harness.send(`PATCH ${widgets}/w1`, {
      type: merge,
      body: { spec: { color: 'blue' }, status: { phase: 'Off' } },
    })
    expect(main.body).toMatchObject({ spec: { color: 'blue' }, status: { phase: 'On' }, metadata: { generation: 2 } })
    const put = await harness.send(`PUT ${widgets}/w1/status`, {
      body: { ...main.body, spec: {}, status: { phase: 'Out' } },
    })
    expect(put.body).toMatchObject({ spec: { color: 'blue' }, status: { phase: 'Out' } })
    expect((await harness.send(`GET ${widgets}/w1/status`)).body).toMatchObject({
      kind: 'Widget',
      status: { phase: 'Out' },
    })
  })

  it.each(['namespaces/default', 'namespaces/default/resourcequotas/q'])(
    'of %s is written with its metadata, and with no spec and no finalizer of the engine',
    async (place) => {
      await harness.send('POST /api/v1/namespaces/default/resourcequotas', {
        body: { metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': '5' } } },
      })
      const before = (await harness.send(`GET /api/v1/${place}`)).body
      const metadata = { annotations: { by: 'me' }, finalizers: ['mine.dev/a', 'mine.dev/b'] }
      const { status, body } = await harness.send(`PATCH /api/v1/${place}/status?fieldManager=me`, {
        type: merge,
        body: { metadata, spec: { hard: {}, finalizers: [] }, status: { hard: { 'count/configmaps': '5' } } },
      })
      expect([status, body.message]).toEqual([200, undefined])
      const kept = (before.metadata.finalizers as string[] | undefined) ?? []
      expect(body.metadata).toMatchObject({ annotations: metadata.annotations, uid: before.metadata.uid })
      expect(body.metadata.finalizers.toSorted()).toEqual([...metadata.finalizers, ...kept])
      expect(body.spec).toEqual(before.spec)
      expect(body.metadata.managedFields.at(-1)).toMatchObject({
        manager: 'me',
        subresource: 'status',
        fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:by': {} } } },
      })
      const put = await harness.send(`PUT /api/v1/${place}/status`, {
        body: { ...body, metadata: { ...body.metadata, annotations: { by: 'you' } } },
      })
      expect([put.status, put.body.metadata.annotations]).toEqual([200, { by: 'you' }])
    },
  )

  const rows = [
    { line: `POST ${widgets}/w1/status`, status: 405 },
    { line: `DELETE ${widgets}/w1/status`, status: 405 },
    { line: `GET ${widgets}/w1/scale`, status: 404 },
    { line: `GET ${widgets}/w1/status/more`, status: 404 },
    { line: 'GET /api/v1/namespaces/default/configmaps/c/status', status: 404 },
    { line: 'PUT /api/v1/namespaces/default/finalize', status: 400 },
  ]
  it.each(rows)('$line is a $status', async ({ line, status }) => {
    expect((await harness.send(line)).status).toBe(status)
  })
})

describe('DELETE', () => {
  it('answers with a Status that names what is gone', async () => {
    const { body } = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect(await harness.send(`DELETE ${widgets}/w1`, { body: { propagationPolicy: 'Background' } })).toMatchObject({
      status: 200,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Success',
        details: { name: 'w1', group: 'example.com', kind: 'widgets', uid: body.metadata.uid },
      },
    })
    expect((await harness.send(`DELETE ${widgets}/w1`)).status).toBe(404)
  })

  it('answers with the object while finalizers hold it', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1', {}, { finalizers: ['example.com/hold'] }) })
    const { status, body } = await harness.send(`DELETE ${widgets}/w1`)
    expect([status, body.kind, typeof body.metadata.deletionTimestamp]).toEqual([200, 'Widget', 'string'])
  })

  const foreground = { propagationPolicy: 'Foreground' }
  const options: readonly (Sent & {
    readonly query?: string
    readonly finalizers: readonly string[]
    readonly because: string
  })[] = [
    { body: foreground, finalizers: ['example.com/hold', 'foregroundDeletion'], because: 'the body says so' },
    {
      query: '?propagationPolicy=Foreground',
      finalizers: ['example.com/hold', 'foregroundDeletion'],
      because: 'the query says so',
    },
    {
      query: '?propagationPolicy=Orphan',
      body: foreground,
      finalizers: ['example.com/hold', 'foregroundDeletion'],
      because: 'the body goes before the query',
    },
    {
      query: '?orphanDependents=true',
      finalizers: ['example.com/hold', 'orphan'],
      because: 'an older client asks for orphans',
    },
    {
      body: 'propagationPolicy: Orphan',
      type: 'application/yaml',
      finalizers: ['example.com/hold', 'orphan'],
      because: 'options may be YAML',
    },
    {
      body: { gracePeriodSeconds: 0 },
      finalizers: ['example.com/hold'],
      because: 'there is no grace period to shorten',
    },
  ]
  it.each(options)('leaves finalizers $finalizers: $because', async ({ query = '', finalizers, ...sent }) => {
    await harness.send(`POST ${widgets}`, { body: widget('w1', {}, { finalizers: ['example.com/hold'] }) })
    const { body } = await harness.send(`DELETE ${widgets}/w1${query}`, sent)
    expect(body.metadata.finalizers).toEqual(finalizers)
  })

  it('deletes nothing in a dry run, by body or query', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect((await harness.send(`DELETE ${widgets}/w1`, { body: { dryRun: ['All'] } })).body.status).toBe('Success')
    expect((await harness.send(`DELETE ${widgets}/w1?dryRun=All`)).body.status).toBe('Success')
    expect((await harness.send(`GET ${widgets}/w1`)).status).toBe(200)
  })

  it('holds to its preconditions', async () => {
    const { body } = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    const wrong = await harness.send(`DELETE ${widgets}/w1`, { body: { preconditions: { uid: 'other' } } })
    expect([wrong.status, wrong.body.message]).toEqual([
      409,
      expect.stringContaining(
        `Precondition failed: UID in precondition: other, UID in object meta: ${body.metadata.uid}`,
      ),
    ])
    expect(
      (await harness.send(`DELETE ${widgets}/w1`, { body: { preconditions: { resourceVersion: '1' } } })).status,
    ).toBe(409)
    expect(
      (await harness.send(`DELETE ${widgets}/w1`, { body: { preconditions: { uid: body.metadata.uid } } })).status,
    ).toBe(200)
  })

  it('holds to those of its query, too', async () => {
    const { body } = await harness.send(`POST ${widgets}`, { body: widget('w1') })
    const { uid, resourceVersion } = body.metadata
    expect((await harness.send(`DELETE ${widgets}/w1?uid=other`)).status).toBe(409)
    expect((await harness.send(`DELETE ${widgets}/w1?resourceVersion=1`)).status).toBe(409)
    expect((await harness.send(`DELETE ${widgets}/w1?uid=${uid}&resourceVersion=${resourceVersion}`)).status).toBe(200)
  })

  const refused = [
    {
      body: { propagationPolicy: 'Sideways' },
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Background", "Foreground", "Orphan"',
    },
    {
      body: { dryRun: ['Some'] },
      message: 'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: "Some": supported values: "All"',
    },
    { body: { dryRun: 'All' }, message: 'dryRun must be a list' },
  ]
  it.each(refused)('refuses options: $message', async ({ body, message }) => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect((await harness.send(`DELETE ${widgets}/w1`, { body })).body.message).toBe(message)
  })
})

describe('DELETE of a collection', () => {
  it('deletes no more than the page that is asked for', async () => {
    for (const name of ['w1', 'w2', 'w3']) await harness.send(`POST ${widgets}`, { body: widget(name) })
    const { body } = await harness.send(`DELETE ${widgets}?limit=2`)
    expect(body.items).toHaveLength(2)
    expect((await harness.send(`GET ${widgets}`)).body.items).toMatchObject([{ metadata: { name: 'w3' } }])
    await harness.send(`DELETE ${widgets}?limit=2&continue=${encodeURIComponent(body.metadata.continue)}`)
    expect((await harness.send(`GET ${widgets}`)).body.items).toEqual([])
  })

  it('deletes nothing if it is asked for by what is no limit', async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
    expect((await harness.send(`DELETE ${widgets}?limit=one`)).status).toBe(400)
    expect((await harness.send(`GET ${widgets}`)).body.items).toHaveLength(1)
  })

  it('deletes what is selected, in its namespace, and tells what', async () => {
    await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'other' } } })
    const labels = { app: 'x' }
    for (const name of ['a', 'b']) await harness.send(`POST ${widgets}`, { body: widget(name, {}, { labels }) })
    await harness.send(`POST ${widgets}`, { body: widget('c') })
    await harness.send('POST /apis/example.com/v1/namespaces/other/widgets', { body: widget('a', {}, { labels }) })

    const { status, body } = await harness.send(`DELETE ${widgets}?labelSelector=app%3Dx`)
    expect([status, body.kind, body.items.map((item: { metadata: { name: string } }) => item.metadata.name)]).toEqual([
      200,
      'WidgetList',
      ['a', 'b'],
    ])
    const { body: left } = await harness.send('GET /apis/example.com/v1/widgets')
    expect(
      left.items.map(
        ({ metadata }: { metadata: { namespace: string; name: string } }) => `${metadata.namespace}/${metadata.name}`,
      ),
    ).toEqual(['default/c', 'other/a'])
  })

  it('is not there over all namespaces', async () => {
    expect((await harness.send('DELETE /apis/example.com/v1/widgets')).status).toBe(404)
  })
})

describe('a write in the wrong place', () => {
  const rows = [
    { line: 'POST /apis/example.com/v1/widgets', status: 404, because: 'a namespaced object needs a namespace' },
    { line: `POST ${widgets}/w1`, status: 405, because: 'an object is created in its collection' },
    { line: `PUT ${widgets}`, status: 405, because: 'a collection cannot be replaced' },
    { line: `PATCH ${widgets}`, status: 405, because: 'a collection cannot be patched' },
    {
      line: 'POST /apis/apiextensions.k8s.io/v1/namespaces/default/customresourcedefinitions',
      status: 404,
      because: 'the kind stands in no namespace',
    },
    { line: 'POST /apis/example.com/v9/namespaces/default/widgets', status: 404, because: 'the version is not served' },
    { line: 'OPTIONS /api/v1/namespaces', status: 405, because: 'the method is no verb' },
  ]
  it.each(rows)('$line is a $status: $because', async ({ line, status }) => {
    expect(await harness.send(line, { body: widget('w1') })).toMatchObject({
      status,
      body: { kind: 'Status', status: 'Failure', code: status },
    })
  })

  it('is refused if the body names another namespace', async () => {
    const reply = await harness.send(`POST ${widgets}`, { body: widget('w1', {}, { namespace: 'other' }) })
    expect([reply.status, reply.body.message]).toEqual([
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ])
  })
})

describe('the field manager', () => {
  const rows = [
    { query: '?fieldManager=me', agent: 'kubectl/v1.32.0 (linux)', manager: 'me', because: 'the request names it' },
    { query: '', agent: 'kubectl/v1.32.0 (linux)', manager: 'kubectl', because: 'User-Agent names the program' },
    { query: '', agent: 'curl', manager: 'curl', because: 'User-Agent has no slash' },
    { query: '', agent: '', manager: 'unknown', because: 'nothing names it' },
    { query: '', agent: 'x'.repeat(200), manager: 'x'.repeat(128), because: 'a program may have a long name' },
  ]
  it.each(rows)('is $manager: $because', async ({ query, agent, manager }) => {
    const managers: string[] = []
    const { resources } = harness.services
    const create: Resources['create'] = (kind, object, options) => {
      managers.push(options.manager)
      return resources.create(kind, object, options)
    }
    const api = createApi({ ...harness.services, resources: { ...resources, create } })
    await api(request(`POST ${widgets}${query}`, { body: widget('w1'), headers: { 'user-agent': agent } }))
    expect(managers).toEqual([manager])
  })
})
