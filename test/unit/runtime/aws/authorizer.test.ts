import { RegionInfo } from 'aws-cdk-lib/region-info'
import type { Context } from 'aws-lambda'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { authorizerFunction } from '../../../../functions/authorizer.ts'
import { systemRandom } from '../../../../shared/adapters/node/system-random.ts'
import { lambdaBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { createAuthorize, type Authorize } from '../../../../shared/runtime/aws/authorizer.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/**
 * Who is let in, by tokens that are good but for one thing. Nothing is asked of a host that a token alone has chosen.
 */
const issuer = 'https://issuer.example.com/tenant'
const audience = 'setpoint'
const clusterId = 'plane.eu-central-1.123456789012'
const role = 'arn:aws:iam::123456789012:role/Admin'
const methodArn = 'arn:aws:execute-api:eu-central-1:123456789012:abc/v1/GET/apis'
const startMs = Date.UTC(2026, 10, 21, 12)

let keys: { readonly privateKey: CryptoKey; readonly jwk: JWK }
let others: CryptoKey
let clock: ReturnType<typeof createVirtualClock>
let asked: { readonly url: string; readonly init: RequestInit }[]
let replies: Record<string, () => Response>
let issuers: readonly object[]
let authorize: Authorize

beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  keys = { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256' } }
  others = (await generateKeyPair('RS256')).privateKey
})

beforeEach(() => {
  clock = createVirtualClock(startMs)
  asked = []
  replies = {
    [`${issuer}/.well-known/openid-configuration`]: () =>
      Response.json({ issuer, jwks_uri: 'https://keys.example.com/jwks' }),
    'https://keys.example.com/jwks': () => Response.json({ keys: [keys.jwk] }),
    'https://sts.eu-central-1.amazonaws.com/': () =>
      identity('arn:aws:sts::123456789012:assumed-role/Admin/whatever-they-call-themselves'),
  }
  issuers = [{ issuer, audience }]
  authorize = create()
})

function create(region?: string): Authorize {
  return createAuthorize(
    {
      clock,
      random: systemRandom,
      dynamodb: {},
      environment: {
        SETPOINT_ADMINS: JSON.stringify([
          'arn:aws:iam::123456789012:role/team/a/Admin',
          `${issuer}#alice`,
          'arn:aws:iam::123456789012:user/bob',
        ]),
        SETPOINT_READERS: JSON.stringify([`${issuer}#rita`]),
        SETPOINT_ISSUERS: JSON.stringify(issuers),
        SETPOINT_CLUSTER_ID: clusterId,
        AWS_REGION: region,
      },
    },
    async (url, init) => {
      asked.push({ url, init })
      const reply = replies[url] ?? replies[url.replace(/\?.*$/, '')]
      if (reply === undefined) throw new TypeError(`nobody is at ${url}`)
      return reply()
    },
  )
}

function identity(Arn: string): Response {
  return Response.json({ GetCallerIdentityResponse: { GetCallerIdentityResult: { Arn } } })
}

function ask(token: string): ReturnType<Authorize> {
  return authorize({ authorization: `Bearer ${token}`, methodArn })
}

describe('a JWT', () => {
  function jwt(
    change: (token: SignJWT) => SignJWT = (token) => token,
    key = keys.privateKey,
    kid = 'k1',
  ): Promise<string> {
    const token = new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('alice')
      .setIssuedAt(startMs / 1_000)
      .setExpirationTime(startMs / 1_000 + 300)
    return change(token).sign(key)
  }

  it('of a reader lets in, as one', async () => {
    const { policyDocument, context } = await ask(await jwt((token) => token.setSubject('rita')))
    expect(policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }])
    expect(context).toMatchObject({ groups: '["setpoint:readers","system:authenticated"]' })
  })

  it('of an administrator lets in, for the whole stage of the API', async () => {
    expect(await ask(await jwt())).toEqual({
      principalId: `${issuer}#alice`,
      policyDocument: {
        Version: '2012-10-17',
        Statement: [
          {
            Action: 'execute-api:Invoke',
            Effect: 'Allow',
            Resource: 'arn:aws:execute-api:eu-central-1:123456789012:abc/v1/*',
          },
        ],
      },
      context: { principal: `${issuer}#alice`, groups: '["system:masters","system:authenticated"]' },
    })
  })

  it('of anybody else is known, and denied', async () => {
    const { policyDocument, context } = await ask(await jwt((token) => token.setSubject('mallory')))
    expect(policyDocument.Statement).toMatchObject([{ Effect: 'Deny' }])
    expect(context).toMatchObject({ groups: '["system:authenticated"]' })
  })

  it('of an issuer that lets all of its own in is somebody, in the groups that it names', async () => {
    issuers = [{ issuer, audience, anySubject: true, groupsClaim: 'roles', groupsPrefix: 'corp:' }]
    authorize = create()
    const claims = { roles: ['dev', 'ops'] }
    const token = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    const signed = token.setIssuer(issuer).setAudience(audience).setSubject('dora')
    const { policyDocument, context } = await ask(
      await signed.setExpirationTime(startMs / 1_000 + 300).sign(keys.privateKey),
    )
    expect(policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }])
    expect(context).toEqual({ principal: `${issuer}#dora`, groups: '["corp:dev","corp:ops","system:authenticated"]' })
  })

  it.each([
    { to: audience, effect: 'Deny', groups: '["system:authenticated"]' },
    { to: 'ci', effect: 'Allow', groups: '["dev","system:authenticated"]' },
    { to: ['other', 'ci'], effect: 'Allow', groups: '["dev","system:authenticated"]' },
    { to: ['ci', audience], effect: 'Deny', groups: '["system:authenticated"]' },
  ])('for $to is held to what its issuer is said to be for that audience', async ({ to, effect, groups }) => {
    issuers = [
      { issuer, audience },
      { issuer, audience: 'ci', anySubject: true, groupsClaim: 'roles' },
    ]
    authorize = create()
    const token = new SignJWT({ roles: ['dev'] }).setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    const signed = token.setIssuer(issuer).setAudience(to).setSubject('dora')
    const { policyDocument, context } = await ask(
      await signed.setExpirationTime(startMs / 1_000 + 300).sign(keys.privateKey),
    )
    expect(policyDocument.Statement).toMatchObject([{ Effect: effect }])
    expect(context).toMatchObject({ groups })
  })

  describe('that STS has signed for a principal of IAM', () => {
    const awsIssuer = 'https://abc123-def456.tokens.sts.global.api.aws'

    async function askAs(iss: string, subject: string): ReturnType<Authorize> {
      replies[`${iss}/.well-known/openid-configuration`] = () =>
        Response.json({ issuer: iss, jwks_uri: 'https://keys.example.com/jwks' })
      issuers = [{ issuer: iss, audience }]
      authorize = create()
      return ask(await jwt((token) => token.setIssuer(iss).setSubject(subject)))
    }

    it.each([role, 'arn:aws:iam::123456789012:role/team/a/Admin', 'arn:aws:iam::123456789012:user/bob'])(
      'lets in %s, whose ARN is on the list',
      async (arn) => {
        const { policyDocument, context } = await askAs(awsIssuer, arn)
        expect(policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }])
        expect(context).toEqual({
          principal: `${awsIssuer}#${arn}`,
          groups: '["system:masters","system:authenticated"]',
        })
      },
    )

    it.each([
      { iss: awsIssuer, subject: 'arn:aws:iam::123456789012:role/Other' },
      { iss: awsIssuer, subject: `x#${role}` },
      { iss: 'https://issuer.example.com', subject: role },
      { iss: 'https://issuer.example.com/a.tokens.sts.global.api.aws', subject: role },
      { iss: 'https://a.tokens.sts.global.api.aws.example.com', subject: role },
      { iss: 'https://a.tokens.sts.global.evilapi.aws', subject: role },
    ])('does not let in $subject of $iss', async ({ iss, subject }) => {
      const { policyDocument, context } = await askAs(iss, subject)
      expect(policyDocument.Statement).toMatchObject([{ Effect: 'Deny' }])
      expect(context).toMatchObject({ groups: '["system:authenticated"]' })
    })
  })

  it.each([
    { why: 'it is for another audience', change: (token: SignJWT) => token.setAudience('other') },
    { why: 'it has expired', change: (token: SignJWT) => token.setExpirationTime(startMs / 1_000 - 6) },
    { why: 'it is not valid yet', change: (token: SignJWT) => token.setNotBefore(startMs / 1_000 + 60) },
    { why: 'it never expires', change: () => withoutExpiry() },
    { why: 'its issuer is none of ours', change: (token: SignJWT) => token.setIssuer('https://evil.example.com') },
    { why: 'its issuer only begins like ours', change: (token: SignJWT) => token.setIssuer(`${issuer}.evil.com`) },
  ])('is not taken: $why', async ({ change }) => {
    await expect(ask(await jwt(change))).rejects.toThrow(/^Unauthorized$/)
    expect(asked.every(({ url }) => url.startsWith(issuer) || url.startsWith('https://keys.example.com/'))).toBe(true)
  })

  function withoutExpiry(): SignJWT {
    const token = new SignJWT({}).setProtectedHeader({ alg: 'RS256', kid: 'k1' })
    return token.setIssuer(issuer).setAudience(audience).setSubject('alice')
  }

  it('whose key the issuer does not have is not taken', async () => {
    await expect(ask(await jwt(undefined, keys.privateKey, 'k2'))).rejects.toThrow(/^Unauthorized$/)
  })

  it('that somebody else has signed is not taken', async () => {
    await expect(ask(await jwt(undefined, others))).rejects.toThrow(/^Unauthorized$/)
  })

  it('that is signed with the public key as a secret, or not at all, is not taken', async () => {
    const secret = new TextEncoder().encode(JSON.stringify(keys.jwk))
    const hmac = await new SignJWT({ iss: issuer, aud: audience, sub: 'alice', exp: startMs / 1_000 + 300 })
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(secret)
    await expect(ask(hmac)).rejects.toThrow(/^Unauthorized$/)
    const [, payload = ''] = (await jwt()).split('.')
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
    await expect(ask(none)).rejects.toThrow(/^Unauthorized$/)
  })

  it.each(['', 'x', 'a.b.c', 'Bearer', '..'])('is not taken if it is none: %j', async (token) => {
    await expect(ask(token)).rejects.toThrow(/^Unauthorized$/)
    expect(asked).toEqual([])
  })

  it('is verified by keys that are fetched once', async () => {
    await ask(await jwt())
    await ask(await jwt())
    expect(asked).toHaveLength(2)
    expect(asked.every(({ init }) => init.redirect !== 'follow')).toBe(true)
  })

  it.each([
    {
      because: 'the issuer is away',
      url: `${issuer}/.well-known/openid-configuration`,
      reply: () => new Response('', { status: 503 }),
    },
    {
      because: 'its keys are away',
      url: 'https://keys.example.com/jwks',
      reply: () => new Response('', { status: 503 }),
    },
    {
      because: "the document is somebody else's",
      url: `${issuer}/.well-known/openid-configuration`,
      reply: () => Response.json({ issuer: 'https://other', jwks_uri: 'https://keys.example.com/jwks' }),
    },
    {
      because: 'the keys are not behind https',
      url: `${issuer}/.well-known/openid-configuration`,
      reply: () => Response.json({ issuer, jwks_uri: 'http://keys.example.com/jwks' }),
    },
  ])('fails without saying no, and is taken later: $because', async ({ url, reply }) => {
    const good = replies[url] as () => Response
    replies[url] = reply
    await expect(ask(await jwt())).rejects.toThrow(/cannot be verified/)
    replies[url] = good
    clock.moveTo(clock.nowMs() + 31_000)
    expect((await ask(await jwt())).principalId).toBe(`${issuer}#alice`)
  })
})

describe('a presigned request to STS', () => {
  const good = {
    Action: 'GetCallerIdentity',
    Version: '2011-06-15',
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': 'AKIA/20261121/eu-central-1/sts/aws4_request',
    'X-Amz-Date': '20261121T115500Z',
    'X-Amz-Expires': '60',
    'X-Amz-SignedHeaders': 'host;x-k8s-aws-id',
    'X-Amz-Signature': 'abc',
  }
  const base = 'https://sts.eu-central-1.amazonaws.com/'

  function token(url: string): string {
    return `k8s-aws-v1.${Buffer.from(url).toString('base64url')}`
  }

  function presigned(change: Readonly<Record<string, string | undefined>> = {}, to = base, more = ''): string {
    const entries = Object.entries({ ...good, ...change }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    )
    return token(`${to}?${new URLSearchParams(entries).toString()}${more}`)
  }

  it('lets a role in, whatever its session calls itself and whatever path it is in', async () => {
    const { principalId, policyDocument } = await ask(presigned())
    expect(principalId).toBe(role)
    expect(policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }])
  })

  const partitions = ['aws', 'aws-cn', 'aws-us-gov', 'aws-eusc']
  const regionsOf = (partition: string) =>
    RegionInfo.regions.flatMap((one) => (one.partition === partition ? [one] : []))

  it.each(partitions)(
    'is taken in each Region of %s from the Region’s STS, as the CDK knows them',
    async (partition) => {
      const arn = `arn:${partition}:sts::123456789012:assumed-role/Shop/me`
      for (const { name, domainSuffix = '' } of regionsOf(partition)) {
        authorize = create(name)
        const to = `https://sts.${name}.${domainSuffix}/`
        replies[to] = () => identity(arn)
        const { principalId, policyDocument } = await ask(presigned({}, to))
        expect(principalId).toBe(`arn:${partition}:iam::123456789012:role/Shop`)
        expect(policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }])
      }
    },
  )

  it('is taken from the STS of its own Region, though that is a new one, and nowhere else', async () => {
    const to = 'https://sts.sa-west-9.amazonaws.com/'
    replies[to] = () => identity('arn:aws:sts::123456789012:assumed-role/Shop/me')
    await expect(ask(presigned({}, to))).rejects.toThrow(/^Unauthorized$/)
    authorize = create('sa-west-9')
    expect((await ask(presigned({}, to))).principalId).toBe('arn:aws:iam::123456789012:role/Shop')
  })

  it('is asked of no STS of another partition, whose accounts are others under the same numbers', async () => {
    for (const here of partitions)
      for (const there of partitions.filter((one) => one !== here)) {
        authorize = create(regionsOf(here)[0]?.name)
        const [{ name, domainSuffix } = { name: '', domainSuffix: '' }] = regionsOf(there)
        await expect(ask(presigned({}, `https://sts.${name}.${domainSuffix}/`))).rejects.toThrow(/^Unauthorized$/)
      }
    expect(asked).toEqual([])
  })

  it('is asked for this control plane, in JSON, without following anybody', async () => {
    await ask(presigned())
    expect(asked).toMatchObject([
      { init: { redirect: 'error', headers: { 'x-k8s-aws-id': clusterId, accept: 'application/json' } } },
    ])
  })

  it('lets a user in', async () => {
    replies[base] = () => identity('arn:aws:iam::123456789012:user/bob')
    expect((await ask(presigned())).policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }])
  })

  it.each([
    ['arn:aws:sts::123456789012:assumed-role/Other/Admin', 'arn:aws:iam::123456789012:role/Other'],
    ['arn:aws:sts::123456789012:federated-user/Admin', 'arn:aws:sts::123456789012:federated-user/Admin'],
    ['arn:aws:iam::123456789012:root', 'arn:aws:iam::123456789012:root'],
  ])('lets in %s of the account, in no group but that of all', async (arn, principal) => {
    replies[base] = () => identity(arn)
    const { policyDocument, context } = await ask(presigned())
    expect(policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }])
    expect(context).toEqual({ principal, groups: '["system:authenticated"]' })
  })

  it.each(['arn:aws:sts::999999999999:assumed-role/Admin/x', 'arn:aws:iam::999999999999:user/bob'])(
    'does not let in %s of another account',
    async (arn) => {
      replies[base] = () => identity(arn)
      expect((await ask(presigned())).policyDocument.Statement).toMatchObject([{ Effect: 'Deny' }])
    },
  )

  it.each([
    { why: 'it is too long', text: () => presigned({ 'X-Amz-Security-Token': 'x'.repeat(4_096) }) },
    { why: 'it is no URL', text: () => token('nothing') },
    { why: 'it is not https', text: () => presigned({}, 'http://sts.eu-central-1.amazonaws.com/') },
    { why: 'its host is another', text: () => presigned({}, 'https://evil.example.com/') },
    {
      why: 'its host contains that of STS',
      text: () => presigned({}, 'https://sts.eu-central-1.amazonaws.com.evil.com/'),
    },
    { why: 'its host is another service', text: () => presigned({}, 'https://s3.eu-central-1.amazonaws.com/') },
    { why: 'STS is only its user', text: () => presigned({}, 'https://sts.amazonaws.com@evil.example.com/') },
    { why: 'it names a user', text: () => presigned({}, 'https://me@sts.eu-central-1.amazonaws.com/') },
    { why: 'it names a port', text: () => presigned({}, 'https://sts.eu-central-1.amazonaws.com:8443/') },
    { why: 'it names a path', text: () => presigned({}, 'https://sts.eu-central-1.amazonaws.com/x') },
    { why: 'it has a fragment', text: () => presigned({}, base, '#x') },
    { why: 'it is another action', text: () => presigned({ Action: 'AssumeRole' }) },
    { why: 'it has no action', text: () => presigned({ Action: undefined }) },
    { why: 'it has two actions', text: () => presigned({}, base, '&Action=AssumeRole') },
    { why: 'it has two actions in other letters', text: () => presigned({}, base, '&action=AssumeRole') },
    { why: 'it has a parameter more', text: () => presigned({ RoleArn: role }) },
    { why: 'it is not signed for a control plane', text: () => presigned({ 'X-Amz-SignedHeaders': 'host' }) },
    {
      why: 'a header is signed that only ends so',
      text: () => presigned({ 'X-Amz-SignedHeaders': 'host;not-x-k8s-aws-id' }),
    },
    { why: 'it lives too long', text: () => presigned({ 'X-Amz-Expires': '901' }) },
    { why: 'its lifetime is no number', text: () => presigned({ 'X-Amz-Expires': '-1' }) },
    { why: 'it has no lifetime', text: () => presigned({ 'X-Amz-Expires': undefined }) },
    { why: 'its time is over', text: () => presigned({ 'X-Amz-Date': '20261121T114500Z' }) },
    { why: 'its time is none', text: () => presigned({ 'X-Amz-Date': 'yesterday' }) },
  ])('is not taken, and nobody is asked: $why', async ({ text }) => {
    await expect(ask(text())).rejects.toThrow(/^Unauthorized$/)
    expect(asked).toEqual([])
  })

  it.each([
    { status: 403, body: 'SignatureDoesNotMatch', expected: /^Unauthorized$/ },
    { status: 400, body: 'ExpiredToken', expected: /^Unauthorized$/ },
    { status: 400, body: '{"Error":{"Code":"Throttling"}}', expected: /cannot be verified/ },
    { status: 400, body: '<Error><Code>ThrottlingException</Code></Error>', expected: /cannot be verified/ },
    // It repeats what was signed, which the caller words.
    {
      status: 403,
      body: '{"Error":{"Code":"SignatureDoesNotMatch","Message":"should have been GET / X-Amz-User-Agent=Throttling"}}',
      expected: /^Unauthorized$/,
    },
    {
      status: 403,
      body: '<Error><Code>SignatureDoesNotMatch</Code><Message>X-Amz-User-Agent=Throttling</Message></Error>',
      expected: /^Unauthorized$/,
    },
    { status: 429, body: '', expected: /cannot be verified/ },
    { status: 503, body: '', expected: /cannot be verified/ },
    { status: 200, body: '<html>', expected: /names nobody/ },
  ])('is answered by what STS says: $status $body', async ({ status, body, expected }) => {
    replies[base] = () => new Response(body, { status })
    await expect(ask(presigned())).rejects.toThrow(expected)
  })

  it('is asked about again where a connection was kept that has ended', async () => {
    const { 'https://sts.eu-central-1.amazonaws.com/': answer } = replies
    let times = 0
    replies['https://sts.eu-central-1.amazonaws.com/'] = () => {
      if (++times === 1) throw new TypeError('fetch failed', { cause: new Error('other side closed') })
      return answer?.() ?? Response.error()
    }
    expect((await ask(presigned())).principalId).toBe(role)
    expect(asked).toHaveLength(2)
  })

  it('fails without saying no while STS does not answer', async () => {
    delete replies[base]
    await expect(ask(presigned())).rejects.toThrow(/does not answer/)
  })

  it('fails in the same way if STS stops in the middle of its answer', async () => {
    const cut = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) })
    replies[base] = () => new Response(cut)
    await expect(ask(presigned())).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})

it.each([undefined, '', 'Basic eDp5', 'Bearer', 'Bearer a b'])(
  'without a token nobody is let in: %j',
  async (authorization) => {
    await expect(authorize({ authorization, methodArn })).rejects.toThrow(/^Unauthorized$/)
    expect(asked).toEqual([])
  },
)

it.each([
  {
    why: 'a token that proves nothing',
    issuers: '[]',
    level: 'info',
    says: 'the token was rejected',
    thrown: /^Unauthorized$/,
  },
  { why: 'a failure of ours', issuers: 'no JSON', level: 'error', says: 'is not JSON', thrown: 'SETPOINT_ISSUERS' },
])('the log has $why as $level', async ({ issuers: said, level, says, thrown }) => {
  const lines: string[] = []
  const environment = {
    SETPOINT_ADMINS: '[]',
    SETPOINT_ISSUERS: said,
    SETPOINT_CLUSTER_ID: clusterId,
    SETPOINT_LOG: 'info',
    SETPOINT_METRICS: 'Setpoint',
  }
  const write = (line: string): void => void lines.push(line)
  const authorizer = authorizerFunction({ ...lambdaBoundary, environment, clock, write })
  const event = { type: 'TOKEN', authorizationToken: 'Bearer a.b.c', methodArn } as const
  await expect(authorizer(event, {} as Context)).rejects.toThrow(thrown)
  const told = lines.filter((line) => line.includes(says)).map((line) => (JSON.parse(line) as { level: string }).level)
  expect(told).toEqual([level])
})

it('takes no issuer whose keys anybody on the way could name', () => {
  const environment = { SETPOINT_ISSUERS: JSON.stringify([{ issuer: 'http://issuer.example.com', audience }]) }
  const nobody = (): Promise<Response> => Promise.reject(new Error('asked'))
  expect(() => createAuthorize({ ...lambdaBoundary, clock, environment }, nobody)).toThrow(
    /http:\/\/issuer.* does not begin with https/,
  )
})
