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

  it.each([`GET ${access}`, `GET ${access}/x`, `PUT ${access}/x`, `POST ${access}/x`, `DELETE ${access}/x`])(
    'is only asked: %s is a 405',
    async (line) => {
      expect((await harness.send(line)).status).toBe(405)
    },
  )
})
