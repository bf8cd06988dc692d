import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defineKind, defineReconciler, done } from '../../shared/index.ts'
import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { policyRoot, send, type Reply } from './support/policy-plane.ts'

/**
 * Rules that speak of one version of a kind, and requests in another: with `Equivalent` policies and webhooks get the
 * objects in the version of the rule, whoever converts them, and what they change goes back.
 */
/** Sizes in v1, gigabytes in v2, converted by functions. */
function defineDisk(kind: string, hooks: { readonly validate?: () => readonly [] }) {
  return defineKind({
    group: 'equal.dev',
    kind,
    version: 'v2',
    spec: z.object({ gigabytes: z.number().int(), tier: z.string().default('slow') }),
    olderVersions: (older) => [
      older('v1', {
        spec: z.object({ size: z.string(), tier: z.string().default('slow') }),
        upgrade: ({ spec: { size, tier } }) => ({ spec: { gigabytes: Number.parseInt(size, 10), tier } }),
        downgrade: ({ spec: { gigabytes, tier } }) => ({ spec: { size: `${gigabytes}G`, tier } }),
      }),
    ],
    ...hooks,
  })
}
const disks = defineReconciler(defineDisk('Disk', {}), { reconcile: async () => done() })
const tapes = defineReconciler(defineDisk('Tape', { validate: () => [] }), { reconcile: async () => done() })

interface Asked {
  readonly path: string
  readonly request: Reply
}

const asked: Asked[] = []
/** What the webhook at a path patches. */
let patches: Readonly<Record<string, readonly object[]>> = {}

async function post({ url, body }: { readonly url: string; readonly body: string }): Promise<string> {
  const { request, kind }: Reply = JSON.parse(body)
  const path = new URL(url).pathname
  if (kind === 'ConversionReview') return convertThings(request)
  asked.push({ path, request })
  const operations = patches[path]
  const patch = operations && {
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
  }
  const response = { uid: request.uid, allowed: true, ...patch }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
}

/** Things, as disks are: sizes in v1, gigabytes in v2. */
function convertThings({ uid, desiredAPIVersion, objects }: Reply): string {
  const convertedObjects = objects.map(({ spec: { size, gigabytes, tier }, ...thing }: Reply) => ({
    ...thing,
    apiVersion: desiredAPIVersion,
    spec:
      desiredAPIVersion === 'equal.dev/v1'
        ? { size: size ?? `${gigabytes}G`, tier }
        : { gigabytes: gigabytes ?? Number.parseInt(size, 10), tier },
  }))
  const response = { uid, result: { status: 'Success' }, convertedObjects }
  return JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response })
}

function definitionOf(kind: string, conversion: object): object {
  const version = (name: string, storage: boolean): object => ({
    name,
    served: true,
    storage,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: {
            type: 'object',
            properties: {
              size: { type: 'string' },
              gigabytes: { type: 'integer' },
              tier: { type: 'string', default: 'slow' },
            },
          },
        },
      },
    },
  })
  const plural = `${kind.toLowerCase()}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.equal.dev` },
    spec: {
      group: 'equal.dev',
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [version('v2', true), version('v1', false)],
      conversion,
    },
  }
}

const rules = (version: string, plural: string) => [
  { apiGroups: ['equal.dev'], apiVersions: [version], operations: ['*'], resources: [plural] },
]

function configurationOf(type: 'Mutating' | 'Validating', plural: string): object {
  const hook = (path: string, more: object): object => ({
    name: `${path}.${plural}.dev`,
    clientConfig: { url: `https://hooks.dev/${type}/${path}` },
    rules: rules('v2', plural),
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  })
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${type}WebhookConfiguration`,
    metadata: { name: plural },
    webhooks: [hook('equal', {}), hook('exact', { matchPolicy: 'Exact' }), hook('own', { rules: rules('v1', plural) })],
  }
}

const policyOf = (plural: string, spec: object, kind: string): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: `${plural}.dev` },
  spec: { matchConstraints: { resourceRules: rules('v2', plural) }, ...spec },
})
const bindingOf = (plural: string, spec: object, kind: string): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind,
  metadata: { name: plural },
  spec: { policyName: `${plural}.dev`, ...spec },
})

const engines = [
  { engine: 'SQLite', options: {} },
  { engine: 'DynamoDB', options: { engine: awsEngine } },
] as const

describe.each(engines)('on $engine', ({ options }) => {
  let env: TestEnv
  beforeAll(async () => {
    env = await createTestEnv({ reconcilers: [disks, tapes], webhooks: { post }, ...options })
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const webhook = { clientConfig: { url: 'https://convert.dev' }, conversionReviewVersions: ['v1'] }
    await send(env, `POST ${definitions}`, definitionOf('Thing', { strategy: 'Webhook', webhook }))
    await send(env, `POST ${definitions}`, definitionOf('Plain', { strategy: 'None' }))
  })
  afterAll(() => env.close())

  const at = (version: string, plural: string): string => `/apis/equal.dev/${version}/namespaces/default/${plural}`
  const body = (version: string, kind: string, spec: object): object => ({
    apiVersion: `equal.dev/${version}`,
    kind,
    metadata: { name: 'a' },
    spec,
  })

  const converted = [
    { who: 'functions', kind: 'Disk', plural: 'disks' },
    { who: 'functions beside hooks', kind: 'Tape', plural: 'tapes' },
    { who: 'a webhook', kind: 'Thing', plural: 'things' },
  ]

  it.each(converted)('webhooks get what $who convert, and change it', async ({ kind, plural }) => {
    for (const type of ['Mutating', 'Validating'] as const) {
      const made = await send(
        env,
        `POST ${policyRoot}/${type.toLowerCase()}webhookconfigurations`,
        configurationOf(type, plural),
      )
      expect(made).toMatchObject({ code: 201 })
    }
    patches = { '/Mutating/equal': [{ op: 'replace', path: '/spec/gigabytes', value: 7 }] }
    asked.length = 0
    const sent = body('v1', kind, { size: '5G' })
    expect(await send(env, `POST ${at('v1', plural)}`, sent)).toMatchObject({ code: 201, spec: { size: '7G' } })
    expect(await send(env, `GET ${at('v2', plural)}/a`)).toMatchObject({ spec: { gigabytes: 7, tier: 'slow' } })
    const seen = asked.map(({ path, request: { kind: of, requestKind, resource, requestResource, object } }) => [
      path,
      [of.version, requestKind.version, resource.version, requestResource.version, object.apiVersion],
      object.spec,
    ])
    const inTwo = ['v2', 'v1', 'v2', 'v1', 'equal.dev/v2']
    const inOne = ['v1', 'v1', 'v1', 'v1', 'equal.dev/v1']
    expect(seen).toEqual([
      ['/Mutating/equal', inTwo, { gigabytes: 5, tier: 'slow' }],
      ['/Mutating/own', inOne, { size: '7G', tier: 'slow' }],
      ['/Validating/equal', inTwo, { gigabytes: 7, tier: 'slow' }],
      ['/Validating/own', inOne, { size: '7G', tier: 'slow' }],
    ])
    patches = {}
    asked.length = 0
    expect(await send(env, `PATCH ${at('v1', plural)}/a`, { spec: { tier: 'fast' } })).toMatchObject({ code: 200 })
    const [update] = asked
    expect(update).toMatchObject({
      path: '/Mutating/equal',
      request: {
        object: { spec: { gigabytes: 7, tier: 'fast' } },
        oldObject: { spec: { gigabytes: 7, tier: 'slow' } },
      },
    })
    asked.length = 0
    expect(await send(env, `DELETE ${at('v1', plural)}/a`)).toMatchObject({ code: 200 })
    expect(asked[0]?.request).toMatchObject({ kind: { version: 'v2' }, oldObject: { spec: { gigabytes: 7 } } })
    for (const type of ['mutating', 'validating'])
      await send(env, `DELETE ${policyRoot}/${type}webhookconfigurations/${plural}`)
  })

  it.each(converted)('policies see what $who convert, and change it', async ({ kind, plural }) => {
    const validations = [
      { expression: 'object.spec.gigabytes < 100', messageExpression: 'request.requestKind.version' },
    ]
    const jsonPatch = {
      expression: "[JSONPatch{op: 'replace', path: '/spec/gigabytes', value: object.spec.gigabytes * 2}]",
    }
    const mutating = {
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch }],
    }
    const made = [
      ['validatingadmissionpolicies', policyOf(plural, { validations }, 'ValidatingAdmissionPolicy')],
      [
        'validatingadmissionpolicybindings',
        bindingOf(plural, { validationActions: ['Deny'] }, 'ValidatingAdmissionPolicyBinding'),
      ],
      ['mutatingadmissionpolicies', policyOf(plural, mutating, 'MutatingAdmissionPolicy')],
      ['mutatingadmissionpolicybindings', bindingOf(plural, {}, 'MutatingAdmissionPolicyBinding')],
    ] as const
    for (const [path, sent] of made)
      expect(await send(env, `POST ${policyRoot}/${path}`, sent)).toMatchObject({ code: 201 })
    const denied = await send(env, `POST ${at('v1', plural)}`, body('v1', kind, { size: '50G' }))
    expect(denied).toMatchObject({ code: 422 })
    expect(denied.message).toMatch(/denied request: v1$/)
    expect(await send(env, `POST ${at('v1', plural)}`, body('v1', kind, { size: '20G' }))).toMatchObject({
      code: 201,
      spec: { size: '40G' },
    })
    for (const [path, sent] of made) await send(env, `DELETE ${policyRoot}/${path}/${(sent as Reply).metadata.name}`)
    await send(env, `DELETE ${at('v1', plural)}/a`)
  })

  it('versions without a conversion differ in the name', async () => {
    expect(
      await send(env, `POST ${policyRoot}/mutatingwebhookconfigurations`, configurationOf('Mutating', 'plains')),
    ).toMatchObject({ code: 201 })
    patches = { '/Mutating/equal': [{ op: 'add', path: '/spec/tier', value: 'fast' }] }
    asked.length = 0
    const sent = body('v1', 'Plain', { size: '5G' })
    expect(await send(env, `POST ${at('v1', 'plains')}`, sent)).toMatchObject({
      code: 201,
      apiVersion: 'equal.dev/v1',
      spec: { size: '5G', tier: 'fast' },
    })
    expect(asked.map(({ path, request: { kind, object } }) => [path, kind.version, object.apiVersion])).toEqual([
      ['/Mutating/equal', 'v2', 'equal.dev/v2'],
      ['/Mutating/own', 'v1', 'equal.dev/v1'],
    ])
    expect(await send(env, `GET ${at('v2', 'plains')}/a`)).toMatchObject({ apiVersion: 'equal.dev/v2' })
    await send(env, `DELETE ${policyRoot}/mutatingwebhookconfigurations/plains`)
  })
})
