import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { createKeyFetch } from '../../../../../shared/adapters/local/tokens/key-fetch.ts'
import { createOidcAuthenticator } from '../../../../../shared/adapters/local/tokens/oidc-authenticator.ts'
import { createTokenKeyFile } from '../../../../../shared/adapters/local/tokens/token-key-file.ts'
import type { Authenticator } from '../../../../../shared/ports/authenticator.ts'
import { createAuthority } from '../../../../support/client-certificate.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

/** Users of an issuer in memory, by a clock that the test moves. */

const issuer = 'https://issuer.example'
const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const startMs = Date.parse('2026-11-27T12:00:00Z')
const exp = startMs / 1_000 + 60

let nowMs: number
let asked: string[]
let isAway: boolean
let authenticate: Authenticator
beforeEach(() => {
  nowMs = startMs
  asked = []
  isAway = false
  authenticate = createOidcAuthenticator({
    oidc: { issuer, clientId: 'setpoint' },
    clock: { nowMs: () => nowMs, sleep: async () => {} },
    fetch: async (url) => {
      asked.push(url)
      if (isAway) throw new Error('away')
      const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'EdDSA' }]
      return Response.json(url.endsWith('/keys') ? { keys } : { issuer, jwks_uri: `${issuer}/keys` })
    },
  })
})

function tokenOf(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'EdDSA', kid: '1' })}.${part({ iss: issuer, aud: 'setpoint', sub: 'a', exp, ...claims })}`
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`
}
const show = async (token: string) => authenticate(`Bearer ${token}`)

describe('a token', () => {
  it('is checked once, and again when it ends', async () => {
    const token = tokenOf({})
    const user = await show(token)
    expect(user).toMatchObject({ name: `${issuer}#a` })
    nowMs = exp * 1_000 - 1
    expect(await show(token)).toBe(user)
    nowMs += 1
    const again = await show(token)
    expect(again).toEqual(user)
    expect(again).not.toBe(user)
    // Clocks differ by some seconds.
    nowMs += 60_000
    expect(await show(token)).toBeUndefined()
  })

  it.each([
    [8_192, true],
    [8_193, false],
  ])('of %d letters is looked at: %s', async (length, is) => {
    const lengths = [0, 1, 2].map((more) => tokenOf({ pad: 'x'.repeat(5_800 + more) }))
    const base = lengths.find((one) => (length - one.length) % 4 === 0) ?? ''
    const token = tokenOf({ pad: 'x'.repeat(5_800 + lengths.indexOf(base) + ((length - base.length) / 4) * 3) })
    expect(token).toHaveLength(length)
    expect((await show(token)) !== undefined).toBe(is)
    expect(asked.length > 0).toBe(is)
  })

  it('is one of a thousand that are remembered; the oldest goes', async () => {
    // The last letter of a signature has four bits that mean nothing.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const tokens = Array.from({ length: 63 }, (_, i) => tokenOf({ i })).flatMap((token) => {
      const from = letters.indexOf(token.at(-1) ?? '') & 0x30
      return Array.from({ length: 16 }, (_, i) => token.slice(0, -1) + letters[from + i])
    })
    const [first = '', second = '', ...others] = tokens
    const users = [await show(first), await show(second)]
    await Promise.all(others.slice(0, 998).map(show))
    expect(await show(first)).toBe(users[0])
    await show(others[998] ?? '')
    expect(await show(second)).toBe(users[1])
    expect(await show(first)).not.toBe(users[0])
  })
})

it('an issuer that is away is asked again two seconds later, and not before', async () => {
  isAway = true
  const token = tokenOf({})
  const times = []
  for (const ms of [0, 1_999, 2_000, 2_001, 4_000]) {
    nowMs = startMs + ms
    await expect(show(token)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    times.push(asked.length)
  }
  expect(times).toEqual([1, 1, 2, 2, 3])
})

describe('what is fetched', () => {
  const authority = createAuthority('issuer')
  const served = async (bytes: number, work: (url: string) => Promise<void>): Promise<void> => {
    const server = createServer(authority.issueServer(), ({ url }, response) => {
      response.statusCode = url === '/none' ? 404 : 200
      response.end(Buffer.alloc(bytes, 'x'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    await work(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  const fetch = createKeyFetch(authority.pem)

  it('is a megabyte at most', async () => {
    await served(1_000_000, async (url) => {
      const answer = await fetch(url, {})
      expect([answer.status, (await answer.text()).length]).toEqual([200, 1_000_000])
      expect((await fetch(`${url}/none`, {})).status).toBe(404)
    })
    await served(1_000_001, async (url) => {
      await expect(fetch(url, {})).rejects.toThrow('answers with more than 1000000 bytes')
    })
  })

  it('is given up when nobody waits for it', async () => {
    await served(1, async (url) => {
      await expect(fetch(url, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i)
      expect((await fetch(url, { signal: new AbortController().signal })).status).toBe(200)
    })
  })
})

describe('the key of tokens', () => {
  it('is made with the first token, and stays until its file goes', async () => {
    using directory = temporaryDirectory('key')
    const file = join(directory.path, 'key')
    const keys = createTokenKeyFile(file)
    expect([await keys.find('x'), await keys.all()]).toEqual([undefined, []])
    expect(existsSync(file)).toBe(false)
    const made = await keys.current()
    expect(await keys.current()).toBe(made)
    const later = createTokenKeyFile(file)
    expect((await later.all()).map(({ key }) => key.equals(createPublicKey(made.key)))).toEqual([true])
    expect((await later.current()).key.equals(made.key)).toBe(true)
    const text = readFileSync(file, 'utf8')
    rmSync(file)
    expect(await keys.current()).toBe(made)
    expect((await createTokenKeyFile(file).current()).key.equals(made.key)).toBe(false)
    expect(readFileSync(file, 'utf8')).not.toBe(text)
  })

  it('that cannot be read is said', async () => {
    using directory = temporaryDirectory('key')
    const file = join(directory.path, 'key')
    writeFileSync(file, 'no key')
    await expect(createTokenKeyFile(file).current()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: `${file} is no key: remove it, and every token of a ServiceAccount ends`,
    })
  })
})
