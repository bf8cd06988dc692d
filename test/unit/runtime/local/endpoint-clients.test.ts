import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { issueCertificate } from '../../../../shared/adapters/local/https/x509-certificate.ts'
import { loadEndpoint, renewEndpoint } from '../../../../shared/runtime/local/endpoint.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

const directory = temporaryDirectory('endpoint-clients')
afterAll(() => directory[Symbol.dispose]())
const at = (name: string): string => join(directory.path, name)
const dayMs = 86_400_000
const nowMs = Date.parse('2026-11-27T00:00:00Z')
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const signed = { subject: 's', issuer: 's', key, issuerKey: key, notBeforeMs: nowMs - dayMs }

it('the certificate of the server is renewed though the authority of clients has ended', () => {
  const serve = (dns: string, days: number): void =>
    writeFileSync(
      at('tls.crt'),
      issueCertificate({ ...signed, notAfterMs: nowMs + days * dayMs, use: { as: 'server', hosts: [{ dns }] } }),
    )
  writeFileSync(at('tls.key'), key.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(at('clients.crt'), issueCertificate({ ...signed, notAfterMs: nowMs + dayMs, use: { as: 'authority' } }))
  const place = {
    directory: directory.path,
    host: '0.0.0.0',
    certificate: { certificate: at('tls.crt'), key: at('tls.key') },
    signIn: { clientAuthority: at('clients.crt') },
  }
  serve('one.example.com', 30)
  const begun = loadEndpoint(place, nowMs)
  // Another program renews the certificate of the server; nobody that of the authority.
  serve('two.example.com', 90)
  expect(renewEndpoint(place, begun, nowMs + 2 * dayMs).name).toBe('two.example.com')
})
