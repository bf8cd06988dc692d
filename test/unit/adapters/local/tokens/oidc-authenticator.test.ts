import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../../../shared/adapters/node/system-clock.ts'
import { claimUser, type ClaimRules } from '../../../../../shared/adapters/node/claim-user.ts'
import { createKeyFetch } from '../../../../../shared/adapters/local/tokens/key-fetch.ts'
import { createOidcAuthenticator } from '../../../../../shared/adapters/local/tokens/oidc-authenticator.ts'
import type { Authenticator } from '../../../../../shared/ports/authenticator.ts'
import { startOidcIssuer, type OidcIssuer } from '../../../../support/oidc-issuer.ts'
import { useUncaught } from '../../../../support/uncaught.ts'

const thrown = useUncaught()
let issuer: OidcIssuer
let aheadMs: number
beforeEach(async () => {
  issuer = await startOidcIssuer()
  aheadMs = 0
})
afterEach(() => issuer[Symbol.asyncDispose]())

function open(rules: Partial<ClaimRules> = {}, authority: string | undefined = issuer.authority): Authenticator {
  return createOidcAuthenticator({
    oidc: { issuer: issuer.url, clientId: 'setpoint', groupsClaim: 'groups', groupsPrefix: 'corp:', ...rules },
    fetch: createKeyFetch(authority),
    clock: { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs },
  })
}

const show = async (authenticate: Authenticator, token: Promise<string> | string) =>
  authenticate(`Bearer ${await token}`)

describe('a token of the issuer', () => {
  it('is its user, in the groups that it names; the keys are asked for once', async () => {
    const authenticate = open()
    const alice = { name: `${issuer.url}#alice`, groups: ['corp:dev', 'corp:ops', 'system:authenticated'] }
    const token = await issuer.token({ sub: 'alice', groups: ['dev', 'ops', 'dev'] })
    expect(await show(authenticate, token)).toEqual(alice)
    expect(await show(authenticate, token)).toEqual(alice)
    expect(await show(authenticate, issuer.token({ sub: 'bob' }))).toMatchObject({ name: `${issuer.url}#bob` })
    expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
  })

  it('ends with its time, though it was known before', async () => {
    const authenticate = open()
    const token = await issuer.token({ sub: 'alice' }, { endsInSeconds: 60 })
    expect(await show(authenticate, token)).toBeDefined()
    aheadMs = 66_000
    expect(await show(authenticate, token)).toBeUndefined()
  })

  it.each<[string, () => Promise<string> | string]>([
    ['for somebody else', () => issuer.token({ sub: 'alice' }, { audience: 'other' })],
    ['that has ended', () => issuer.token({ sub: 'alice' }, { endsInSeconds: -60 })],
    ['without a subject', () => issuer.token({})],
    [
      'whose signature is of another token',
      async () => {
        const [head, , signature] = (await issuer.token({ sub: 'alice' })).split('.')
        const [, claims] = (await issuer.token({ sub: 'root' })).split('.')
        return `${head}.${claims}.${signature}`
      },
    ],
    [
      'that nobody signed',
      async () => {
        const claims = { iss: issuer.url, aud: 'setpoint', sub: 'alice', exp: 9_999_999_999 }
        const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
        return `${part({ alg: 'none' })}.${part(claims)}.AA`
      },
    ],
  ])('%s is nobody', async (_, token) => expect(await show(open(), token())).toBeUndefined())

  it.each(['', 'abc', 'a.b.c', `${'a'.repeat(9_000)}.b.c`])('%j is nobody, and asks nobody', async (token) => {
    expect(await show(open(), token)).toBeUndefined()
    expect(issuer.asked).toEqual([])
  })

  it('of another issuer is nobody here, and asks nobody', async () => {
    const second = await startOidcIssuer()
    expect(await show(open(), second.token({ sub: 'alice' }))).toBeUndefined()
    expect([...issuer.asked, ...second.asked]).toEqual([])
    await second[Symbol.asyncDispose]()
  })
})

describe('an issuer', () => {
  it.each([
    ['that is out of order', { status: 500, body: '' }, 'answers 500'],
    ['that says too much', { status: 200, body: ' '.repeat(1_100_000) }, 'more than 1000000 bytes'],
    ['that is another', { status: 200, body: '{"issuer":"https://other"}' }, 'is the document of https://other'],
    ['that answers in another language', { status: 200, body: '<html>' }, 'is not valid JSON'],
  ])('%s is said to be away, and asked again two seconds later', async (_, broken, why) => {
    const authenticate = open()
    issuer.broken = broken
    const token = await issuer.token({ sub: 'alice' })
    await expect(show(authenticate, token)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(why),
    })
    await expect(show(authenticate, token)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(issuer.asked).toHaveLength(1)
    issuer.broken = undefined
    aheadMs = 2_000
    expect(await show(authenticate, token)).toBeDefined()
  })

  it('that was away while the clock was ahead is asked again when it is right', async () => {
    const authenticate = open()
    issuer.broken = { status: 500, body: '' }
    const token = await issuer.token({ sub: 'alice' })
    aheadMs = 10_000_000_000
    await expect(show(authenticate, token)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    issuer.broken = undefined
    aheadMs = 0
    expect(await show(authenticate, token)).toBeDefined()
  })

  it.each([204, 205, 304, 999])('that answers %d, which is no document, is away', async (status) => {
    issuer.broken = { status, body: '' }
    const away = { code: 'UNAVAILABLE', message: expect.stringContaining(`status ${status}`) as string }
    await expect(show(open(), issuer.token({ sub: 'alice' }))).rejects.toMatchObject(away)
    expect(thrown()).toEqual([])
  })

  it('whose certificate nobody knows is not believed', async () => {
    const rejected = { code: 'UNAVAILABLE', message: expect.stringContaining('certificate') }
    await expect(
      show(
        createOidcAuthenticator({
          oidc: { issuer: issuer.url, clientId: 'setpoint' },
          fetch: createKeyFetch(),
          clock: systemClock,
        }),
        issuer.token({ sub: 'alice' }),
      ),
    ).rejects.toMatchObject(rejected)
  })

  it('may sign with another key', async () => {
    const authenticate = open()
    expect(await show(authenticate, issuer.token({ sub: 'alice' }))).toBeDefined()
    await issuer.rotate()
    // A key that is not known is looked for twice a minute at most: who sends such tokens makes no traffic.
    expect(await show(authenticate, issuer.token({ sub: 'alice' }))).toBeUndefined()
    expect(issuer.asked).toHaveLength(2)
  })
})

describe('the claims of a token', () => {
  const rules = { issuer: 'https://i', groupsClaim: 'roles' }
  it.each<[object, Partial<ClaimRules>, object | undefined]>([
    [{ sub: 'a' }, {}, { name: 'https://i#a', groups: [] }],
    [{ sub: 'a' }, { usernamePrefix: '-' }, { name: 'a', groups: [] }],
    [{ sub: 'a' }, { usernamePrefix: 'o:' }, { name: 'o:a', groups: [] }],
    [{ sub: 'a', email: 'a@b' }, { usernameClaim: 'email' }, { name: 'a@b', groups: [] }],
    [{ sub: 'a', email: 'a@b', email_verified: true }, { usernameClaim: 'email' }, { name: 'a@b', groups: [] }],
    [{ sub: 'a', email: 'a@b', email_verified: false }, { usernameClaim: 'email' }, undefined],
    [{ sub: 'a', email: 'a@b', email_verified: 'true' }, { usernameClaim: 'email' }, undefined],
    [{ sub: 'a' }, { usernameClaim: 'email' }, undefined],
    [{ sub: 'a', n: 1 }, { usernameClaim: 'n' }, undefined],
    [{ sub: '' }, {}, undefined],
    [{ sub: 'a', roles: 'dev' }, {}, { name: 'https://i#a', groups: ['dev'] }],
    [{ sub: 'a', roles: ['dev', 'ops'] }, { groupsPrefix: 'o:' }, { name: 'https://i#a', groups: ['o:dev', 'o:ops'] }],
    [{ sub: 'a', roles: ['dev', 1] }, {}, undefined],
    [{ sub: 'a', roles: null }, {}, { name: 'https://i#a', groups: [] }],
    [{ sub: 'a', roles: ['system:masters', 'setpoint:readers', 'dev'] }, {}, { name: 'https://i#a', groups: ['dev'] }],
    [{ sub: 'system:admin' }, { usernamePrefix: '-' }, undefined],
  ])('%j by %j are %j', (claims, more, user) => expect(claimUser({ ...claims }, { ...rules, ...more })).toEqual(user))
})
