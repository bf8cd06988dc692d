import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Disk, disks } from '../../examples/disk/disk.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { readManifests } from '../support/api-client.ts'
import { policyRoot, pool, poolRules, pools, poolsAt, send as sendTo, type Reply } from './support/policy-plane.ts'

/** ValidatingAdmissionPolicies over a kind of users' own, in Kubernetes' words. */
let env: TestEnv
beforeAll(async () => {
  env = await createTestEnv({ reconcilers: [pools] })
})
afterAll(() => env.close())

const send = (line: string, sent?: object): Promise<Reply> => sendTo(env, line, sent)
const rules = poolRules('*')

async function bind(spec: object, binding: object = {}, match: object = {}): Promise<void> {
  await send(`DELETE ${policyRoot}/validatingadmissionpolicies/p`)
  await send(`DELETE ${policyRoot}/validatingadmissionpolicybindings/b`)
  const constraints = { matchConstraints: { resourceRules: rules, ...match } }
  const made = await send(`POST ${policyRoot}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec: { ...constraints, ...spec },
  })
  expect(made.code).toBe(201)
  const bound = await send(`POST ${policyRoot}/validatingadmissionpolicybindings`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'b' },
    spec: { policyName: 'p', validationActions: ['Deny'], ...binding },
  })
  expect(bound.code).toBe(201)
}

const ofNobody = { apiGroups: ['nobody.dev'], apiVersions: ['v1'], operations: ['*'], resources: ['nothings'] }

const create = (replicas: number, more: object = {}): Promise<Reply> =>
  send(`POST ${poolsAt}`, pool({ replicas }, more))

beforeEach(async () => {
  await bind({ validations: [{ expression: 'true' }] }, {}, { resourceRules: [ofNobody] })
  await send(`DELETE ${poolsAt}/x`)
})

const denied = (why: string) => ({
  kind: 'Status',
  code: 422,
  reason: 'Invalid',
  message: `pools.test.setpoint.dev "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${why}`,
})

describe('a policy', () => {
  it('denies a creation and an update, in the words of Kubernetes, and a dry run', async () => {
    await bind({ validations: [{ expression: 'object.spec.replicas <= 5' }] })
    const message = `ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: object.spec.replicas <= 5`
    expect(await create(6)).toMatchObject({
      ...denied('failed expression: object.spec.replicas <= 5'),
      details: { name: 'x', group: 'test.setpoint.dev', kind: 'pools', causes: [{ message }] },
    })
    expect(await create(5)).toMatchObject({ code: 201 })
    expect(await send(`PATCH ${poolsAt}/x`, { spec: { replicas: 6 } })).toMatchObject({ code: 422 })
    expect(await send(`PATCH ${poolsAt}/x?dryRun=All`, { spec: { replicas: 6 } })).toMatchObject({ code: 422 })
    expect(await send(`PATCH ${poolsAt}/x`, { spec: { replicas: 4 } })).toMatchObject({ code: 200 })
  })

  it('sees the object before, the request, its namespace and variables', async () => {
    await bind({
      variables: [
        { name: 'before', expression: 'oldObject == null ? 0 : oldObject.spec.replicas' },
        { name: 'grows', expression: 'object.spec.replicas >= variables.before' },
      ],
      validations: [
        {
          expression: 'request.operation == "DELETE" || variables.grows',
          messageExpression: '"not below " + string(variables.before)',
        },
        { expression: 'request.userInfo.username == "test" && request.namespace == "default"' },
        { expression: 'namespaceObject.metadata.name == "default"' },
        { expression: 'request.resource.resource == "pools" && request.kind.kind == "Pool"' },
      ],
    })
    expect((await create(3)).message).toBe(undefined)
    expect(await send(`PATCH ${poolsAt}/x`, { spec: { replicas: 2 } })).toMatchObject(denied('not below 3'))
    expect(await send(`DELETE ${poolsAt}/x`)).toMatchObject({ code: 200 })
  })

  it('denies an update that changes nothing, too', async () => {
    await create(1)
    await bind({ validations: [{ expression: 'request.operation != "UPDATE"', message: 'never' }] })
    expect(await send(`PATCH ${poolsAt}/x`, { spec: { replicas: 1 } })).toMatchObject(denied('never'))
    const live = await send(`GET ${poolsAt}/x`)
    expect(await send(`PUT ${poolsAt}/x`, live)).toMatchObject(denied('never'))
    expect(await send(`PATCH ${poolsAt}/x/status`, { status: {} })).toMatchObject({ code: 200 })
  })

  it('asks who may do what, with selectors that roles know nothing of', async () => {
    const check = 'authorizer.group("test.setpoint.dev").resource("pools").namespace("default")'
    const selected = `${check}.fieldSelector("metadata.name=x").labelSelector("a=b").check("list")`
    await bind({
      validations: [
        { expression: `${selected}.allowed() == ${check}.check("list").allowed()` },
        { expression: `!authorizer.requestResource.labelSelector("a in (").check("get").errored()` },
      ],
    })
    expect((await create(1)).message).toBe(undefined)
  })

  it('denies a deletion, with the reason that it gives', async () => {
    await bind({
      validations: [
        {
          expression: 'request.operation != "DELETE" || oldObject.spec.replicas == 0',
          message: 'scale it down',
          reason: 'Forbidden',
        },
      ],
    })
    await create(1)
    expect(await send(`DELETE ${poolsAt}/x`)).toMatchObject({
      ...denied('scale it down'),
      code: 403,
      reason: 'Forbidden',
    })
    await send(`PATCH ${poolsAt}/x`, { spec: { replicas: 0 } })
    expect(await send(`DELETE ${poolsAt}/x`)).toMatchObject({ code: 200 })
  })

  it('warns where its binding says so', async () => {
    await bind({ validations: [{ expression: 'false', message: 'mind' }] }, { validationActions: ['Warn'] })
    const made = await create(1)
    expect(made.code).toBe(201)
    expect(made.warnings).toContain("Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': mind")
  })

  it('counts what an expression fails to say by its failurePolicy', async () => {
    const validations = [{ expression: 'object.spec.missing == 1' }]
    await bind({ validations })
    expect(await create(1)).toMatchObject(
      denied("expression 'object.spec.missing == 1' resulted in error: no such key: missing"),
    )
    await bind({ validations, failurePolicy: 'Ignore' })
    expect(await create(1)).toMatchObject({ code: 201 })
  })

  it('is asked where its conditions and selectors match', async () => {
    const creations = { resourceRules: poolRules('CREATE') }
    const validations = [{ expression: 'false', message: 'no' }]
    await bind(
      { validations, matchConditions: [{ name: 'large', expression: 'object.spec.replicas > 5' }] },
      {},
      creations,
    )
    expect(await create(6)).toMatchObject(denied('no'))
    expect(await create(1)).toMatchObject({ code: 201 })
    await send(`DELETE ${poolsAt}/x`)
    await bind({ validations }, {}, { ...creations, objectSelector: { matchLabels: { strict: 'yes' } } })
    expect(await create(1, { labels: { strict: 'yes' } })).toMatchObject(denied('no'))
    expect(await create(1)).toMatchObject({ code: 201 })
    await send(`DELETE ${poolsAt}/x`)
    await bind({ validations }, { matchResources: { namespaceSelector: { matchLabels: { tier: 'gold' } } } })
    expect(await create(1)).toMatchObject({ code: 201 })
  })

  it('selects namespaces by their own labels', async () => {
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE', 'DELETE'], resources: ['namespaces'] }
    await bind(
      { validations: [{ expression: 'request.namespace == ""', message: 'it is protected' }] },
      { matchResources: { namespaceSelector: { matchLabels: { protected: 'yes' } } } },
      { resourceRules: [rule] },
    )
    const spaces = '/api/v1/namespaces'
    for (const name of ['plain', 'dear']) await send(`POST ${spaces}`, { metadata: { name } })
    await send(`PATCH ${spaces}/plain`, { metadata: { labels: { a: 'b' } } })
    const metadata = { labels: { protected: 'yes' } }
    expect(await send(`PATCH ${spaces}/dear`, { metadata })).toMatchObject({ code: 422 })
    await send(`POST ${spaces}`, { metadata: { name: 'kept', ...metadata } })
    expect(await send(`DELETE ${spaces}/kept`)).toMatchObject({ code: 422 })
    expect(await send(`DELETE ${spaces}/plain`)).toMatchObject({ code: 200 })
  })

  it('judges the status only where it asks for it', async () => {
    const status = [{ ...rules[0], resources: ['pools/status'] }]
    await bind(
      { validations: [{ expression: 'request.subResource == ""', message: 'hands off' }] },
      {},
      { resourceRules: status },
    )
    expect(await create(1)).toMatchObject({ code: 201 })
    expect(await send(`PATCH ${poolsAt}/x/status`, { status: { a: 1, conditions: [] } })).toMatchObject(
      denied('hands off'),
    )
  })

  it('takes parameters, one after the other', async () => {
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
    const validations = [{ expression: 'object.spec.replicas <= int(params.data.most)' }]
    const limits = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'limits' }, data: { most: '3' } }
    await bind({ paramKind, validations }, { paramRef: { name: 'limits', parameterNotFoundAction: 'Deny' } })
    expect(await create(1)).toMatchObject(
      denied('failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'),
    )
    await send('POST /api/v1/namespaces/default/configmaps', limits)
    expect(await create(4)).toMatchObject(denied('failed expression: object.spec.replicas <= int(params.data.most)'))
    expect(await create(3)).toMatchObject({ code: 201 })
    await send('DELETE /api/v1/namespaces/default/configmaps/limits')
  })

  it('runs within a count of steps', async () => {
    const nested = '[1,2,3,4,5,6,7,8,9].all(a, '.repeat(6)
    await bind({ validations: [{ expression: `${nested}true${')'.repeat(6)}` }] })
    expect(await create(1)).toMatchObject(
      denied('validation failed due to running out of cost budget, no further validation rules will be run'),
    )
  })
})

const faults: readonly { readonly what: string; readonly spec: object; readonly says: string }[] = [
  {
    what: 'an expression that does not parse',
    spec: { validations: [{ expression: 'object ++ 1' }] },
    says: 'spec.validations[0].expression: Invalid value: "object ++ 1": compilation failed: ERROR:',
  },
  {
    what: 'one that gives no bool',
    spec: { validations: [{ expression: '1' }] },
    says: 'spec.validations[0].expression: Invalid value: "1": compilation failed: ERROR: <input>:1:1: must evaluate to bool',
  },
  {
    what: 'a variable that is not there, or comes later',
    spec: {
      variables: [
        { name: 'a', expression: 'variables.b' },
        { name: 'b', expression: '1' },
      ],
      validations: [{ expression: 'true' }],
    },
    says: 'spec.variables[0].expression: Invalid value: "variables.b": compilation failed: ERROR: <input>:1:10: undefined field \'b\'',
  },
  {
    what: 'parameters without a kind of them',
    spec: { validations: [{ expression: 'params == null' }] },
    says: "undeclared reference to 'params'",
  },
  {
    what: 'a variable of which no expression could speak',
    spec: { variables: [{ name: 'a-b', expression: '1' }], validations: [{ expression: 'true' }] },
    says: 'spec.variables[0].name: Invalid value: "a-b": name is not a valid CEL identifier',
  },
  {
    what: 'a rule that would match nothing',
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [], apiVersions: ['v1'], operations: ['*'], resources: ['a'] }],
      },
      validations: [{ expression: 'true' }],
    },
    says: 'spec.matchConstraints.resourceRules[0].apiGroups: Required value',
  },
  {
    what: 'a selector that could not be read',
    spec: {
      matchConstraints: { resourceRules: rules, objectSelector: { matchExpressions: [{ key: 'a', operator: 'in' }] } },
      validations: [{ expression: 'true' }],
    },
    says: 'spec.matchConstraints.objectSelector.matchExpressions[0].operator: Invalid value: "in"',
  },
  { what: 'no validations', spec: {}, says: 'validations or auditAnnotations must contain at least one item' },
]

it.each(faults)('a policy with $what is refused', async ({ spec, says }) => {
  const { code, message } = await send(`POST ${policyRoot}/validatingadmissionpolicies`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'faulty' },
    spec: { matchConstraints: { resourceRules: rules }, ...spec },
  })
  expect(code).toBe(422)
  expect(message).toContain(says)
})

it('the policy of the example holds against the ConfigMap of a namespace', async () => {
  await using example = await createTestEnv({ reconcilers: [disks] })
  for (const manifest of readManifests('examples/disk/policy.yaml')) await example.applyManifest(manifest as never)
  await example.apply(Disk, { metadata: { name: 'a' }, spec: { gigabytes: 100 } })
  await expect(example.patch(Disk, 'a', { spec: { gigabytes: 101 } })).rejects.toThrow(
    `disks.example.dev "a" is forbidden: ValidatingAdmissionPolicy 'disk-sizes' with binding 'disk-sizes' denied request: a disk has 100 gigabytes at most`,
  )
})
