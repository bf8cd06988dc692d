import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { afterAll, describe, expect, it } from 'vitest'
import {
  certificateOf,
  loadClientAuthority,
  userOfCertificate,
} from '../../../../../shared/adapters/local/https/client-certificates.ts'
import { httpServerNames } from '../../../../../shared/adapters/local/https/http-server.ts'
import type { HttpHandler } from '../../../../../shared/ports/http-handler.ts'
import { createAuthority } from '../../../../support/client-certificate.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'
import { useServers } from './server-harness.ts'

const authority = createAuthority()
const other = createAuthority('another')
const told: HttpHandler = async ({ certificate }) => ({
  status: 200,
  headers: {},
  body: certificate === undefined ? 'nobody' : JSON.stringify([certificate.commonName, certificate.organizations]),
})

describe.each(httpServerNames)('the %s server', (name) => {
  const { serve, send, newAgent, otherCredentials } = useServers(name)
  const ask = async (shown: object, clientAuthority: string | undefined = authority.pem) => {
    const own = otherCredentials()
    const tls = { ...own.tls, ...(clientAuthority !== undefined && { clientAuthority }) }
    const server = await serve(told, { tls })
    const agent = new Agent({ ca: own.authority, ...shown })
    const { body } = await send(server, '/', { agent })
    agent.destroy()
    return body
  }

  it('tells whom a certificate names', async () => {
    expect(await ask(authority.issue('alice', ['developers', 'auditors']))).toBe('["alice",["developers","auditors"]]')
    expect(await ask(authority.issue('Zoë', []))).toBe('["Zoë",[]]')
  })

  it('knows nobody without one, with one of others, of another time or for another use', async () => {
    expect(await ask({})).toBe('nobody')
    expect(await ask(other.issue('alice', ['system:masters']))).toBe('nobody')
    expect(await ask(authority.issue('alice', [], [-7_200_000, -3_600_000]))).toBe('nobody')
    expect(await ask(authority.issue('alice', [], [3_600_000, 7_200_000]))).toBe('nobody')
    expect(await ask(authority.issueServer())).toBe('nobody')
    expect(await ask(authority.issue(''))).toBe('nobody')
  })

  it('asks for none where it was told of no authority', async () => {
    const server = await serve(told)
    const agent = newAgent()
    Object.assign(agent.options, authority.issue('alice'))
    expect((await send(server, '/', { agent })).body).toBe('nobody')
  })

  it('trusts another authority from a renewal on, and remembers nobody from a connection before', async () => {
    const own = otherCredentials()
    const server = await serve(told, { tls: { ...own.tls, clientAuthority: authority.pem } })
    const shown = { ca: own.authority, ...authority.issue('alice'), maxCachedSessions: 10, keepAlive: false }
    const agent = new Agent(shown)
    const asked = async () => (await send(server, '/', { agent })).body
    expect([await asked(), await asked()]).toEqual(['["alice",[]]', '["alice",[]]'])
    server.renew({ ...own.tls, clientAuthority: other.pem })
    expect(await asked()).toBe('nobody')
    agent.destroy()
  })
})

describe('the certificate of a connection', () => {
  const shown = (subject: object | undefined, authorized = true) =>
    certificateOf({
      authorized,
      getPeerCertificate: () => ({ subject, valid_to: 'Nov 27 12:00:00 2026 GMT' }),
    } as unknown as TLSSocket)
  const endsAtMs = Date.parse('2026-11-27T12:00:00Z')

  it.each<[object | undefined, object | undefined]>([
    [
      { CN: 'alice', O: ['a', 'b'] },
      { commonName: 'alice', organizations: ['a', 'b'], endsAtMs },
    ],
    [
      { CN: 'alice', O: 'a' },
      { commonName: 'alice', organizations: ['a'], endsAtMs },
    ],
    [{ CN: ['first', 'last'] }, { commonName: 'last', organizations: [], endsAtMs }],
    [{ CN: '' }, undefined],
    [{ O: 'a' }, undefined],
    [undefined, undefined],
  ])('with the subject %j names %j', (subject, named) => expect(shown(subject)).toEqual(named))

  it('that nobody signed names nobody', () => expect(shown({ CN: 'alice' }, false)).toBeUndefined())
})

it('a certificate names a user until it ends, on an old connection, too', () => {
  const certificate = { commonName: 'alice', organizations: ['a', 'a'], endsAtMs: 1_000 }
  const at = (ms: number) => userOfCertificate(certificate, { nowMs: () => ms })
  expect(at(1_000)).toEqual({ name: 'alice', groups: ['a', 'system:authenticated'] })
  expect(at(1_001)).toBeUndefined()
  expect(userOfCertificate({ ...certificate, endsAtMs: Number.NaN }, { nowMs: () => 0 })).toBeUndefined()
})

describe('the file of authorities', () => {
  const directory = temporaryDirectory('client-ca')
  afterAll(() => directory[Symbol.dispose]())
  const { path } = directory
  const file = join(path, 'ca.pem')
  const load = (text: string): string => {
    writeFileSync(file, text)
    return loadClientAuthority(file, Date.now())
  }

  it('may hold several, and other text', () => {
    expect(load(`# ours\n${authority.pem}\n${other.pem}`).match(/BEGIN CERTIFICATE/g)).toHaveLength(2)
  })

  it.each([
    ['', 'holds no certificate in PEM'],
    ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'holds a certificate that cannot be read'],
    [authority.issue('alice').cert, 'holds the certificate of CN=alice, which is of no authority: it signs no others'],
    [createAuthority('old', -1_000).pem, 'holds CN=old, which ended at'],
  ])('that is wrong is said: %#', (text, why) => {
    expect(() => load(text)).toThrow(`--client-ca-file: ${file} ${why}`)
  })

  it('may be used to the last moment of its certificates', () => {
    const { validToDate } = new X509Certificate(authority.pem)
    const at = (nowMs: number) => () => loadClientAuthority(file, nowMs)
    writeFileSync(file, authority.pem)
    expect(at(validToDate.getTime())()).toContain('BEGIN CERTIFICATE')
    expect(at(validToDate.getTime() + 1)).toThrow('holds CN=test authority, which ended at')
  })

  it('is taken without those that have ended: the others go on', () => {
    const next = createAuthority('next', 7_200_000)
    expect(load(`${createAuthority('old', -1_000).pem}\n${next.pem}`)).toBe(next.pem.trim())
  })

  it('has to be there', () => {
    expect(() => loadClientAuthority(join(path, 'none'), Date.now())).toThrow(/none cannot be read: ENOENT/)
  })
})
