import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Disk, disks } from '../../examples/disk/disk.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { readManifests } from '../support/api-client.ts'
import { policyRoot, pool, poolRules, pools, poolsAt, send, type Reply } from './support/policy-plane.ts'

/** MutatingAdmissionPolicies over a kind of users' own, in Kubernetes' words. */
let env: TestEnv
beforeAll(async () => {
  env = await createTestEnv({ reconcilers: [pools] })
})
afterAll(() => env.close())

const bound: string[] = []

async function bind(name: string, spec: object, binding: object = {}, match: object = {}): Promise<void> {
  bound.push(name)
  const made = await send(env, `POST ${policyRoot}/mutatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: poolRules('CREATE', 'UPDATE'), ...match },
      reinvocationPolicy: 'Never',
      ...spec,
    },
  })
  expect(made).toMatchObject({ code: 201 })
  const tied = await send(env, `POST ${policyRoot}/mutatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, ...binding },
  })
  expect(tied).toMatchObject({ code: 201 })
}

afterEach(async () => {
  for (const name of bound.splice(0)) {
    await send(env, `DELETE ${policyRoot}/mutatingadmissionpolicies/${name}`)
    await send(env, `DELETE ${policyRoot}/mutatingadmissionpolicybindings/${name}`)
  }
  await send(env, `DELETE ${poolsAt}/x`)
})

const applying = (expression: string): object => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
})
const patching = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
const create = (spec: object, more: object = {}): Promise<Reply> => send(env, `POST ${poolsAt}`, pool(spec, more))
const get = (): Promise<Reply> => send(env, `GET ${poolsAt}/x`)

describe('a policy that changes objects', () => {
  it('lays an apply configuration over what is created, item by item of lists with keys', async () => {
    await bind('p', {
      variables: [{ name: 'owner', expression: 'request.userInfo.username' }],
      mutations: [
        applying(`Object{
          metadata: Object.metadata{labels: {"tier": "gold"}},
          spec: Object.spec{owner: variables.owner, items: [Object.spec.items{name: "b", size: 7}, Object.spec.items{name: "c"}]}
        }`),
      ],
    })
    expect(await create({ replicas: 1, items: [{ name: 'a' }, { name: 'b' }] })).toMatchObject({ code: 201 })
    expect(await get()).toMatchObject({
      metadata: { generation: 1, labels: { tier: 'gold' } },
      spec: {
        replicas: 1,
        owner: 'test',
        items: [
          { name: 'a', size: 1 },
          { name: 'b', size: 7 },
          { name: 'c', size: 1 },
        ],
      },
    })
  })

  it('patches, with keys that it escapes, and sees what the mutation before it made', async () => {
    await bind('p', {
      mutations: [
        applying('Object{metadata: Object.metadata{annotations: {"a": "1"}}}'),
        patching(`[
          JSONPatch{op: "test", path: "/metadata/annotations/a", value: "1"},
          JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("x.dev/y"), value: jsonpatch.escapeKey("~/") + object.metadata.annotations.a},
          JSONPatch{op: "replace", path: "/spec", value: Object.spec{replicas: object.spec.replicas + 1}}
        ]`),
        patching('[JSONPatch{op: "test", path: "/spec/replicas", value: 99}, JSONPatch{op: "remove", path: "/spec"}]'),
      ],
    })
    expect(await create({ replicas: 1, owner: 'me' })).toMatchObject({ code: 201 })
    const { metadata, spec } = await get()
    expect(metadata.annotations).toMatchObject({ a: '1', 'x.dev/y': '~0~11' })
    expect(spec).toEqual({ replicas: 2 })
  })

  it('changes an update, whose generation moves once, and a server-side apply, and owns nothing', async () => {
    await create({ replicas: 1 })
    await bind('p', { mutations: [applying('Object{spec: Object.spec{owner: "policy"}}')] })
    expect(await send(env, `PATCH ${poolsAt}/x`, { spec: { replicas: 2 } })).toMatchObject({
      metadata: { generation: 2 },
      spec: { replicas: 2, owner: 'policy' },
    })
    const dry = await send(env, `PATCH ${poolsAt}/x?dryRun=All`, { spec: { owner: 'me' } })
    expect(dry.spec).toEqual({ replicas: 2, owner: 'policy' })
    const path = `PATCH ${poolsAt}/x?fieldManager=a&force=true`
    await send(env, `DELETE ${poolsAt}/x`)
    await send(env, path, pool({ replicas: 2 }), 'application/apply-patch+yaml')
    const applied = await send(env, path, pool({ replicas: 3 }), 'application/apply-patch+yaml')
    expect(applied.spec).toEqual({ replicas: 3, owner: 'policy' })
    expect(JSON.stringify(applied.metadata.managedFields)).not.toContain('f:owner')
  })

  it('cannot change what is not a writer’s: the status by the object, the name, the uid', async () => {
    await bind('p', {
      mutations: [patching('[JSONPatch{op: "add", path: "/status", value: {"a": "b"}}]')],
    })
    expect(await create({ replicas: 1 })).toMatchObject({ code: 201 })
    expect((await get()).status?.a).toBe(undefined)
    await bind('q', { mutations: [patching('[JSONPatch{op: "replace", path: "/metadata/name", value: "y"}]')] })
    expect(await send(env, `PATCH ${poolsAt}/x`, { spec: { replicas: 2 } })).toMatchObject({ code: 403 })
  })

  it('is asked again, if it wants, once others have changed the object', async () => {
    const count = (name: string) =>
      applying(
        `Object{metadata: Object.metadata{annotations: {"${name}": string(int(object.metadata.?annotations["${name}"].orValue("0")) + 1)}}}`,
      )
    await bind('a', { mutations: [count('a')], reinvocationPolicy: 'IfNeeded' })
    await bind('b', { mutations: [count('b')] })
    await create({ replicas: 1 })
    expect((await get()).metadata.annotations).toMatchObject({ a: '2', b: '1' })
  })

  it('takes parameters and conditions, and holds where its binding matches', async () => {
    const data = { owner: 'params' }
    await send(env, 'POST /api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'owners' },
      data,
    })
    await bind(
      'p',
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        matchConditions: [{ name: 'small', expression: 'object.spec.replicas < 3' }],
        mutations: [applying('Object{spec: Object.spec{owner: params.data.owner}}')],
      },
      {
        paramRef: { name: 'owners', parameterNotFoundAction: 'Deny' },
        matchResources: { objectSelector: { matchLabels: { on: 'yes' } } },
      },
    )
    await create({ replicas: 1 })
    expect((await get()).spec.owner).toBe(undefined)
    const on = { metadata: { labels: { on: 'yes' } } }
    expect((await send(env, `PATCH ${poolsAt}/x`, on)).spec.owner).toBe('params')
    const cleared = { spec: { replicas: 3, owner: null } }
    expect((await send(env, `PATCH ${poolsAt}/x`, cleared)).spec.owner).toBe(undefined)
    await send(env, 'DELETE /api/v1/namespaces/default/configmaps/owners')
    expect(await send(env, `PATCH ${poolsAt}/x`, { spec: { replicas: 1 } })).toMatchObject({
      code: 403,
      message:
        "policy 'p' with binding 'p' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    })
  })

  it('is held against the schema of the kind and against validating policies, as what its author wrote', async () => {
    await bind('p', { mutations: [applying('Object{spec: Object.spec{replicas: 1.5}}')] })
    expect(await create({ replicas: 1 })).toMatchObject({ code: 422, reason: 'Invalid' })
  })

  it('has a budget of steps for all that is asked, which bounds how often a large object is copied', async () => {
    const many = Array.from({ length: 60 }, (_, i) => applying(`Object{spec: Object.spec{replicas: ${i}}}`))
    await bind('p', { mutations: many })
    expect(await create({ replicas: 1, owner: 'o'.repeat(200_000) })).toMatchObject({
      code: 413,
      message: expect.stringContaining('take more work than one request may have') as unknown,
    })
    await send(env, `DELETE ${policyRoot}/mutatingadmissionpolicies/p`)
  })

  it('is served in the older versions, too', async () => {
    await bind('p', { mutations: [applying('Object{}')] })
    for (const version of ['v1beta1', 'v1alpha1'])
      expect(
        await send(env, `GET /apis/admissionregistration.k8s.io/${version}/mutatingadmissionpolicies/p`),
      ).toMatchObject({ apiVersion: `admissionregistration.k8s.io/${version}`, spec: { reinvocationPolicy: 'Never' } })
  })
})

const failures: readonly { readonly what: string; readonly mutation: object; readonly says: string }[] = [
  {
    what: 'a type of another place',
    mutation: applying('Object{spec: Object.wrong{}}'),
    says: 'type mismatch: unexpected type name "Object.wrong", expected "Object.spec", which matches field name path from root Object type',
  },
  {
    what: 'a list that is replaced whole',
    mutation: applying('Object{spec: Object.spec{tags: ["a"]}}'),
    says: 'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.tags',
  },
  {
    what: 'a field that the kind does not have',
    mutation: applying('Object{spec: Object.spec{nope: 1}}'),
    says: 'error applying patch: failed to convert patch object to typed object: .spec.nope: field not declared in schema',
  },
  {
    what: 'a patch that does not fit',
    mutation: patching('[JSONPatch{op: "remove", path: "/spec/nope"}]'),
    says: 'the JSON patch does not fit the object',
  },
  {
    what: 'a field that is not there',
    mutation: applying('Object{spec: Object.spec{owner: object.spec.owner}}'),
    says: 'no such key: owner',
  },
]

it.each(failures)('a mutation fails: $what', async ({ mutation, says }) => {
  await bind('p', { mutations: [mutation] })
  const answer = await create({ replicas: 1 })
  expect(answer).toMatchObject({ code: 403, reason: 'Invalid' })
  expect(answer.message).toContain(`policy 'p' with binding 'p' denied request: ${says}`)
  await bind('ignored', { mutations: [mutation], failurePolicy: 'Ignore' })
  await send(env, `DELETE ${policyRoot}/mutatingadmissionpolicies/p`)
  expect(await create({ replicas: 1 })).toMatchObject({ code: 201 })
})

const faults: readonly { readonly what: string; readonly spec: object; readonly says: string }[] = [
  {
    what: 'no mutations',
    spec: { mutations: [] },
    says: 'spec.mutations: Required value: mutations must contain at least one item',
  },
  {
    what: 'a configuration that is no Object',
    spec: { mutations: [applying('{"a": 1}')] },
    says: 'spec.mutations[0].applyConfiguration.expression: Invalid value: "{\\"a\\": 1}": compilation failed: ERROR: <input>:1:1: must evaluate to Object but got map(string, int)',
  },
  {
    what: 'a patch that is no list of JSONPatch',
    spec: { mutations: [patching('[1]')] },
    says: 'must evaluate to list(JSONPatch) but got list(int)',
  },
  {
    what: 'another field in a JSONPatch',
    spec: { mutations: [patching('[JSONPatch{ops: "add"}]')] },
    says: "undefined field 'ops'",
  },
  {
    what: 'another type in a JSONPatch',
    spec: { mutations: [patching('[JSONPatch{op: 1}]')] },
    says: "expected type of field 'op' is 'string' but provided type is 'int'",
  },
  {
    what: 'an object of another type',
    spec: { mutations: [applying('Thing{}')] },
    says: "undeclared reference to 'Thing' (in container '')",
  },
  {
    what: 'no expression of its type',
    spec: { mutations: [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } }] },
    says: 'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
  },
  {
    what: 'deletions',
    spec: { mutations: [applying('Object{}')], matchConstraints: { resourceRules: poolRules('DELETE') } },
    says: 'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE"',
  },
]

it.each(faults)('a policy with $what is refused', async ({ spec, says }) => {
  const { code, message } = await send(env, `POST ${policyRoot}/mutatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicy',
    metadata: { name: 'faulty' },
    spec: { matchConstraints: { resourceRules: poolRules('*') }, reinvocationPolicy: 'Never', ...spec },
  })
  expect(code).toBe(422)
  expect(message).toContain(says)
})

it('the policy of the example writes down who made a disk', async () => {
  await using example = await createTestEnv({ reconcilers: [disks] })
  for (const manifest of readManifests('examples/disk/mutating-policy.yaml'))
    await example.applyManifest(manifest as never)
  const made = await example.apply(Disk, { metadata: { name: 'a' }, spec: { gigabytes: 1 } })
  expect(made.metadata.annotations?.['example.dev/made-by']).toBe('test')
})
