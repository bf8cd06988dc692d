import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createHttpsWebhooks } from '../../shared/adapters/node/https-webhooks.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { startWebhookServer, type WebhookServer } from '../support/webhook-server.ts'
import { send, type Reply } from './support/policy-plane.ts'

/** A definition whose versions a webhook converts: sizes of v1 are amounts with a unit in v2, which is stored. */
let env: TestEnv
let server: WebhookServer
beforeAll(async () => {
  server = await startWebhookServer()
  env = await createTestEnv({ webhooks: createHttpsWebhooks() })
  server.answer = convertAll
  await send(env, `POST ${definitions}`, definition())
})
afterAll(async () => {
  await env.close()
  await server[Symbol.asyncDispose]()
})
afterEach(async () => {
  server.answer = convertAll
  for (const name of ['a', 'b']) await send(env, `DELETE ${at('v2')}/${name}`)
  server.asked.splice(0)
})

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const at = (version: string): string => `/apis/convert.dev/${version}/namespaces/default/things`

function definition(conversion?: object): object {
  const schemaOf = (spec: object): object => ({
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: spec },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  })
  const version = (name: string, storage: boolean, spec: object): object => ({
    name,
    served: true,
    storage,
    schema: schemaOf(spec),
    subresources: { status: {} },
  })
  const clientConfig = { url: `${server.url}/convert`, caBundle: server.caBundle }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.convert.dev' },
    spec: {
      group: 'convert.dev',
      scope: 'Namespaced',
      names: { kind: 'Thing', plural: 'things' },
      versions: [
        version('v2', true, {
          amount: { type: 'integer' },
          unit: { type: 'string', default: 'GB' },
          note: { type: 'string' },
        }),
        version('v1', false, { size: { type: 'string' } }),
      ],
      conversion: conversion ?? { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  }
}

interface Thing {
  readonly apiVersion: string
  readonly metadata: object
  readonly spec: { readonly size?: string; readonly amount?: number; readonly unit?: string }
}

const convertAll: WebhookServer['answer'] = ({ request }) =>
  reviewOf(
    request.uid,
    request.objects.map((thing: Thing) => convert(thing, request.desiredAPIVersion)),
  )

function convert({ spec, ...thing }: Thing, apiVersion: string): object {
  const [, amount = '0', unit = 'GB'] = /^(\d+)(.*)$/.exec(spec.size ?? '') ?? []
  const made =
    apiVersion === 'convert.dev/v1' ? { size: `${spec.amount}${spec.unit ?? ''}` } : { amount: Number(amount), unit }
  return { ...thing, apiVersion, spec: made }
}

function reviewOf(uid: string, convertedObjects: readonly object[], result: object = { status: 'Success' }) {
  const response = { uid, result, convertedObjects }
  return { body: JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response }) }
}

const thing = (version: string, spec: object, more: object = {}): object => ({
  apiVersion: `convert.dev/${version}`,
  kind: 'Thing',
  metadata: { name: 'a', ...more },
  spec,
})
const create = (version: string, spec: object, more: object = {}): Promise<Reply> =>
  send(env, `POST ${at(version)}`, thing(version, spec, more))
const get = (version: string, name = 'a'): Promise<Reply> => send(env, `GET ${at(version)}/${name}`)

describe('a webhook that converts', () => {
  it('is asked in both directions, with what it needs to know, and not where the version is the stored one', async () => {
    expect(await create('v1', { size: '5TB' })).toMatchObject({
      code: 201,
      apiVersion: 'convert.dev/v1',
      spec: { size: '5TB' },
    })
    expect(server.asked[0]?.body).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: {
        uid: expect.any(String) as unknown,
        desiredAPIVersion: 'convert.dev/v2',
        objects: [{ apiVersion: 'convert.dev/v1', kind: 'Thing', metadata: { name: 'a' }, spec: { size: '5TB' } }],
      },
    })
    server.asked.splice(0)
    expect((await get('v2')).spec).toEqual({ amount: 5, unit: 'TB' })
    expect(server.asked).toEqual([])
    expect((await get('v1')).spec).toEqual({ size: '5TB' })
  })

  it('converts updates, patches and applies in the other version, and dry runs', async () => {
    await create('v2', { amount: 1, unit: 'GB', note: 'kept' })
    expect(await send(env, `PATCH ${at('v1')}/a`, { spec: { size: '2TB' } })).toMatchObject({
      code: 200,
      spec: { size: '2TB' },
      metadata: { generation: 2 },
    })
    expect((await get('v2')).spec).toEqual({ amount: 2, unit: 'TB', note: 'kept' })
    const live = await get('v1')
    const replaced = await send(env, `PUT ${at('v1')}/a`, {
      ...thing('v1', { size: '3GB' }),
      metadata: { name: 'a', resourceVersion: live.metadata.resourceVersion },
    })
    expect(replaced).toMatchObject({ code: 200, spec: { size: '3GB' } })
    const path = `PATCH ${at('v1')}/a?fieldManager=m&force=true`
    const applied = await send(env, path, thing('v1', { size: '4GB' }), 'application/apply-patch+yaml')
    expect(applied).toMatchObject({ code: 200, spec: { size: '4GB' } })
    expect((await send(env, `PATCH ${at('v1')}/a?dryRun=All`, { spec: { size: '9GB' } })).spec).toEqual({ size: '9GB' })
    expect((await get('v2')).spec).toMatchObject({ amount: 4, unit: 'GB' })
    const status = await send(env, `PATCH ${at('v1')}/a/status`, { status: { a: 1 } })
    expect(status).toMatchObject({ code: 200, status: { a: 1 } })
  })

  it('gets the objects of a list together', async () => {
    await create('v2', { amount: 1 })
    await create('v2', { amount: 2 }, { name: 'b' })
    server.asked.splice(0)
    const { items } = await send(env, `GET ${at('v1')}`)
    expect(items.map(({ spec }: Thing) => spec.size)).toEqual(['1GB', '2GB'])
    expect(server.asked.map(({ body }) => body.request.objects.length)).toEqual([2])
  })

  it('may change labels and annotations, and nothing else of metadata', async () => {
    server.answer = ({ request }) =>
      reviewOf(
        request.uid,
        request.objects.map((one: Thing) => ({
          ...convert(one, request.desiredAPIVersion),
          metadata: { ...one.metadata, labels: { by: 'webhook' }, generation: 99, finalizers: ['x.dev/y'] },
        })),
      )
    await create('v2', { amount: 1 })
    expect((await get('v1')).metadata).toMatchObject({ labels: { by: 'webhook' }, generation: 1 })
    expect((await get('v1')).metadata.finalizers).toBe(undefined)
  })
})

describe('a webhook that makes an annotation of a field that one version lacks', () => {
  const note = 'convert.dev/note'
  beforeEach(async () => {
    server.answer = ({ request }) =>
      reviewOf(
        request.uid,
        request.objects.map((one: Thing) => withNote(one, request.desiredAPIVersion)),
      )
    await create('v2', { amount: 1, note: 'old' })
  })

  function withNote(one: Reply, apiVersion: string): object {
    const { [note]: said, ...others } = (one.metadata.annotations ?? {}) as Record<string, string>
    const { note: kept = said } = one.spec as { readonly note?: string }
    const isOld = apiVersion === 'convert.dev/v1'
    const made = convert(one, apiVersion) as { readonly spec: object }
    return {
      ...made,
      spec: { ...made.spec, ...(!isOld && { note: kept }) },
      metadata: { ...one.metadata, annotations: isOld ? { ...others, [note]: kept } : others },
    }
  }

  it('finds it no annotation in the other version, whatever of metadata is written', async () => {
    await send(env, `PATCH ${at('v1')}/a`, { metadata: { labels: { a: 'b' } } })
    await send(env, `PATCH ${at('v1')}/a`, { metadata: { finalizers: ['convert.dev/held'] } })
    const { spec, metadata } = await get('v2')
    expect(metadata).toMatchObject({ labels: { a: 'b' }, finalizers: ['convert.dev/held'], generation: 1 })
    expect([spec.note, metadata.annotations]).toEqual(['old', undefined])
    await send(env, `PATCH ${at('v1')}/a`, { metadata: { finalizers: null } })
  })

  it('finds the field changed by who changes the annotation', async () => {
    await send(env, `PATCH ${at('v1')}/a`, { metadata: { annotations: { [note]: 'new' } } })
    const { spec, metadata } = await get('v2')
    expect([spec.note, metadata.annotations, metadata.generation]).toEqual(['new', undefined, 2])
    expect((await get('v1')).metadata.annotations).toEqual({ [note]: 'new' })
  })
})

/** Its status is another one in each version, as its spec is. */
const convertWithStatus: WebhookServer['answer'] = ({ request }) =>
  reviewOf(
    request.uid,
    request.objects.map(({ status, ...one }: Thing & { readonly status?: object }) => ({
      ...convert(one, request.desiredAPIVersion),
      ...(status && { status: { in: request.desiredAPIVersion } }),
    })),
  )

describe('an object that is stored in a version of before', () => {
  const store = async (version: string): Promise<void> => {
    const { spec } = definition() as Reply
    const versions = spec.versions.map((one: Reply) => ({ ...one, storage: one['name'] === version }))
    expect(await send(env, `PATCH ${definitions}/things.convert.dev`, { spec: { versions } })).toMatchObject({
      code: 200,
    })
  }
  const migrate = (): Promise<Reply> => send(env, `POST ${definitions}/things.convert.dev/migrate`)
  afterEach(() => store('v2'))

  it('is stored in the present one by a migration', async () => {
    await create('v2', { amount: 1 })
    await store('v1')
    expect(await migrate()).toMatchObject({ version: 'v1', objects: 1, written: 1, failed: [] })
    expect(await migrate()).toMatchObject({ objects: 1, written: 0 })
    expect((await get('v1')).spec).toEqual({ size: '1GB' })
  })

  it('is stored in the present one by a write of its status', async () => {
    server.answer = convertWithStatus
    await create('v2', { amount: 1 })
    await store('v1')
    const status = { in: 'convert.dev/v1', by: 'a client' }
    expect(await send(env, `PATCH ${at('v1')}/a/status`, { status })).toMatchObject({ code: 200, status })
    expect(await migrate()).toMatchObject({ objects: 1, written: 0 })
    expect((await get('v1')).status).toEqual(status)
    expect((await get('v2')).status).toEqual({ in: 'convert.dev/v2' })
  })
})

it('a webhook of v1beta1 is asked in it, and needs no uid', async () => {
  const { clientConfig } = (definition() as Reply).spec.conversion.webhook
  const webhook = { clientConfig, conversionReviewVersions: ['v1beta1'] }
  const path = `${definitions}/things.convert.dev`
  const beta = { spec: { conversion: { strategy: 'Webhook', webhook } } }
  expect(await send(env, `PATCH ${path}`, beta)).toMatchObject({ code: 200 })
  server.answer = ({ request }) => {
    const convertedObjects = request.objects.map((one: Thing) => convert(one, request.desiredAPIVersion))
    return { body: JSON.stringify({ response: { result: { status: 'Success' }, convertedObjects } }) }
  }
  await create('v2', { amount: 3 })
  expect(await get('v1')).toMatchObject({ code: 200, spec: { size: '3GB' } })
  expect(server.asked[0]?.body).toMatchObject({ apiVersion: 'apiextensions.k8s.io/v1beta1', kind: 'ConversionReview' })
  expect(await send(env, `PATCH ${path}`, definition() as Reply)).toMatchObject({ code: 200 })
})

const bad: readonly { readonly what: string; readonly answer: WebhookServer['answer']; readonly says: string }[] = [
  { what: 'another status', answer: () => ({ status: 503, body: '' }), says: 'the server answered with status 503' },
  { what: 'another uid', answer: () => reviewOf('other', []), says: 'expected response.uid=' },
  {
    what: 'a failure',
    answer: ({ request }) => reviewOf(request.uid, [], { status: 'Failure', message: 'no such unit' }),
    says: 'no such unit',
  },
  { what: 'no objects', answer: ({ request }) => reviewOf(request.uid, []), says: 'returned 0 objects, expected 1' },
  {
    what: 'another version',
    answer: ({ request }) => reviewOf(request.uid, [{ ...request.objects[0], apiVersion: 'convert.dev/v9' }]),
    says: 'invalid groupVersion (expected convert.dev/v1, received "convert.dev/v9")',
  },
  {
    what: 'another name',
    answer: ({ request }) =>
      reviewOf(request.uid, [
        { ...convert(request.objects[0], 'convert.dev/v1'), metadata: { ...request.objects[0].metadata, name: 'c' } },
      ]),
    says: 'must have the same name',
  },
]

it.each(bad)('a webhook that answers with $what fails its kind, and no other', async ({ answer, says }) => {
  await create('v2', { amount: 1 })
  server.answer = answer
  for (const path of [`GET ${at('v1')}/a`, `GET ${at('v1')}`]) {
    const failed = await send(env, path)
    expect(failed).toMatchObject({ kind: 'Status', code: 500, reason: 'InternalError' })
    expect(failed.message).toContain('conversion webhook for convert.dev/v2, Kind=Thing failed: ')
    expect(failed.message).toContain(says)
  }
  expect(await get('v2')).toMatchObject({ code: 200, spec: { amount: 1 } })
  expect(await send(env, `GET ${definitions}/things.convert.dev`)).toMatchObject({ code: 200 })
  expect(await send(env, `DELETE ${at('v2')}/a`)).toMatchObject({ code: 200 })
})

it('what webhooks have made is asked for once, whoever reads it', async () => {
  await create('v2', { amount: 1 })
  server.asked.splice(0)
  await get('v1')
  await get('v1')
  await send(env, `GET ${at('v1')}`)
  expect(server.asked.length).toBeLessThanOrEqual(1)
})

const faults: readonly { readonly what: string; readonly conversion: object; readonly says: string }[] = [
  {
    what: 'no webhook',
    conversion: { strategy: 'Webhook' },
    says: 'spec.conversion.webhook: Required value: required when strategy is set to Webhook',
  },
  {
    what: 'a webhook and no strategy for it',
    conversion: { strategy: 'None', webhook: {} },
    says: 'should not be set when strategy is not set to Webhook',
  },
  {
    what: 'a service',
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { service: { name: 'a', namespace: 'b' } }, conversionReviewVersions: ['v1'] },
    },
    says: 'spec.conversion.webhook.clientConfig.service: Forbidden: there is no network of a cluster',
  },
  {
    what: 'another version',
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://a.dev' }, conversionReviewVersions: ['v2'] },
    },
    says: 'must include at least one of v1, v1beta1',
  },
]

it.each(faults)('a conversion with $what is refused', async ({ conversion, says }) => {
  const { code, message } = await send(env, `POST ${definitions}`, definition(conversion))
  expect(code).toBe(422)
  expect(message).toContain(says)
})
