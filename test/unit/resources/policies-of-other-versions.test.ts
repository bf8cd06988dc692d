import { afterEach, expect, it } from 'vitest'
import { createHarness, type Harness } from '../api/harness.ts'

/** A definition of two versions without conversion, and policies that change its objects. */
let harness: Harness
afterEach(() => harness.close())

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const registration = '/apis/admissionregistration.k8s.io/v1'
const v1 = '/apis/example.com/v1/namespaces/default/bells'
const fields = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { type: 'string' }]))
const schema = {
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: fields } } },
}

async function open(apiVersions: readonly string[], mutations: readonly object[]): Promise<void> {
  harness = await createHarness()
  const versions = ['v1', 'v1beta1'].map((name) => ({ name, served: true, storage: name === 'v1', schema }))
  const send = async (path: string, body: object) =>
    expect((await harness.send(`POST ${path}`, { body: body as never })).status).toBe(201)
  await send(crds, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'bells.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names: { kind: 'Bell', plural: 'bells' }, versions },
  })
  await send(`${registration}/mutatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec: {
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [{ apiGroups: ['example.com'], apiVersions, operations: ['*'], resources: ['bells'] }],
      },
      mutations,
    },
  })
  await send(`${registration}/mutatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name: 'p' },
    spec: { policyName: 'p' },
  })
}

const laid = {
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression: 'Object{spec: Object.spec{c: "p"}}' },
}
const patched = (field: string) => ({
  patchType: 'JSONPatch',
  jsonPatch: { expression: `[JSONPatch{op: "add", path: "/spec/${field}", value: "p"}]` },
})

const post = (version: string) =>
  harness.send(`POST ${v1.replace('v1', version)}`, {
    body: { apiVersion: `example.com/${version}`, kind: 'Bell', metadata: { name: 'x' }, spec: { a: '1', b: '2' } },
  })

it.each([
  {
    what: 'what is laid over it, asked in the other one',
    rule: '*',
    mutations: [laid],
    asked: 'v1beta1',
    made: { c: 'p' },
  },
  { what: 'what is laid over it, by the other one', rule: 'v1beta1', mutations: [laid], asked: 'v1', made: { c: 'p' } },
  { what: 'one JSON patch', rule: '*', mutations: [patched('c')], asked: 'v1beta1', made: { c: 'p' } },
  {
    what: 'two JSON patches',
    rule: '*',
    mutations: [patched('c'), patched('d')],
    asked: 'v1beta1',
    made: { c: 'p', d: 'p' },
  },
])('a policy changes an object in the version of its rule: $what', async ({ rule, mutations, asked, made }) => {
  await open([rule], mutations)
  const { status, body } = await post(asked)
  expect([status, body.message]).toEqual([201, undefined])
  expect(body.spec).toEqual({ a: '1', b: '2', ...made })
  const path = `PATCH ${v1.replace('v1', asked)}/x`
  const again = await harness.send(path, { type: 'application/merge-patch+json', body: { spec: { a: '5' } } })
  expect([again.status, again.body.spec]).toEqual([200, { a: '5', b: '2', ...made }])
})
