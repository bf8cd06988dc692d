import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHarness, type Harness } from './harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await createHarness()
})
afterAll(() => harness.close())

const access = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

describe('a review', () => {
  it('of oneself tells who the token is', async () => {
    const bytes = Buffer.from(
      'azhzAAotChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESEVNlbGZTdWJqZWN0UmV2aWV3EhoKEAoAEgAaACIAKgAyADgAQgASBgoECgASABoAIgA=',
      'base64',
    )
    const reply = await harness.send('POST /apis/authentication.k8s.io/v1/selfsubjectreviews', {
      body: bytes,
      type: 'application/vnd.kubernetes.protobuf',
    })
    expect([reply.status, reply.body]).toEqual([
      201,
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'SelfSubjectReview',
        metadata: { creationTimestamp: null },
        status: { userInfo: { username: 'tester', groups: ['system:masters'] } },
      },
    ])
  })

  it('of access says yes to who is known, and repeats the question', async () => {
    const spec = { resourceAttributes: { verb: 'delete', resource: 'namespaces' } }
    const reply = await harness.send(`POST ${access}`, { body: { spec } })
    expect([reply.status, reply.body]).toMatchObject([
      201,
      { kind: 'SelfSubjectAccessReview', spec, status: { allowed: true } },
    ])
  })

  it('of rules names everything', async () => {
    const { body } = await harness.send('POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      body: { spec: { namespace: 'default' } },
    })
    expect(body.status).toEqual({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
    })
  })

  const unclear = [{}, { spec: {} }, { spec: { resourceAttributes: {}, nonResourceAttributes: {} } }]
  it.each(unclear)('of access must be about one thing: %j', async (body) => {
    expect(await harness.send(`POST ${access}`, { body })).toMatchObject({
      status: 422,
      body: {
        reason: 'Invalid',
        details: { kind: 'SelfSubjectAccessReview', causes: [{ field: 'spec.resourceAttributes' }] },
      },
    })
  })

  const about = { resourceAttributes: { verb: 'get', resource: 'pods' } }
  const subjects = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
  const unreadable = [
    { path: access, body: { kind: 'Widget', spec: about }, why: 'the object provided is' },
    { path: access, body: { apiVersion: 'authorization.k8s.io/v1beta1', spec: about }, why: 'does not match' },
    { path: access, body: { spec: { resourceAttributes: { verb: 5 } } }, why: 'spec.resourceAttributes.verb' },
    { path: subjects, body: { spec: { ...about, user: 'a', groups: 'system:masters' } }, why: 'spec.groups' },
    {
      path: `${subjects}?fieldValidation=Strict`,
      body: { spec: { ...about, user: 'a', group: ['b'] } },
      why: 'spec.group"',
    },
    { path: '/apis/authentication.k8s.io/v1/tokenreviews', body: { spec: {} }, why: 'token is required' },
  ]
  it.each(unreadable)('whose body says something else than it may is a 400: $why', async ({ path, body, why }) => {
    const reply = await harness.send(`POST ${path}`, { body })
    expect([reply.status, reply.body.message]).toEqual([400, expect.stringContaining(why)])
  })

  it('warns of fields that it does not know, and takes null for nothing', async () => {
    const spec = { ...about, user: 'a', groups: null, extra: null, group: ['b'] }
    const reply = await harness.send(`POST ${subjects}`, { body: { spec, status: { allowed: false } } })
    expect([reply.status, reply.headers['warning'], reply.body.spec]).toEqual([
      201,
      '299 - "unknown field \\"spec.group\\""',
      { ...about, user: 'a' },
    ])
  })

  it.each([`GET ${access}`, `GET ${access}/x`, `PUT ${access}/x`, `POST ${access}/x`, `DELETE ${access}/x`])(
    'is only asked: %s is a 405',
    async (line) => {
      expect((await harness.send(line)).status).toBe(405)
    },
  )
})
