import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLocalJWKSet, decodeJwt, jwtVerify, SignJWT, type JSONWebKeySet } from 'jose'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createTokenKeyFile } from '../../../shared/adapters/local/tokens/token-key-file.ts'
import { createTokenSigner } from '../../../shared/adapters/node/account-tokens.ts'
import type { TokenSigner } from '../../../shared/ports/token-signer.ts'
import type { Webhooks } from '../../../shared/ports/webhooks.ts'
import { findAccount } from '../../../shared/api/access/account-tokens.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { installRoles } from '../../../shared/resources/bootstrap-roles.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts'
import { createHarness, type Harness } from './harness.ts'

let harness: Harness
let clock: VirtualClock
let directory: ReturnType<typeof temporaryDirectory>
let keyFile: string

beforeEach(async () => {
  clock = createVirtualClock()
  directory = temporaryDirectory('tokens')
  keyFile = join(directory.path, 'service-accounts.key')
  const reviewToken = (authorization: string | undefined) =>
    authorization === 'Bearer token' ? { name: 'tester', groups: [] } : undefined
  harness = await createHarness({ tokens: openSigner(), reviewToken }, servers)
  await installRoles(harness.services.resources, [])
  await harness.send(`POST ${accounts}`, { body: { metadata: { name: 'robot' } } })
})
afterEach(() => {
  harness.close()
  directory[Symbol.dispose]()
})

/** A webhook that allows nothing, and says what it was asked about. */
const servers: Webhooks = {
  post: async ({ body }) => {
    const { apiVersion, kind, request: asked } = JSON.parse(body)
    const { resource, subResource, name, object } = asked
    const message = JSON.stringify([resource.resource, subResource, name, asked.kind.kind, object.spec.audiences])
    return JSON.stringify({ apiVersion, kind, response: { uid: asked.uid, allowed: false, status: { message } } })
  },
}

const openSigner = (): TokenSigner => createTokenSigner({ keys: createTokenKeyFile(keyFile), clock })
const accounts = '/api/v1/namespaces/default/serviceaccounts'
const whoami = 'POST /apis/authentication.k8s.io/v1/selfsubjectreviews'

const request = (spec: JsonObject = {}, name = 'robot') =>
  harness.send(`POST ${accounts}/${name}/token`, { body: { spec } })

async function tokenFor(spec: JsonObject = {}): Promise<string> {
  const { status, body } = await request(spec)
  expect([status, body.message]).toEqual([201, undefined])
  return body.status.token as string
}

async function statusOf(token: string): Promise<number> {
  return (await harness.send(whoami, { token, body: {} })).status
}

describe('a token of a ServiceAccount', () => {
  it('says what it is, and for how long', async () => {
    const { body } = await request({ expirationSeconds: 600 })
    expect(body).toMatchObject({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { name: 'robot', namespace: 'default' },
      spec: { audiences: ['https://setpoint'], expirationSeconds: 600 },
      status: { expirationTimestamp: new Date(clock.nowMs() + 600_000).toISOString().replace('.000', '') },
    })
    const claims = decodeJwt(body.status.token as string)
    expect(claims).toMatchObject({ sub: 'system:serviceaccount:default:robot', aud: ['https://setpoint'] })
    expect(Number(claims.exp) - Number(claims.iat)).toBe(600)
  })

  it('names what it ends with as those of Kubernetes do', async () => {
    const secrets = '/api/v1/namespaces/default/secrets'
    const { uid } = (await harness.send(`GET ${accounts}/robot`)).body.metadata
    const secret = (await harness.send(`POST ${secrets}`, { body: { metadata: { name: 'key' } } })).body.metadata
    const token = await tokenFor({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'key' } })
    expect(decodeJwt(token)['kubernetes.io']).toEqual({
      namespace: 'default',
      serviceaccount: { name: 'robot', uid },
      secret: { name: 'key', uid: secret.uid },
    })
  })

  it('is its ServiceAccount, with the rights that bindings give it', async () => {
    const token = await tokenFor()
    const { body } = await harness.send(whoami, { token, body: {} })
    const { uid } = (await harness.send(`GET ${accounts}/robot`)).body.metadata
    expect(body.status.userInfo).toMatchObject({
      username: 'system:serviceaccount:default:robot',
      uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    })
    const list = () => harness.send('GET /api/v1/namespaces/default/configmaps', { token })
    expect((await list()).status).toBe(403)
    await harness.send('POST /apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
      body: {
        metadata: { name: 'robot' },
        roleRef: { kind: 'ClusterRole', name: 'view' },
        subjects: [{ kind: 'ServiceAccount', name: 'robot' }],
      },
    })
    expect((await list()).status).toBe(200)
  })

  it('is the same user each time, so that what was decided for them is remembered', async () => {
    const [token, other] = [await tokenFor(), await tokenFor()]
    const { resources } = harness.services
    const services = { resources, tokens: openSigner() }
    const find = async (one: string) => (await findAccount(one, ['https://setpoint'], services))?.user
    const user = await find(token)
    expect(user).toMatchObject({ name: 'system:serviceaccount:default:robot' })
    expect(await find(token)).toBe(user)
    expect(await find(other)).not.toBe(user)
  })

  it('is for nobody else than the request says: what cannot be read is refused', async () => {
    for (const spec of [
      { audiences: 'vault' },
      { audiences: ['a', 7] },
      { expirationSeconds: 'soon' },
      { boundObjectRef: [] },
    ])
      expect((await request(spec as JsonObject)).status).toBe(400)
    const other = { apiVersion: 'v1', kind: 'ServiceAccount' }
    expect((await harness.send(`POST ${accounts}/robot/token`, { body: other })).status).toBe(400)
    const { status, headers } = await request({ audience: ['a'] })
    expect([status, headers['warning']]).toEqual([201, '299 - "unknown field \\"spec.audience\\""'])
  })

  it.each([
    [60_000, true],
    [61_000, false],
  ])('holds at once by another clock, which is %d ms behind: %s', async (ms, holds) => {
    const token = await tokenFor()
    const behind = { ...clock, nowMs: () => clock.nowMs() - ms }
    const { verify } = createTokenSigner({ keys: createTokenKeyFile(keyFile), clock: behind })
    expect((await verify(token)) !== undefined).toBe(holds)
  })

  it('ends with its time', async () => {
    const token = await tokenFor({ expirationSeconds: 600 })
    expect(await statusOf(token)).toBe(201)
    await clock.advance(599_000)
    expect(await statusOf(token)).toBe(201)
    await clock.advance(1_000)
    expect(await statusOf(token)).toBe(401)
  })

  it('ends with its ServiceAccount, also if another of that name is made', async () => {
    const token = await tokenFor()
    expect(await statusOf(token)).toBe(201)
    await harness.send(`DELETE ${accounts}/robot`)
    expect(await statusOf(token)).toBe(401)
    await harness.send(`POST ${accounts}`, { body: { metadata: { name: 'robot' } } })
    expect(await statusOf(token)).toBe(401)
    expect(await statusOf(await tokenFor())).toBe(201)
  })

  it('ends with the Secret that it is bound to', async () => {
    const secrets = '/api/v1/namespaces/default/secrets'
    const { body: secret } = await harness.send(`POST ${secrets}`, { body: { metadata: { name: 's' } } })
    const ref = { kind: 'Secret', apiVersion: 'v1', name: 's', uid: secret.metadata.uid }
    const token = await tokenFor({ boundObjectRef: ref })
    expect(await statusOf(token)).toBe(201)
    expect((await request({ boundObjectRef: { ...ref, uid: 'other' } })).status).toBe(409)
    expect((await request({ boundObjectRef: { ...ref, name: 'none' } })).status).toBe(404)
    await harness.send(`DELETE ${secrets}/s`)
    expect(await statusOf(token)).toBe(401)
  })

  it('for others is not taken here, and is known to a review that names them', async () => {
    const token = await tokenFor({ audiences: ['vault', 'other'] })
    expect(await statusOf(token)).toBe(401)
    const review = async (spec: JsonObject) =>
      (await harness.send('POST /apis/authentication.k8s.io/v1/tokenreviews', { body: { spec } })).body.status
    expect(await review({ token })).toEqual({ authenticated: false, error: 'the token is not known' })
    expect(await review({ token, audiences: ['vault', 'x'] })).toMatchObject({
      authenticated: true,
      audiences: ['vault'],
      user: { username: 'system:serviceaccount:default:robot' },
    })
    expect(await review({ token: 'token' })).toMatchObject({ authenticated: true, user: { username: 'tester' } })
    expect(await review({ token: 'token', audiences: ['vault'] })).toMatchObject({ authenticated: false })
  })

  it('that was changed, or signed by somebody else, or by nobody, is none', async () => {
    const token = await tokenFor()
    const [head = '', payload = '', signature = ''] = token.split('.')
    const claims = decodeJwt(token)
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:default:other' })).toString(
      'base64url',
    )
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const sign = (key: ReturnType<typeof createPrivateKey>, issuer: string) =>
      new SignJWT({ ...claims, iss: issuer }).setProtectedHeader({ alg: 'ES256' }).sign(key)
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const own = createPrivateKey(readFileSync(keyFile, 'utf8'))
    expect(await statusOf(await sign(own, 'https://setpoint'))).toBe(201)
    const wrong = [
      `${head}.${forged}.${signature}`,
      `${none}.${payload}.`,
      `${none}.${payload}.${signature}`,
      `${head}.${payload}.${signature.slice(0, -4)}AAAA`,
      await sign(stranger, 'https://setpoint'),
      await sign(own, 'https://elsewhere'),
      `${token}x`,
      'x'.repeat(9_000),
    ]
    for (const one of wrong) expect([one, await statusOf(one)]).toEqual([one, 401])
  })

  it('is refused where it could not be as it was asked for', async () => {
    const fields = async (spec: JsonObject) => {
      const { status, body } = await request(spec)
      return [status, body.details.causes[0].field]
    }
    expect(await fields({ expirationSeconds: 599 })).toEqual([422, 'spec.expirationSeconds'])
    expect(await fields({ boundObjectRef: { kind: 'Pod', name: 'x' } })).toEqual([422, 'spec.boundObjectRef.kind'])
    expect(await fields({ boundObjectRef: { kind: 'Secret' } })).toEqual([422, 'spec.boundObjectRef.name'])
    const { body } = await request({ boundObjectRef: { kind: 'Pod', name: 'x' } })
    expect(body.message).toContain('Invalid value: "Pod": a token can be bound to a Secret')
    expect((await request({}, 'nobody')).status).toBe(404)
    expect((await request({ expirationSeconds: 1e9 })).body.spec.expirationSeconds).toBe(365 * 86_400)
    expect((await harness.send(`GET ${accounts}/robot/token`)).status).toBe(405)
    expect((await harness.send(`POST ${accounts}/robot/token`, { token: 'alice', body: {} })).status).toBe(403)
    const rehearsed = await harness.send(`POST ${accounts}/robot/token?dryRun=All`, { body: {} })
    expect([rehearsed.status, rehearsed.body.status]).toEqual([201, {}])
  })
})

describe('admission of a token', () => {
  const admission = '/apis/admissionregistration.k8s.io/v1'
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['serviceaccounts/token'] }
  const matchConstraints = { resourceRules: [rule] }
  const bind = async (type: string, spec: JsonObject) => {
    const made = { metadata: { name: 'p' }, spec: { matchConstraints, ...spec } }
    expect((await harness.send(`POST ${admission}/${type}admissionpolicies`, { body: made })).status).toBe(201)
    const actions = type === 'validating' ? { validationActions: ['Deny'] } : {}
    const binding = { metadata: { name: 'b' }, spec: { policyName: 'p', ...actions } }
    await harness.send(`POST ${admission}/${type}admissionpolicybindings`, { body: binding })
  }
  const deny = (expression: string) => bind('validating', { validations: [{ expression, message: 'no' }] })
  const mutate = (expression: string) =>
    bind('mutating', {
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
    })

  it('bounds who it is for, and for how long', async () => {
    await deny(`object.kind == 'TokenRequest' && object.spec.expirationSeconds <= 3600 && object.status == {}
      && object.spec.audiences == ['https://setpoint'] && request.name == 'robot' && request.namespace == 'default'
      && request.kind.group == 'authentication.k8s.io' && request.subResource == 'token'`)
    expect((await request()).status).toBe(201)
    expect((await request({ audiences: ['vault'] })).body.message).toBe(
      `serviceaccounts "robot" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`,
    )
    const rehearsed = `POST ${accounts}/robot/token?dryRun=All`
    for (const line of [rehearsed, `POST ${accounts}/robot/token`])
      expect((await harness.send(line, { body: { spec: { expirationSeconds: 3_601 } } })).status).toBe(422)
    expect((await request({ audiences: ['vault'] }, 'none')).status).toBe(404)
  })

  it('changes what is asked for, and not into what it cannot be', async () => {
    await mutate(`[JSONPatch{op: 'add', path: '/spec/audiences', value: ['vault']},
      JSONPatch{op: 'replace', path: '/spec/expirationSeconds', value: object.spec.expirationSeconds == 700 ? 5 : 800}]`)
    const { body } = await request()
    expect(body.spec).toEqual({ audiences: ['vault'], expirationSeconds: 800 })
    expect(decodeJwt(body.status.token as string).aud).toEqual(['vault'])
    expect((await request({ expirationSeconds: 700 })).status).toBe(422)
  })

  it('makes no text of a number', async () => {
    await mutate(`[JSONPatch{op: 'replace', path: '/spec/expirationSeconds', value: 'soon'}]`)
    expect((await request()).status).toBe(400)
  })

  it('asks webhooks', async () => {
    const hook = {
      name: 'h.example.com',
      clientConfig: { url: 'https://hooks.example.com' },
      rules: [rule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    }
    const configuration = { metadata: { name: 'h' }, webhooks: [hook] }
    await harness.send(`POST ${admission}/validatingwebhookconfigurations`, { body: configuration })
    const { body } = await request({ audiences: ['vault'] })
    expect(body.message).toContain('["serviceaccounts","token","robot","TokenRequest",["vault"]]')
  })
})

describe('the key', () => {
  it('is made with the first token, for its owner only, and outlives the process', async () => {
    expect(existsSync(keyFile)).toBe(false)
    const token = await tokenFor()
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    const later = openSigner()
    expect(await later.verify(token)).toMatchObject({ subject: 'system:serviceaccount:default:robot' })
  })

  it('that is gone takes its tokens along; one that is none is named', async () => {
    const token = await tokenFor()
    rmSync(keyFile)
    expect(await openSigner().verify(token)).toBeUndefined()
    writeFileSync(keyFile, 'nonsense')
    await expect(openSigner().verify(token)).rejects.toThrow(`${keyFile} is no key`)
  })
})

describe('the issuer of tokens', () => {
  const configuration = '/.well-known/openid-configuration'
  const keySet = '/openid/v1/jwks'

  it('says where its keys are, and by them others know its tokens', async () => {
    expect((await harness.send(`GET ${keySet}`)).body).toBe('{"keys":[]}')
    const token = await tokenFor()
    const told = await harness.send(`GET ${configuration}`, { headers: { host: 'setpoint.example:8443' } })
    expect([told.status, told.headers['cache-control']]).toEqual([200, 'public, max-age=3600'])
    expect(told.body).toEqual({
      issuer: decodeJwt(token).iss,
      jwks_uri: 'https://setpoint.example:8443/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    })
    const { headers, body } = await harness.send(`GET ${keySet}`)
    expect(headers['content-type']).toBe('application/jwk-set+json')
    expect(body).not.toContain('"d"')
    const keys = createLocalJWKSet(JSON.parse(body as string) as JSONWebKeySet)
    const { payload } = await jwtVerify(token, keys, { currentDate: new Date(clock.nowMs()) })
    expect(payload.sub).toBe('system:serviceaccount:default:robot')
  })

  it('tells it to every ServiceAccount, and to nobody else who has no right to it', async () => {
    const token = await tokenFor()
    for (const path of [configuration, keySet]) {
      expect([path, (await harness.send(`GET ${path}`, { token })).status]).toEqual([path, 200])
      expect([path, (await harness.send(`GET ${path}`, { token: 'alice' })).status]).toEqual([path, 403])
      expect([path, (await harness.send(`GET ${path}`, { token: '' })).status]).toEqual([path, 401])
    }
    expect((await harness.send('GET /')).body.paths).toEqual(expect.arrayContaining([configuration, keySet]))
  })
})
