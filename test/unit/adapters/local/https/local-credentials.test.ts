import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { writeKubeconfig } from '../../../../../shared/adapters/local/https/kubeconfig.ts'
import { loadLocalCredentials } from '../../../../../shared/adapters/local/https/local-credentials.ts'

const nowMs = Date.parse('2026-05-01T12:00:00Z')
const dayMs = 24 * 3_600_000

let directory: string
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'setpoint-credentials-')), 'tls')
})
afterEach(() => rmSync(join(directory, '..'), { recursive: true }))

const file = (name: string): string => join(directory, name)
const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe('local credentials', () => {
  it('are for the eyes of their owner, and nothing unfinished stays behind', () => {
    loadLocalCredentials(directory, nowMs)
    expect(readdirSync(directory).toSorted()).toEqual(['authority.pem', 'server.pem', 'token'])
    expect(readdirSync(directory).map((name) => mode(file(name)))).toEqual(['600', '600', '600'])
    expect(mode(directory)).toBe('700')
  })

  it('are the same in every later start', () => {
    const first = loadLocalCredentials(directory, nowMs)
    expect(Buffer.from(first.token, 'base64url')).toHaveLength(32)
    expect(loadLocalCredentials(directory, nowMs + 300 * dayMs)).toEqual(first)
  })

  it('certify a server at localhost and both loopback addresses, signed by the authority', () => {
    const { tls, authority } = loadLocalCredentials(directory, nowMs)
    const server = new X509Certificate(tls.cert)
    const signer = new X509Certificate(authority)
    expect(server.checkHost('localhost')).toBe('localhost')
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(server.checkIP('::1')).toBe('::1')
    expect(server.checkHost('example.com')).toBeUndefined()
    expect(server.checkIssued(signer) && server.verify(signer.publicKey)).toBe(true)
    expect([signer.ca, server.ca]).toEqual([true, false])
  })

  it('end after a year for the server and ten for the authority', () => {
    const { tls, authority } = loadLocalCredentials(directory, nowMs)
    expect(new X509Certificate(tls.cert).validToDate.toISOString()).toBe('2027-05-01T12:00:00.000Z')
    expect(new X509Certificate(authority).validToDate.toISOString()).toBe('2036-05-01T12:00:00.000Z')
  })

  it('write years from 2050 in four digits', () => {
    const { authority } = loadLocalCredentials(directory, Date.parse('2045-01-01T00:00:00Z'))
    expect(new X509Certificate(authority).validToDate.getUTCFullYear()).toBe(2055)
  })

  it('renew the server 30 days before its end, under the same authority and token', () => {
    const first = loadLocalCredentials(directory, nowMs)
    const renewed = loadLocalCredentials(directory, nowMs + 336 * dayMs)
    expect(renewed.tls.cert).not.toBe(first.tls.cert)
    expect({ ...renewed, tls: first.tls }).toEqual(first)
  })

  it.each([
    [335 * dayMs - 1_000, true],
    [335 * dayMs, false],
  ])('keep the server while it has more than 30 days: after %d ms that is %s', (ms, keeps) => {
    const first = loadLocalCredentials(directory, nowMs)
    expect(loadLocalCredentials(directory, nowMs + ms).tls.cert === first.tls.cert).toBe(keeps)
  })

  it('are made from the day on that this program was written', () => {
    const writtenMs = Date.parse('2026-01-01T00:00:00Z')
    expect(() => loadLocalCredentials(directory, writtenMs - 1)).toThrow('this program is younger')
    expect(() => loadLocalCredentials(directory, writtenMs)).not.toThrow()
  })

  it('renew everything that the authority signed when it comes near its own end', () => {
    const first = loadLocalCredentials(directory, nowMs)
    const renewed = loadLocalCredentials(directory, nowMs + 3_640 * dayMs)
    expect(renewed.authority).not.toBe(first.authority)
    expect(new X509Certificate(renewed.tls.cert).verify(new X509Certificate(renewed.authority).publicKey)).toBe(true)
  })

  it('are not made by a clock that is behind: they would have ended when it is right', () => {
    expect(() => loadLocalCredentials(directory, 1_000)).toThrow(
      'the clock says 1970-01-01T00:00:01.000Z, this program is younger: set the clock',
    )
    loadLocalCredentials(directory, nowMs)
    expect(() => loadLocalCredentials(directory, nowMs - dayMs)).toThrow(
      `the clock says 2026-04-30T12:00:00.000Z, ${file('authority.pem')} is of 2026-05-01T11:00:00.000Z: set the clock, or remove that file`,
    )
    expect(() => loadLocalCredentials(directory, nowMs - 3_600_000)).not.toThrow()
  })

  it('replace a server that was made by a clock that was ahead, once the clock is right', () => {
    const first = loadLocalCredentials(directory, nowMs)
    const ahead = loadLocalCredentials(directory, nowMs + 400 * dayMs)
    const next = loadLocalCredentials(directory, nowMs + dayMs)
    expect(new X509Certificate(next.tls.cert).validToDate.toISOString()).toBe('2027-05-02T12:00:00.000Z')
    expect([ahead.authority, next.authority, next.token]).toEqual([first.authority, first.authority, first.token])
    expect(loadLocalCredentials(directory, nowMs + dayMs)).toEqual(next)
  })

  const damages = [
    { name: 'server.pem', content: 'half of a', because: 'it is no PEM' },
    { name: 'server.pem', content: '', because: 'it is empty' },
    { name: 'token', content: 'short', because: 'it is too short to be a secret' },
  ]
  it.each(damages)('replaces $name when $because', ({ name, content }) => {
    const first = loadLocalCredentials(directory, nowMs)
    writeFileSync(file(name), content)
    const next = loadLocalCredentials(directory, nowMs)
    expect(next).not.toEqual(first)
    expect(loadLocalCredentials(directory, nowMs)).toEqual(next)
  })

  it('replaces a server whose key belongs to another certificate', () => {
    const first = loadLocalCredentials(directory, nowMs)
    rmSync(file('server.pem'))
    const second = loadLocalCredentials(directory, nowMs)
    writeFileSync(file('server.pem'), first.tls.key + second.tls.cert)
    const third = loadLocalCredentials(directory, nowMs)
    expect(new X509Certificate(third.tls.cert).serialNumber).not.toBe(new X509Certificate(second.tls.cert).serialNumber)
  })

  it('replaces a server that another authority signed', () => {
    const first = loadLocalCredentials(directory, nowMs)
    rmSync(file('authority.pem'))
    expect(loadLocalCredentials(directory, nowMs).tls).not.toEqual(first.tls)
  })
})

describe('the kubeconfig', () => {
  it('names the server, its authority and the token, for the eyes of its owner', () => {
    const credentials = loadLocalCredentials(directory, nowMs)
    writeKubeconfig(file('kubeconfig'), 'https://127.0.0.1:8443', credentials)
    const config = parse(readFileSync(file('kubeconfig'), 'utf8'))
    expect(mode(file('kubeconfig'))).toBe('600')
    expect(config).toMatchObject({
      kind: 'Config',
      'current-context': 'setpoint',
      clusters: [{ name: 'setpoint', cluster: { server: 'https://127.0.0.1:8443' } }],
      users: [{ name: 'setpoint', user: { token: credentials.token } }],
      contexts: [{ name: 'setpoint', context: { cluster: 'setpoint', user: 'setpoint' } }],
    })
    expect(atob(config.clusters[0].cluster['certificate-authority-data'])).toBe(credentials.authority)
  })

  it('stays as it is while it is right, and follows the port when that changes', () => {
    const credentials = loadLocalCredentials(directory, nowMs)
    writeKubeconfig(file('kubeconfig'), 'https://127.0.0.1:8443', credentials)
    const { ino } = statSync(file('kubeconfig'))
    writeKubeconfig(file('kubeconfig'), 'https://127.0.0.1:8443', credentials)
    expect(statSync(file('kubeconfig')).ino).toBe(ino)
    writeKubeconfig(file('kubeconfig'), 'https://127.0.0.1:9443', credentials)
    expect(readFileSync(file('kubeconfig'), 'utf8')).toContain('https://127.0.0.1:9443')
  })
})
