import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createHttpsWebhooks } from '../../shared/adapters/node/https-webhooks.ts'
import { createTestEnv, type TestEnv } from '../../shared/testing/test-env.ts'
import { allow, deny, patchWith, review, startWebhookServer, type WebhookServer } from '../support/webhook-server.ts'
import { policyRoot, pool, poolRules, pools, poolsAt, send, type Reply } from './support/policy-plane.ts'

/** Webhooks over a kind of users' own, in Kubernetes' words, against a server of the test. */
let env: TestEnv
let server: WebhookServer
beforeAll(async () => {
  server = await startWebhookServer()
  env = await createTestEnv({ reconcilers: [pools], webhooks: createHttpsWebhooks() })
})
afterAll(async () => {
  await env.close()
  await server[Symbol.asyncDispose]()
})

type Kind = 'Mutating' | 'Validating'
const made: string[] = []

function configuration(kind: Kind, name: string, ...hooks: readonly object[]): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: hooks.map((hook, i) => ({
      name: `${'abc'[i]}.${name}.dev`,
      clientConfig: { url: `${server.url}/${'abc'[i]}`, caBundle: server.caBundle },
      rules: poolRules('CREATE', 'UPDATE', 'DELETE'),
      sideEffects: 'None',
      admissionReviewVersions: ['v1', 'v1beta1'],
      ...hook,
    })),
  }
}

async function configure(kind: Kind, name: string, ...hooks: readonly object[]): Promise<void> {
  const plural = `${kind.toLowerCase()}webhookconfigurations`
  made.push(`${policyRoot}/${plural}/${name}`)
  expect(await send(env, `POST ${policyRoot}/${plural}`, configuration(kind, name, ...hooks))).toMatchObject({
    code: 201,
  })
}

afterEach(async () => {
  for (const path of made.splice(0)) await send(env, `DELETE ${path}`)
  await send(env, `DELETE ${poolsAt}/x`)
  server.answer = (body) => allow(body)
  server.asked.splice(0)
})

/** The paths that were asked; a write that meets another one is asked about again. */
const paths = (): readonly string[] => [...new Set(server.asked.map(({ path }) => path.slice(0, 2)))].toSorted()

const create = (spec: object, more: object = {}): Promise<Reply> => send(env, `POST ${poolsAt}`, pool(spec, more))
const get = (): Promise<Reply> => send(env, `GET ${poolsAt}/x`)

/** Whatever is written beside it makes the write, and with it the question, come again. */
async function createSettled(spec: object): Promise<void> {
  expect(await create(spec)).toMatchObject({ code: 201 })
  await env.settle()
}

describe('a mutating webhook', () => {
  it('gets an AdmissionReview with a timeout, and its patch is applied before defaults and schema', async () => {
    await configure('Mutating', 'm', {})
    server.answer = (body) =>
      patchWith(body, [
        { op: 'add', path: '/spec/items', value: [{ name: 'a' }] },
        { op: 'add', path: '/metadata/labels', value: { by: 'webhook' } },
      ])
    expect(await create({ replicas: 1 })).toMatchObject({ code: 201 })
    expect(await get()).toMatchObject({
      metadata: { labels: { by: 'webhook' }, generation: 1 },
      spec: { replicas: 1, items: [{ name: 'a', size: 1 }] },
    })
    const [{ path, body }] = server.asked as [WebhookServer['asked'][number]]
    expect(path).toBe('/a?timeout=10s')
    expect(body).toMatchObject({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
        kind: { group: 'test.setpoint.dev', version: 'v1', kind: 'Pool' },
        resource: { group: 'test.setpoint.dev', version: 'v1', resource: 'pools' },
        name: 'x',
        namespace: 'default',
        operation: 'CREATE',
        userInfo: { username: 'test', groups: ['system:masters'] },
        object: { kind: 'Pool', metadata: { name: 'x' }, spec: { replicas: 1 } },
        oldObject: null,
        dryRun: false,
        options: { kind: 'CreateOptions' },
      },
    })
  })

  it('sees what the one before it made, and is asked again where it wants and the object has changed', async () => {
    await configure('Mutating', 'm', { reinvocationPolicy: 'IfNeeded' }, {})
    server.answer = ({ request }, path) =>
      path.startsWith('/a')
        ? patchWith({ request }, [{ op: 'add', path: '/spec/owner', value: `a${request.object.spec.owner ?? ''}` }])
        : patchWith({ request }, [{ op: 'add', path: '/spec/owner', value: `b${request.object.spec.owner ?? ''}` }])
    await create({ replicas: 1 })
    expect((await get()).spec.owner).toBe('aba')
    expect(server.asked.map(({ path }) => path.slice(0, 2))).toEqual(['/a', '/b', '/a'])
  })

  it('is asked again, too, if it wants, where one ahead of it changed the object when it was asked again', async () => {
    const again = { reinvocationPolicy: 'IfNeeded' }
    await configure('Mutating', 'm', again, again, again)
    server.answer = ({ request }, path) =>
      path.startsWith('/c')
        ? patchWith({ request }, [])
        : patchWith({ request }, [
            { op: 'add', path: '/spec/owner', value: `${request.object.spec.owner ?? ''}${path.slice(1, 2)}` },
          ])
    await create({ replicas: 1 })
    expect(server.asked.map(({ path }) => path.slice(1, 2)).join('')).toBe('abcabc')
    expect((await get()).spec.owner).toBe('abab')
  })

  it('is asked about updates and deletions with what was there, and about dry runs as such', async () => {
    await createSettled({ replicas: 1 })
    await configure('Mutating', 'm', { sideEffects: 'NoneOnDryRun' })
    await send(env, `PATCH ${poolsAt}/x?dryRun=All`, { spec: { replicas: 2 } })
    await send(env, `DELETE ${poolsAt}/x`)
    expect(server.asked.map(({ body: { request } }) => [request.operation, request.dryRun])).toEqual([
      ['UPDATE', true],
      ['DELETE', false],
    ])
    const [update, deletion] = server.asked.map(({ body }) => body.request)
    expect(update).toMatchObject({ object: { spec: { replicas: 2 } }, oldObject: { spec: { replicas: 1 } } })
    expect(deletion).toMatchObject({ object: null, oldObject: { spec: { replicas: 1 } } })
  })

  it('cannot change what is deleted, nor apply what does not fit', async () => {
    await createSettled({ replicas: 1 })
    await configure('Mutating', 'm', { failurePolicy: 'Ignore' })
    server.answer = (body) => patchWith(body, [{ op: 'remove', path: '/spec/nope' }])
    expect(await send(env, `DELETE ${poolsAt}/x`)).toMatchObject({
      code: 500,
      message:
        'Internal error occurred: admission webhook "a.m.dev" attempted to modify the object, which is not supported for this operation',
    })
    const patched = await send(env, `PATCH ${poolsAt}/x`, { spec: { replicas: 2 } })
    expect(patched.code).toBe(500)
    expect(patched.message).toContain('the patch of admission webhook "a.m.dev" does not fit: the JSON patch')
  })
})

describe('a webhook of v1beta1', () => {
  const beta = { admissionReviewVersions: ['v3', 'v1beta1', 'v1'] }
  const answerOf = (response: object): Reply => ({ body: JSON.stringify({ response }) })

  it('is asked in it, and needs neither uid nor patchType', async () => {
    await configure('Mutating', 'm', beta)
    const patch = Buffer.from('[{"op":"replace","path":"/spec/replicas","value":9}]').toString('base64')
    server.answer = () => answerOf({ allowed: true, patch })
    expect(await create({ replicas: 1 })).toMatchObject({ code: 201, spec: { replicas: 9 } })
    expect(server.asked[0]?.body).toMatchObject({
      apiVersion: 'admission.k8s.io/v1beta1',
      kind: 'AdmissionReview',
      request: { operation: 'CREATE', object: { spec: { replicas: 1 } }, requestKind: { kind: 'Pool' } },
    })
  })

  it('denies and warns as one of v1, and patches of a validating one are dropped', async () => {
    await configure('Validating', 'v', beta)
    server.answer = () => answerOf({ allowed: true, patch: 'bm9uc2Vuc2U=', warnings: ['mind the gap'] })
    const answer = await create({ replicas: 1 })
    expect(answer.code).toBe(201)
    expect(answer.warnings).toContain('mind the gap')
    await send(env, `DELETE ${poolsAt}/x`)
    server.answer = () => answerOf({ allowed: false, status: { code: 403, message: 'no' } })
    expect(await create({ replicas: 1 })).toMatchObject({ code: 403 })
    server.answer = () => ({ body: '{}' })
    expect((await create({ replicas: 1 })).message).toContain('webhook response was absent')
  })
})

describe('a validating webhook', () => {
  it('denies with the code, the reason and the message that it gives', async () => {
    await configure('Validating', 'v', {})
    server.answer = (body) => deny(body, { code: 403, reason: 'Forbidden', message: 'not on Mondays' })
    expect(await create({ replicas: 1 })).toMatchObject({
      kind: 'Status',
      code: 403,
      reason: 'Forbidden',
      message: 'admission webhook "a.v.dev" denied the request: not on Mondays',
    })
    server.answer = (body) => deny(body)
    const bare = await create({ replicas: 1 })
    expect(bare).toMatchObject({
      code: 400,
      message: 'admission webhook "a.v.dev" denied the request without explanation',
    })
    expect(bare.reason).toBe(undefined)
  })

  it('warns', async () => {
    await configure('Validating', 'v', {})
    server.answer = (body) => allow(body, { warnings: ['mind the gap'] })
    const answer = await create({ replicas: 1 })
    expect(answer.code).toBe(201)
    expect(answer.warnings).toContain('mind the gap')
  })

  it('sees what mutating webhooks and policies made, with its defaults', async () => {
    await configure('Mutating', 'm', {})
    await configure('Validating', 'v', {})
    server.answer = (body) =>
      body.request.object.spec.items === undefined
        ? patchWith(body, [{ op: 'add', path: '/spec/items', value: [{ name: 'a' }] }])
        : allow(body)
    await create({ replicas: 1 })
    expect(server.asked.at(-1)?.body.request.object.spec.items).toEqual([{ name: 'a', size: 1 }])
  })

  it('is asked only where rules, selectors and conditions match, and never about configurations', async () => {
    await configure(
      'Validating',
      'v',
      { rules: poolRules('DELETE') },
      { objectSelector: { matchLabels: { on: 'yes' } } },
      { matchConditions: [{ name: 'large', expression: 'object.spec.replicas > 5' }] },
    )
    await create({ replicas: 1 })
    expect(server.asked).toEqual([])
    await env.settle()
    await send(env, `PATCH ${poolsAt}/x`, { spec: { replicas: 6 }, metadata: { labels: { on: 'yes' } } })
    expect(paths()).toEqual(['/b', '/c'])
    server.answer = (body) => deny(body)
    const star = [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }]
    await configure('Validating', 'w', { rules: star })
    await configure('Validating', 'u', { rules: star })
  })

  it('is asked about a status only by rules that name it', async () => {
    await createSettled({ replicas: 1 })
    await configure('Validating', 'v', { rules: [{ ...poolRules('UPDATE')[0], resources: ['pools/status'] }] }, {})
    await send(env, `PATCH ${poolsAt}/x/status`, { status: { conditions: [] } })
    expect(paths()).toEqual(['/a'])
  })
})

const bad: readonly { readonly what: string; readonly answer: WebhookServer['answer']; readonly says: string }[] = [
  {
    what: 'another status than 200',
    answer: () => ({ status: 404, body: '{}' }),
    says: 'failed to call webhook: Post "URL?timeout=10s": the server answered with status 404',
  },
  {
    what: 'no JSON',
    answer: () => ({ body: '<html>' }),
    says: 'received invalid webhook response: webhook response was absent',
  },
  {
    what: 'the uid of another request',
    answer: () => review({ uid: 'other', allowed: true }),
    says: 'received invalid webhook response: expected response.uid=',
  },
  {
    what: 'another version of AdmissionReview',
    answer: ({ request }) => review({ uid: request.uid, allowed: true }, { apiVersion: 'admission.k8s.io/v1beta1' }),
    says: 'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview',
  },
  {
    what: 'a patch of a validating one',
    answer: (body) => patchWith(body, []),
    says: 'validating webhook may not return response.patch',
  },
  {
    what: 'more than it may',
    answer: () => ({ body: 'x'.repeat(2_000_000) }),
    says: 'its answer has more than 1500000 bytes',
  },
]

it.each(bad)('a webhook that answers with $what counts as its failurePolicy says', async ({ answer, says }) => {
  server.answer = answer
  await configure('Validating', 'v', {})
  const failed = await create({ replicas: 1 })
  expect(failed).toMatchObject({ code: 500, reason: 'InternalError' })
  expect(failed.message).toContain('Internal error occurred: failed calling webhook "a.v.dev": ')
  expect(failed.message).toContain(says.replace('URL', `${server.url}/a`))
  await send(env, `DELETE ${made.pop()}`)
  await configure('Validating', 'v', { failurePolicy: 'Ignore' })
  expect(await create({ replicas: 1 })).toMatchObject({ code: 201 })
})

it('a webhook that denies is believed, whatever else it says, and whichever status of success it says it with', async () => {
  const patch = { patchType: 'JSONPatch', patch: 'no base64' }
  server.answer = ({ request }) => ({ ...review({ uid: request.uid, allowed: false, ...patch }), status: 201 })
  await configure('Mutating', 'm', { failurePolicy: 'Ignore' })
  expect((await create({ replicas: 1 })).message).toContain('denied the request')
  server.answer = ({ request }) => review({ uid: request.uid, allowed: 'false' })
  expect(await create({ replicas: 1 })).toMatchObject({ code: 201 })
})

it('a webhook that does not answer in its time, or shows a certificate of others, fails', async () => {
  server.answer = () => 'silence'
  await configure('Validating', 'v', { timeoutSeconds: 1 })
  expect((await create({ replicas: 1 })).message).toContain('context deadline exceeded')
  await send(env, `DELETE ${made.pop()}`)
  server.answer = (body) => allow(body)
  await configure('Validating', 'v', { clientConfig: { url: server.url } })
  expect((await create({ replicas: 1 })).message).toContain('failed calling webhook "a.v.dev": failed to call webhook')
  expect(server.asked).toHaveLength(1)
})

const faults: readonly { readonly what: string; readonly hook: object; readonly says: string }[] = [
  { what: 'http', hook: { clientConfig: { url: 'http://a.dev' } }, says: "'https' is the only allowed URL scheme" },
  {
    what: 'a service',
    hook: { clientConfig: { service: { name: 'a', namespace: 'b' } } },
    says: 'webhooks[0].clientConfig.service: Forbidden: there is no network of a cluster with services',
  },
  {
    what: 'neither url nor service',
    hook: { clientConfig: {} },
    says: 'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
  },
  {
    what: 'a user in the url',
    hook: { clientConfig: { url: 'https://u:p@a.dev' } },
    says: 'user information is not permitted',
  },
  {
    what: 'no certificate',
    hook: { clientConfig: { url: 'https://a.dev', caBundle: 'YQ==' } },
    says: 'unable to load root certificates',
  },
  {
    what: 'a short name',
    hook: { name: 'short' },
    says: 'should be a domain with at least three segments separated by dots',
  },
  { what: 'a long timeout', hook: { timeoutSeconds: 31 }, says: 'the timeout value must be between 1 and 30 seconds' },
  { what: 'side effects', hook: { sideEffects: 'Some' }, says: 'webhooks[0].sideEffects: Unsupported value: "Some"' },
  {
    what: 'another version',
    hook: { admissionReviewVersions: ['v2'] },
    says: 'webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1',
  },
  {
    what: 'no version',
    hook: { admissionReviewVersions: [] },
    says: 'webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1',
  },
  {
    what: 'a version twice',
    hook: { admissionReviewVersions: ['v1', 'v1'] },
    says: 'webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version',
  },
  {
    what: 'a condition that does not compile',
    hook: { matchConditions: [{ name: 'a', expression: '1' }] },
    says: 'webhooks[0].matchConditions[0].expression: Invalid value: "1": compilation failed',
  },
  {
    what: 'a condition without a proper name',
    hook: { matchConditions: [{ name: 'a b', expression: 'true' }] },
    says: 'webhooks[0].matchConditions[0].name: Invalid value: "a b"',
  },
  {
    what: 'a selector that could not be read',
    hook: { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'notin', values: ['b'] }] } },
    says: 'webhooks[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "notin": not a valid selector operator',
  },
  {
    what: 'a rule that would match nothing',
    hook: { rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] },
    says: 'webhooks[0].rules[0].operations: Required value',
  },
  {
    what: 'a rule with more than all',
    hook: { rules: [{ apiGroups: ['*', 'a'], apiVersions: ['v1'], operations: ['*'], resources: ['*', 'pods'] }] },
    says: "if '*' is present, must not specify other resources without subresources",
  },
]

it.each(faults)('a configuration with $what is refused', async ({ hook, says }) => {
  const sent = configuration('Validating', 'faulty', hook)
  const { code, message } = await send(env, `POST ${policyRoot}/validatingwebhookconfigurations`, sent)
  expect(code).toBe(422)
  expect(message).toContain(says)
  expect(message).not.toContain('u:p')
})
