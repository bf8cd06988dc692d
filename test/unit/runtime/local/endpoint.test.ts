import { generateKeyPairSync } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { issueCertificate } from '../../../../shared/adapters/local/https/x509-certificate.ts'
import { loadEndpoint, renewEndpoint } from '../../../../shared/runtime/local/endpoint.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

const directory = temporaryDirectory('endpoint')
afterAll(() => directory[Symbol.dispose]())
const at = (name: string): string => join(directory.path, name)

const nowMs = Date.parse('2026-11-27T00:00:00Z')
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const place = {
  directory: directory.path,
  host: '0.0.0.0',
  certificate: { certificate: at('tls.crt'), key: at('tls.key') },
  signIn: {},
}

function writeCertificate(dns: string): void {
  const signed = {
    subject: 's',
    issuer: 's',
    key,
    issuerKey: key,
    notBeforeMs: nowMs - 1_000,
    notAfterMs: nowMs + 1_000,
  }
  writeFileSync(at('tls.crt'), issueCertificate({ ...signed, use: { as: 'server', hosts: [{ dns }] } }))
  writeFileSync(at('tls.key'), key.export({ type: 'pkcs8', format: 'pem' }))
}

it('is renewed though the last person who had a token has left, whose absence keeps it from starting', () => {
  writeCertificate('one.example.com')
  writeFileSync(at('users'), `alice sha256:${'0'.repeat(64)}\n`, { mode: 0o600 })
  const begun = loadEndpoint(place, nowMs)
  expect(begun.name).toBe('one.example.com')
  writeFileSync(at('users'), '')
  writeCertificate('two.example.com')
  expect(() => loadEndpoint(place, nowMs)).toThrow('nobody has a token of their own')
  expect(renewEndpoint(place, begun, nowMs).name).toBe('two.example.com')
})

it('is renewed with the token that the server takes, though that was removed: another is for the next start', () => {
  const local = { ...place, host: '127.0.0.1', certificate: undefined }
  const begun = loadEndpoint(local, nowMs)
  rmSync(at('token'))
  expect(renewEndpoint(local, begun, nowMs).token).toBe(begun.token)
  expect(loadEndpoint(local, nowMs).token).not.toBe(begun.token)
})
