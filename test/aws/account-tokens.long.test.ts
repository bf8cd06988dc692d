import type { APIGatewayAuthorizerResult, APIGatewayProxyEvent, Context } from 'aws-lambda'
import { generateKeyPairSync } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import type { JsonObject } from '../../shared/model/json.ts'
import { lambdaBoundary, type AwsBoundary } from '../../shared/runtime/aws/boundary.ts'
import { testClient, testCredentials } from '../../shared/testing-aws/dynalite.ts'
import { faultyTransport } from '../support/faulty-transport.ts'
import type { Handler } from '../support/lambda-driver.ts'
import { installStreaming, type StreamedAnswer } from '../support/lambda-streaming.ts'
import { createTokenTables, tokenTables } from '../support/token-tables.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { startServices, type Services } from './whole-path.ts'

installStreaming()
const { apiFunction } = await import('../../functions/api.ts')
const { authorizerFunction } = await import('../../functions/authorizer.ts')

/** Tokens of ServiceAccounts: the authorizer and the API, one after the other, as the gateway asks them. */
let services: Services
let clock: VirtualClock
let api: Handler<APIGatewayProxyEvent, StreamedAnswer>
let authorizer: ReturnType<typeof authorizerFunction>

beforeEach(async () => {
  services = await startServices()
  await createTokenTables(testClient(services.dynamodb.transport))
  clock = createVirtualClock(Date.now())
  api = apiFunction(boundaryWith({ SETPOINT_TOKEN_KEYS: table, SETPOINT_SIGNING_KEYS: signingTable }), []) as never
  authorizer = authorizerFunction(boundaryWith({ SETPOINT_TOKEN_KEYS: table }), nobody)
  await send('POST /api/v1/namespaces', { body: { metadata: { name: 'default' } } })
  await send(`POST ${accounts}`, { body: { metadata: { name: 'robot' } } })
  await letAllAskWhoTheyAre()
})
afterEach(() => services[Symbol.asyncDispose]())

const { table, signingTable } = tokenTables
const accounts = '/api/v1/namespaces/default/serviceaccounts'
const maps = '/api/v1/namespaces/default/configmaps'
const secrets = '/api/v1/namespaces/default/secrets'
const whoami = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews'

const nobody = (): Promise<Response> => Promise.reject(new Error('an issuer was asked'))

function boundaryWith(environment: AwsBoundary['environment'], transport = services.dynamodb.transport): AwsBoundary {
  const { endpoint } = services.dynamodb
  return {
    ...lambdaBoundary,
    environment: {
      SETPOINT_TABLE: services.table,
      SETPOINT_QUEUES: '{}',
      SETPOINT_ADMINS: '[]',
      SETPOINT_ISSUERS: '[]',
      SETPOINT_CLUSTER_ID: 'plane',
      ...environment,
    },
    clock,
    random: systemRandom,
    write: () => {},
    dynamodb: { region: 'us-east-1', endpoint, credentials: testCredentials, requestHandler: transport as never },
  }
}

type AuthorizerContext = APIGatewayAuthorizerResult['context']

/** What the authorizer says of a token; rejects as it does. */
async function admit(token: string, asked = authorizer): Promise<APIGatewayAuthorizerResult> {
  const methodArn = 'arn:aws:execute-api:eu-central-1:123456789012:abc/v1/GET/apis'
  return asked({ type: 'TOKEN', authorizationToken: `Bearer ${token}`, methodArn }, {} as Context)
}

interface Sent {
  readonly body?: JsonObject
  readonly token?: string
  /** What the gateway still knows of the token. Default: the authorizer is asked. */
  readonly known?: AuthorizerContext
  readonly headers?: Readonly<Record<string, string>>
}

interface Reply {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests compare what they read of replies
  readonly body: any
}

/** Through the gateway: with a token as who it says, without one as the administrator. */
async function send(line: string, { body, token, known, headers }: Sent = {}, process = api): Promise<Reply> {
  const [httpMethod = '', path = ''] = line.split(' ')
  const administrator = { principal: 'admin', groups: '["system:masters"]' }
  const context = token === undefined ? administrator : (known ?? (await admit(token)).context)
  const event = {
    httpMethod,
    path,
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { authorizer: context },
  }
  const { prelude, stream } = await process(event as never, { getRemainingTimeInMillis: () => 30_000 } as Context)
  const { statusCode } = await prelude
  return { status: statusCode, body: JSON.parse(await text(stream)) }
}

async function tokenFor(spec: JsonObject = {}): Promise<string> {
  const { status, body } = await send(`POST ${accounts}/robot/token`, { body: { spec } })
  expect([status, body.message]).toEqual([201, undefined])
  return body.status.token as string
}

/** As the first tick lets them. */
async function letAllAskWhoTheyAre(): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [{ apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] }]
  await send(`POST ${rbac}/clusterroles`, { body: { metadata: { name: 'whoami' }, rules } })
  const subjects = [{ kind: 'Group', name: 'system:authenticated' }]
  const roleRef = { kind: 'ClusterRole', name: 'whoami' }
  await send(`POST ${rbac}/clusterrolebindings`, { body: { metadata: { name: 'whoami' }, roleRef, subjects } })
}

describe('a token of a ServiceAccount, on AWS', () => {
  it('is let in as its ServiceAccount, with the rights that bindings give it', async () => {
    const token = await tokenFor()
    const { principalId, policyDocument, context } = await admit(token)
    expect([principalId, context]).toEqual([
      'system:serviceaccount:default:robot',
      { account: 'system:serviceaccount:default:robot' },
    ])
    expect(policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }])
    const { uid } = (await send(`GET ${accounts}/robot`)).body.metadata
    expect((await send(whoami, { token, body: {} })).body.status.userInfo).toEqual({
      username: 'system:serviceaccount:default:robot',
      uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${decodeJwt(token).jti}`] },
    })
    expect((await send(`GET ${maps}`, { token })).status).toBe(403)
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    await send(`POST ${rbac}/roles`, { body: { metadata: { name: 'reads' }, rules } })
    const subjects = [{ kind: 'ServiceAccount', name: 'robot' }]
    const roleRef = { kind: 'Role', name: 'reads' }
    await send(`POST ${rbac}/rolebindings`, { body: { metadata: { name: 'robot' }, roleRef, subjects } })
    expect((await send(`GET ${maps}`, { token })).status).toBe(200)
    expect((await send(`POST ${maps}`, { token, body: { metadata: { name: 'x' } } })).status).toBe(403)
  })

  it('ends with its ServiceAccount, whatever the gateway still knows, also if another of that name is made', async () => {
    const token = await tokenFor()
    const known = (await admit(token)).context
    expect((await send(whoami, { token, known, body: {} })).status).toBe(201)
    await send(`DELETE ${accounts}/robot`)
    expect((await send(whoami, { token, known, body: {} })).status).toBe(401)
    await send(`POST ${accounts}`, { body: { metadata: { name: 'robot' } } })
    expect((await send(whoami, { token, known, body: {} })).status).toBe(401)
  })

  it('ends with the Secret that it is bound to, whatever the gateway still knows', async () => {
    await send(`POST ${secrets}`, { body: { metadata: { name: 's' } } })
    const token = await tokenFor({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } })
    const known = (await admit(token)).context
    expect((await send(whoami, { token, known, body: {} })).status).toBe(201)
    await send(`DELETE ${secrets}/s`)
    expect((await send(whoami, { token, known, body: {} })).status).toBe(401)
  })

  it('ends with its time, whatever the gateway still knows', async () => {
    const token = await tokenFor({ expirationSeconds: 600 })
    const known = (await admit(token)).context
    await clock.advance(599_000)
    expect((await send(whoami, { token, known, body: {} })).status).toBe(201)
    await clock.advance(1_000)
    expect((await send(whoami, { token, known, body: {} })).status).toBe(401)
    await expect(admit(token)).rejects.toThrow(/^Unauthorized$/)
  })

  it('for others is not let in, and is known to a review that names them', async () => {
    const token = await tokenFor({ audiences: ['vault'] })
    await expect(admit(token)).rejects.toThrow(/^Unauthorized$/)
    const review = async (spec: JsonObject) =>
      (await send('POST /apis/authentication.k8s.io/v1/tokenreviews', { body: { spec } })).body.status
    expect(await review({ token, audiences: ['vault', 'x'] })).toMatchObject({
      authenticated: true,
      audiences: ['vault'],
      user: { username: 'system:serviceaccount:default:robot' },
    })
    expect(await review({ token })).toEqual({
      authenticated: false,
      error: 'it is no token of a ServiceAccount for this audience, and others are not known here',
    })
    expect(await review({ token: 'k8s-aws-v1.x', audiences: [] })).toMatchObject({ authenticated: false })
  })

  it('that is changed, or signed by somebody else, or by nobody, is not let in', async () => {
    const token = await tokenFor()
    const [head = '', payload = '', signature = ''] = token.split('.')
    const claims = decodeJwt(token)
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forged = encode({ ...claims, sub: 'system:serviceaccount:kube-system:other' })
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const { kid = '' } = decodeProtectedHeader(token)
    const wrong = [
      `${head}.${forged}.${signature}`,
      `${encode({ alg: 'none' })}.${payload}.${signature}`,
      `${encode({ alg: 'HS256', kid })}.${payload}.${signature}`,
      `${head}.${payload}.${signature.slice(0, -4)}AAAA`,
      await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(stranger),
      await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(stranger),
    ]
    for (const one of wrong) await expect(admit(one)).rejects.toThrow(/^Unauthorized$/)
  })

  it('makes nobody of a client who writes another header beside it', async () => {
    const token = await tokenFor()
    const known = (await admit(token)).context
    const administrator = JSON.stringify({ name: 'admin', groups: ['system:masters'] })
    for (const Authorization of [administrator, `Bearer ${administrator}`, `Bearer x, ${administrator}`, ''])
      expect((await send(whoami, { token, known, headers: { Authorization }, body: {} })).status).toBe(401)
  })

  it('is refused for now, and not for good, while its key cannot be read', async () => {
    const token = await tokenFor()
    const away = faultyTransport(services.dynamodb.transport, () => 'broken')
    const asked = authorizerFunction(boundaryWith({ SETPOINT_TOKEN_KEYS: table }, away), nobody)
    const outcome = admit(token, asked).catch((error: unknown) => error)
    for (let i = 0; i < 100; i++) await clock.advance(100)
    expect(String(await outcome)).toContain('cannot read the key of a token')
  })
})

it('a control plane without tables for keys makes no tokens, and takes none', async () => {
  const token = await tokenFor()
  const without = apiFunction(boundaryWith({}), []) as never
  expect((await send(`POST ${accounts}/robot/token`, { body: { spec: {} } }, without)).status).toBe(404)
  await expect(admit(token, authorizerFunction(boundaryWith({}), nobody))).rejects.toThrow(/^Unauthorized$/)
})

describe('a review of a token, on AWS', () => {
  const issuer = 'https://issuer.example.com'
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256' }] }
  const ask = async (url: string): Promise<Response> => {
    const host = new URL(url).host
    if (host === 'issuer.example.com')
      return Response.json(url.endsWith('openid-configuration') ? { issuer, jwks_uri: `${issuer}/jwks` } : jwks)
    const name = host.includes('eu-west-1') ? '999999999999' : '123456789012'
    const Arn = `arn:aws:sts::${name}:assumed-role/Robot/session`
    return Response.json({ GetCallerIdentityResponse: { GetCallerIdentityResult: { Arn } } })
  }
  const environment = {
    SETPOINT_TOKEN_KEYS: table,
    SETPOINT_SIGNING_KEYS: signingTable,
    SETPOINT_ADMINS: JSON.stringify([`${issuer}#ada`]),
    SETPOINT_ISSUERS: JSON.stringify([{ issuer, audience: 'setpoint', groupsClaim: 'groups' }]),
    SETPOINT_ACCOUNT: '123456789012',
  }
  const jwt = (subject: string, seconds = 300, groups: readonly string[] = ['dev']): Promise<string> =>
    new SignJWT({ groups })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .setIssuer(issuer)
      .setAudience('setpoint')
      .setSubject(subject)
      .setExpirationTime(clock.nowMs() / 1_000 + seconds)
      .sign(privateKey)

  const review = async (token: string, audiences: readonly string[] = []): Promise<JsonObject> => {
    const process = apiFunction(boundaryWith(environment), [], undefined, ask as typeof fetch) as never
    const line = 'POST /apis/authentication.k8s.io/v1/tokenreviews'
    const { status, body } = await send(line, { body: { spec: { token, audiences: [...audiences] } } }, process)
    expect([status, body.message]).toEqual([201, undefined])
    return body.status as JsonObject
  }

  it('tells who comes in by an issuer, with the groups that the authorizer gives them', async () => {
    const token = await jwt('ada')
    expect(await review(token)).toEqual({
      authenticated: true,
      user: { username: `${issuer}#ada`, groups: ['system:masters', 'dev', 'system:authenticated'] },
      audiences: ['https://setpoint'],
    })
    expect(await review(token, ['vault'])).toMatchObject({ authenticated: false })
  })

  it('knows ServiceAccounts as before', async () => {
    expect(await review(await tokenFor())).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:default:robot' },
    })
  })

  it('knows nobody who is not let in, or whose token is over or none', async () => {
    for (const token of [await jwt('mallory'), await jwt('ada', -60), 'a.b.c', 'x', 'k8s-aws-v1.x'])
      expect(await review(token)).toEqual({ authenticated: false, error: 'the token is not known' })
  })

  it.each([
    { region: 'eu-central-1', isKnown: true },
    { region: 'eu-west-1', isKnown: false },
  ])('knows principals of its own account, by a token of STS in $region: $isKnown', async ({ region, isKnown }) => {
    const date = new Date(clock.nowMs()).toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const query = new URLSearchParams({
      Action: 'GetCallerIdentity',
      Version: '2011-06-15',
      'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
      'X-Amz-Credential': `AKIA/${date.slice(0, 8)}/${region}/sts/aws4_request`,
      'X-Amz-Date': date,
      'X-Amz-Expires': '60',
      'X-Amz-SignedHeaders': 'host;x-k8s-aws-id',
      'X-Amz-Signature': 'a'.repeat(64),
    })
    const url = `https://sts.${region}.amazonaws.com/?${query.toString()}`
    const status = await review(`k8s-aws-v1.${Buffer.from(url).toString('base64url')}`)
    expect(status).toMatchObject(
      isKnown
        ? { authenticated: true, user: { username: 'arn:aws:iam::123456789012:role/Robot' } }
        : { authenticated: false },
    )
  })
})
