import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWidgetHarness, type Harness, type Reply } from './harness.ts'
import { request } from './sent-request.ts'

let harness: Harness
beforeAll(async () => {
  harness = await createWidgetHarness()
})
afterAll(() => harness.close())

const gvk = { group: 'example.com', version: 'v1', kind: 'Widget' }
const item = '/apis/example.com/v1/namespaces/{namespace}/widgets/{name}'

async function documentOf(path: string): Promise<Reply> {
  const index = await harness.send('GET /openapi/v3')
  return harness.send(`GET ${index.body.paths[path].serverRelativeURL}`)
}

describe('a subresource', () => {
  it('is told with what it gives and takes: /scale in its own kind, /finalize of namespaces', async () => {
    const own = await createWidgetHarness()
    const versions = '/spec/versions/0/subresources'
    const scale = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' }
    await own.send('PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com', {
      type: 'application/json-patch+json',
      body: [{ op: 'add', path: `${versions}/scale`, value: scale }],
    })
    const { body } = await own.send('GET /openapi/v3/apis/example.com/v1')
    const { get, put, patch } = body.paths[`${item}/scale`]
    expect([get, put, patch].map((operation) => operation['x-kubernetes-group-version-kind'])).toEqual(
      Array.from({ length: 3 }, () => ({ group: 'autoscaling', version: 'v1', kind: 'Scale' })),
    )
    const $ref = '#/components/schemas/io.k8s.api.autoscaling.v1.Scale'
    expect(get.responses['200'].content['application/json'].schema).toEqual({ $ref })
    expect(body.components.schemas['io.k8s.api.autoscaling.v1.Scale'].properties.spec.properties).toHaveProperty(
      'replicas',
    )
    expect(body.paths).not.toHaveProperty([`${item}/finalize`])
    const v2 = await own.send('GET /openapi/v2')
    expect(v2.body.definitions).toHaveProperty(['io.k8s.api.autoscaling.v1.Scale'])
    const core = await own.send('GET /openapi/v3/api/v1')
    expect(Object.keys(core.body.paths['/api/v1/namespaces/{name}/finalize'])).toEqual(['parameters', 'put'])
    own.close()
  })
})

describe('the index of schema documents', () => {
  it('names every group version with the hash of its document', async () => {
    const { body } = await harness.send('GET /openapi/v3')
    expect(Object.keys(body.paths).toSorted()).toEqual([
      'api/v1',
      'apis/admissionregistration.k8s.io/v1',
      'apis/admissionregistration.k8s.io/v1alpha1',
      'apis/admissionregistration.k8s.io/v1beta1',
      'apis/apiextensions.k8s.io/v1',
      'apis/apiregistration.k8s.io/v1',
      'apis/authentication.k8s.io/v1',
      'apis/authorization.k8s.io/v1',
      'apis/coordination.k8s.io/v1',
      'apis/events.k8s.io/v1',
      'apis/example.com/v1',
      'apis/example.com/v1beta1',
      'apis/rbac.authorization.k8s.io/v1',
    ])
    expect(body.paths['api/v1'].serverRelativeURL).toMatch(/^\/openapi\/v3\/api\/v1\?hash=[0-9a-f]{16}$/)
  })

  it('is not sent again to who has it', async () => {
    const { headers } = await harness.send('GET /openapi/v3')
    const again = await harness.send('GET /openapi/v3', { headers: { 'if-none-match': headers['etag'] ?? '' } })
    expect([again.status, again.body, again.headers['etag']]).toEqual([304, '', headers['etag']])
  })

  it('has another ETag when a kind changes', async () => {
    const own = await createWidgetHarness()
    const before = await own.send('GET /openapi/v3')
    await own.send('PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com', {
      type: 'application/json-patch+json',
      body: [
        {
          op: 'add',
          path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/weight',
          value: { type: 'integer' },
        },
      ],
    })
    const after = await own.send('GET /openapi/v3')
    const changed = Object.keys(after.body.paths).filter(
      (path) => after.body.paths[path].serverRelativeURL !== before.body.paths[path].serverRelativeURL,
    )
    expect(changed).toEqual(['apis/example.com/v1'])
    expect(after.headers['etag']).not.toBe(before.headers['etag'])
    own.close()
  })
})

describe('a schema document', () => {
  it('may be kept for ever under its hash, and not without', async () => {
    expect((await documentOf('apis/example.com/v1')).headers['cache-control']).toBe(
      'public, max-age=31536000, immutable',
    )
    expect((await harness.send('GET /openapi/v3/apis/example.com/v1')).headers['cache-control']).toBe('no-cache')
    expect((await harness.send('GET /openapi/v3/apis/example.com/v1?hash=0')).headers['cache-control']).toBe('no-cache')
  })

  it('has a patch operation that knows its kind and fieldValidation: kubectl validates at the server then', async () => {
    const { patch } = (await documentOf('apis/example.com/v1')).body.paths[item]
    expect(patch['x-kubernetes-group-version-kind']).toEqual(gvk)
    expect(patch.parameters.map(({ name }: { name: string }) => name)).toEqual([
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
    ])
  })

  it('has get operations by which explain finds the kind of a path', async () => {
    const { paths } = (await documentOf('apis/example.com/v1')).body
    for (const path of [
      '/apis/example.com/v1/widgets',
      '/apis/example.com/v1/namespaces/{namespace}/widgets',
      item,
      `${item}/status`,
    ]) {
      expect(paths[path].get['x-kubernetes-group-version-kind']).toEqual(gvk)
    }
  })

  it('names operations each once', async () => {
    const { paths } = (await documentOf('api/v1')).body
    const ids = Object.values(paths as Record<string, Record<string, { operationId?: string }>>).flatMap((path) =>
      Object.values(path).flatMap(({ operationId }) => operationId ?? []),
    )
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toContain('patchCoreV1NamespacedConfigMap')
  })

  it('refers to schemas that it has', async () => {
    for (const path of ['api/v1', 'apis/example.com/v1', 'apis/authorization.k8s.io/v1']) {
      const { body } = await documentOf(path)
      const references = JSON.stringify(body).match(/#\/components\/schemas\/[^"]+/g) ?? []
      const missing = references.filter(
        (reference) => !(reference.slice('#/components/schemas/'.length) in body.components.schemas),
      )
      expect(missing).toEqual([])
    }
  })

  it('shows the schema of the definition, documented metadata, and the wait of the engine', async () => {
    const schema = (await documentOf('apis/example.com/v1')).body.components.schemas['com.example.v1.Widget']
    expect(schema).toMatchObject({
      description: 'Widget is a thing to try things with.',
      'x-kubernetes-group-version-kind': [gvk],
      properties: {
        metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
        spec: { properties: { color: { type: 'string', description: 'The color.' } } },
        status: {
          properties: {
            phase: { type: 'string' },
            reconcile: { properties: { waiting: {}, attempt: {}, nextRunAt: {}, lastError: {} } },
          },
        },
      },
    })
  })

  it('says nothing of the engine about kinds that no reconciler waits for', async () => {
    const schema = (await documentOf('api/v1')).body.components.schemas['io.k8s.api.core.v1.ConfigMap']
    expect(schema.properties).toHaveProperty('data')
    expect(schema.properties).not.toHaveProperty('status')
  })

  it('has Namespace, by which kubectl judges what it does not find', async () => {
    const { patch } = (await documentOf('api/v1')).body.paths['/api/v1/namespaces/{name}']
    expect(patch['x-kubernetes-group-version-kind']).toEqual({ group: '', version: 'v1', kind: 'Namespace' })
  })
})

describe('OpenAPI v2', () => {
  it('is a document without paths, in protobuf under the type that Go can read', async () => {
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    const response = await harness.api(request('GET /openapi/v2', { accept }))
    expect(response.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
    expect(Buffer.from(response.body as Uint8Array).toString('latin1')).toBe(
      '\n\u00032.0\u0012\u0011\n\bSetpoint\u0012\u00050.1.0B\0',
    )
  })

  it('is JSON for who reads that', async () => {
    const { headers, body } = await harness.send('GET /openapi/v2')
    expect(headers['content-type']).toBe('application/json')
    expect(body).toMatchObject({ swagger: '2.0', info: { title: 'Setpoint', version: '0.1.0' } })
    expect(body.paths[item].patch).toMatchObject({
      consumes: ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'],
      parameters: expect.arrayContaining([
        { name: 'body', in: 'body', required: true, schema: expect.anything() },
        expect.objectContaining({ name: 'dryRun', in: 'query', type: 'string' }),
      ]),
      responses: { '200': { schema: { $ref: '#/definitions/com.example.v1.Widget' } } },
      'x-kubernetes-group-version-kind': gvk,
    })
    const definition = body.definitions['com.example.v1.Widget']
    expect(definition).toMatchObject({
      'x-kubernetes-group-version-kind': [gvk],
      properties: {
        metadata: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
        spec: { properties: { color: { type: 'string' } } },
      },
    })
    expect(JSON.stringify(body)).not.toMatch(/"(nullable|anyOf|oneOf|allOf|requestBody|content)":|components/)
  })
})
