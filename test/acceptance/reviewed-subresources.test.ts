import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { policyRoot, send, type Reply } from './support/policy-plane.ts'

/** Policies and webhooks see writes to `/scale` and `/finalize`, and each DELETE, as Kubernetes' do. */
const asked: { readonly path: string; readonly request: Reply }[] = []
/** What webhooks patch. */
let patch: readonly object[] = []

async function post({ url, body }: { readonly url: string; readonly body: string }): Promise<string> {
  const { request }: Reply = JSON.parse(body)
  const path = new URL(url).pathname
  asked.push({ path, request })
  const patched = path === '/mutating' && patch.length > 0
  const response = {
    uid: request.uid,
    allowed: true,
    ...(patched && { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') }),
  }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
}

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'fleets.scale.dev' },
  spec: {
    group: 'scale.dev',
    scope: 'Namespaced',
    names: { kind: 'Fleet', plural: 'fleets' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { ships: { type: 'integer' } } },
              status: { type: 'object', properties: { ships: { type: 'integer' } } },
            },
          },
        },
        subresources: { status: {}, scale: { specReplicasPath: '.spec.ships', statusReplicasPath: '.status.ships' } },
      },
    ],
  },
}

const engines = [
  { engine: 'SQLite', options: {} },
  { engine: 'DynamoDB', options: { engine: awsEngine } },
] as const

describe.each(engines)('on $engine', ({ options }) => {
  let env: TestEnv
  const at = '/apis/scale.dev/v1/namespaces/default/fleets'
  beforeAll(async () => {
    env = await createTestEnv({ webhooks: { post }, ...options })
    await send(env, 'POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)
    await send(env, `POST ${at}`, {
      apiVersion: 'scale.dev/v1',
      kind: 'Fleet',
      metadata: { name: 'a' },
      spec: { ships: 3 },
    })
  })
  afterAll(() => env.close())

  const made: string[] = []
  const make = async (path: string, sent: object): Promise<void> => {
    expect(await send(env, `POST ${policyRoot}/${path}`, sent)).toMatchObject({ code: 201 })
    made.push(`${policyRoot}/${path}/${(sent as Reply).metadata.name}`)
  }
  afterEach(async () => {
    for (const path of made.splice(0)) await send(env, `DELETE ${path}`)
    patch = []
    asked.length = 0
  })

  const rulesOf = (group: string, resource: string) => [
    { apiGroups: [group], apiVersions: ['v1'], operations: ['UPDATE', 'DELETE'], resources: [resource] },
  ]
  const configure = async (group: string, resource: string): Promise<void> => {
    for (const type of ['mutating', 'validating'])
      await make(`${type}webhookconfigurations`, {
        metadata: { name: 'w' },
        webhooks: [
          {
            name: 'a.w.dev',
            clientConfig: { url: `https://a.dev/${type}` },
            rules: rulesOf(group, resource),
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
          },
        ],
      })
  }
  const forbid = async (group: string, resource: string, expression: string): Promise<void> => {
    await make('validatingadmissionpolicies', {
      metadata: { name: 'p.dev' },
      spec: { matchConstraints: { resourceRules: rulesOf(group, resource) }, validations: [{ expression }] },
    })
    await make('validatingadmissionpolicybindings', {
      metadata: { name: 'p' },
      spec: { policyName: 'p.dev', validationActions: ['Deny'] },
    })
  }
  const scaleTo = (replicas: number): Promise<Reply> => send(env, `PATCH ${at}/a/scale`, { spec: { replicas } })

  it('a Scale is reviewed by rules that name it, and what is made of it is written', async () => {
    await configure('scale.dev', 'fleets/scale')
    patch = [{ op: 'replace', path: '/spec/replicas', value: 7 }]
    expect(await scaleTo(5)).toMatchObject({ code: 200, kind: 'Scale', spec: { replicas: 7 } })
    expect(await send(env, `GET ${at}/a`)).toMatchObject({ spec: { ships: 7 } })
    expect(asked.map(({ path }) => path)).toEqual(['/mutating', '/validating'])
    expect(asked[0]?.request).toMatchObject({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'scale.dev', version: 'v1', resource: 'fleets' },
      subResource: 'scale',
      requestKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      requestResource: { group: 'scale.dev', version: 'v1', resource: 'fleets' },
      requestSubResource: 'scale',
      name: 'a',
      namespace: 'default',
      operation: 'UPDATE',
      object: { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 5 } },
      oldObject: { kind: 'Scale', spec: { replicas: 3 } },
    })
    expect(asked[1]?.request).toMatchObject({ object: { spec: { replicas: 7 } }, oldObject: { spec: { replicas: 3 } } })
    patch = [{ op: 'replace', path: '/spec/replicas', value: -1 }]
    expect(await scaleTo(5)).toMatchObject({ code: 422 })
  })

  it('a Scale is none of the objects: rules without its name do not concern it', async () => {
    await configure('scale.dev', 'fleets')
    expect(await scaleTo(4)).toMatchObject({ code: 200 })
    expect(asked).toEqual([])
  })

  it('a policy denies a Scale', async () => {
    await forbid('scale.dev', 'fleets/scale', 'object.spec.replicas <= 10 && oldObject.kind == "Scale"')
    expect(await scaleTo(9)).toMatchObject({ code: 200, spec: { replicas: 9 } })
    const denied = await scaleTo(11)
    expect(denied).toMatchObject({ code: 422, details: { group: 'scale.dev', kind: 'fleets', name: 'a' } })
    expect(denied.message).toContain("ValidatingAdmissionPolicy 'p.dev' with binding 'p' denied request")
    expect(await send(env, `GET ${at}/a`)).toMatchObject({ spec: { ships: 9 } })
  })

  it('the end of a namespace is reviewed, and may be refused and taken back', async () => {
    await send(env, 'POST /api/v1/namespaces', { metadata: { name: 'n' } })
    await configure('', 'namespaces/finalize')
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' }, spec: { finalizers: [] } }
    patch = [{ op: 'add', path: '/spec/finalizers/-', value: 'kubernetes' }]
    expect(await send(env, 'PUT /api/v1/namespaces/n/finalize', body)).toMatchObject({
      code: 200,
      spec: { finalizers: ['kubernetes'] },
    })
    expect(asked[0]?.request).toMatchObject({
      kind: { kind: 'Namespace' },
      resource: { resource: 'namespaces' },
      subResource: 'finalize',
      object: { spec: { finalizers: [] } },
      oldObject: { spec: { finalizers: ['kubernetes'] } },
    })
    await forbid('', 'namespaces/finalize', 'false')
    patch = []
    expect(await send(env, 'PUT /api/v1/namespaces/n/finalize', body)).toMatchObject({ code: 422 })
    const kept = { ...body, spec: { finalizers: ['kubernetes'] } }
    expect(await send(env, 'PUT /api/v1/namespaces/n/finalize', kept)).toMatchObject({ code: 422 })
    expect(await send(env, 'GET /api/v1/namespaces/n')).toMatchObject({ spec: { finalizers: ['kubernetes'] } })
  })

  it('a second DELETE of what is being deleted is reviewed like the first', async () => {
    await send(env, `PATCH ${at}/a`, { metadata: { finalizers: ['a.dev/held'] } })
    await configure('scale.dev', 'fleets')
    expect(await send(env, `DELETE ${at}/a`)).toMatchObject({ code: 200 })
    expect(await send(env, `DELETE ${at}/a`)).toMatchObject({ code: 200, kind: 'Fleet' })
    expect(
      asked.map(({ path, request: { operation, oldObject } }) => [
        path,
        operation,
        'deletionTimestamp' in oldObject.metadata,
      ]),
    ).toEqual([
      ['/mutating', 'DELETE', false],
      ['/validating', 'DELETE', false],
      ['/mutating', 'DELETE', true],
      ['/validating', 'DELETE', true],
    ])
    await forbid('scale.dev', 'fleets', "request.operation != 'DELETE'")
    expect(await send(env, `DELETE ${at}/a`)).toMatchObject({ code: 422 })
  })
})
