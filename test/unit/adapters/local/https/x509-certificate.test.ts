import { createECDH, createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  issueCertificate,
  type CertificateRequest,
} from '../../../../../shared/adapters/local/https/x509-certificate.ts'

/** The key whose secret is this number: everybody knows it, and the certificates below are of it. */
function keyOf(secret: number): KeyObject {
  const ecdh = createECDH('prime256v1')
  const d = Buffer.alloc(32)
  d[31] = secret
  ecdh.setPrivateKey(d)
  const point = ecdh.getPublicKey()
  const text = (bytes: Buffer): string => bytes.toString('base64url')
  const jwk = { kty: 'EC', crv: 'P-256', d: text(d), x: text(point.subarray(1, 33)), y: text(point.subarray(33)) }
  return createPrivateKey({ format: 'jwk', key: jwk })
}

const [issuerKey, key] = [keyOf(1), keyOf(2)]
const signed = { issuer: 'setpoint authority', issuerKey }
const from = (notBefore: string, notAfter: string) => ({
  notBeforeMs: Date.parse(notBefore),
  notAfterMs: Date.parse(notAfter),
})

const authority: CertificateRequest = {
  ...signed,
  subject: signed.issuer,
  key: issuerKey,
  ...from('2026-05-01T11:00:00Z', '2049-05-01T12:00:00Z'),
  use: { as: 'authority' },
}
const server: CertificateRequest = {
  ...signed,
  subject: 'setpoint',
  key,
  ...from('2026-05-01T11:00:00Z', '2027-05-01T12:00:00Z'),
  use: {
    as: 'server',
    hosts: [{ dns: 'localhost' }, { ip: [127, 0, 0, 1] }, { ip: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] }],
  },
}
const client: CertificateRequest = {
  ...signed,
  subject: 'Zoë',
  organizations: ['developers', 'auditors'],
  key,
  ...from('2049-12-31T23:59:59Z', '2050-01-01T00:00:00Z'),
  use: { as: 'client' },
}

/** What OpenSSL 3.0 signs when it is asked for the same (`openssl ca -preserveDN`, `string_mask=utf8only`). */
const byOpenssl: readonly (readonly [CertificateRequest, string])[] = [
  [
    authority,
    `MIIBRKADAgECAhBBAAECAwQFBgcICQoLDA0OMAoGCCqGSM49BAMCMB0xGzAZBgNVBAMMEnNldHBvaW50IGF1dGhvcml0eTAeFw0yNjA1
     MDExMTAwMDBaFw00OTA1MDExMjAwMDBaMB0xGzAZBgNVBAMMEnNldHBvaW50IGF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEH
     A0IABGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfWjZjBkMBIGA1Ud
     EwEB/wQIMAYBAf8CAQAwDgYDVR0PAQH/BAQDAgEGMB0GA1UdDgQWBBRc0lL7DOiTJDb6+MzRBAmBuJ7krTAfBgNVHSMEGDAWgBRc0lL7
     DOiTJDb6+MzRBAmBuJ7krQ==`,
  ],
  [
    server,
    `MIIBeaADAgECAhBBAAECAwQFBgcICQoLDA0OMAoGCCqGSM49BAMCMB0xGzAZBgNVBAMMEnNldHBvaW50IGF1dGhvcml0eTAeFw0yNjA1
     MDExMTAwMDBaFw0yNzA1MDExMjAwMDBaMBMxETAPBgNVBAMMCHNldHBvaW50MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEfPJ7GI0D
     T36KUjgDBLUaw8CJaeJ38hs1pgtI/EdmmXgHd1UQ247QQCk9msafdDDbun2t5jzpgimeBLedInhz0aOBpDCBoTAMBgNVHRMBAf8EAjAA
     MA4GA1UdDwEB/wQEAwIHgDATBgNVHSUEDDAKBggrBgEFBQcDATAsBgNVHREEJTAjgglsb2NhbGhvc3SHBH8AAAGHEAAAAAAAAAAAAAAA
     AAAAAAEwHQYDVR0OBBYEFNwM5jPbzJE9r6+kuJrETYzmg/38MB8GA1UdIwQYMBaAFFzSUvsM6JMkNvr4zNEECYG4nuSt`,
  ],
  [
    client,
    `MIIBb6ADAgECAhBBAAECAwQFBgcICQoLDA0OMAoGCCqGSM49BAMCMB0xGzAZBgNVBAMMEnNldHBvaW50IGF1dGhvcml0eTAgFw00OTEy
     MzEyMzU5NTlaGA8yMDUwMDEwMTAwMDAwMFowNzETMBEGA1UECgwKZGV2ZWxvcGVyczERMA8GA1UECgwIYXVkaXRvcnMxDTALBgNVBAMM
     BFpvw6swWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR88nsYjQNPfopSOAMEtRrDwIlp4nfyGzWmC0j8R2aZeAd3VRDbjtBAKT2axp90
     MNu6fa3mPOmCKZ4Et50ieHPRo3UwczAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIHgDATBgNVHSUEDDAKBggrBgEFBQcDAjAdBgNV
     HQ4EFgQU3AzmM9vMkT2vr6S4msRNjOaD/fwwHwYDVR0jBBgwFoAUXNJS+wzokyQ2+vjM0QQJgbie5K0=`,
  ],
]

const serialAt = 11
const serialBytes = 16

/** What is signed: it follows the head of the certificate, and says its own length. */
function signedPart(pem: string): Buffer {
  const part = new X509Certificate(pem).raw.subarray(4)
  return Buffer.from(part.subarray(0, 4 + part.readUInt16BE(2)))
}

/** Tag and length of each element, those within it too. Throws where a length is longer than it has to be. */
function lengthsOf(bytes: Buffer, found: number[] = []): readonly number[] {
  for (let at = 0; at < bytes.length;) {
    const [tag = 0, short = 0] = bytes.subarray(at, at + 2)
    const size = short < 0x80 ? 0 : short - 0x80
    const length = size === 0 ? short : bytes.readUIntBE(at + 2, size)
    if (size > 0 && length < (size === 1 ? 0x80 : 0x100)) throw new Error(`${length} in ${size} bytes`)
    at += 2 + size
    if ((tag & 0x20) !== 0) lengthsOf(bytes.subarray(at, at + length), found)
    else found.push(length)
    at += length
  }
  return found
}

describe('a certificate', () => {
  it.each(byOpenssl)('is what OpenSSL makes of $subject, byte by byte', (request, base64) => {
    const expected = Buffer.from(base64, 'base64')
    const part = signedPart(issueCertificate(request))
    part.set(expected.subarray(serialAt, serialAt + serialBytes), serialAt)
    expect(part.toString('hex')).toBe(expected.toString('hex'))
  })

  it.each([authority, server, client])(
    'of $subject is signed by its issuer, in PEM as OpenSSL writes it',
    (request) => {
      const pem = issueCertificate(request)
      const certificate = new X509Certificate(pem)
      expect(certificate.verify(new X509Certificate(issueCertificate(authority)).publicKey)).toBe(true)
      expect(certificate.toString()).toBe(pem)
    },
  )

  it('has a serial number by chance, of 16 bytes and above zero', () => {
    const serials = Array.from({ length: 64 }, () => signedPart(issueCertificate(server)).subarray(serialAt))
    expect(serials.filter(([first = 0]) => first < 0x40 || first > 0x7f)).toEqual([])
    expect(serials.some(([first = 0, second = 0]) => (first & 0x3f) !== (second & 0x3f))).toBe(true)
    // Each bit but the first two.
    const ones = (bit: number) => serials.filter((bytes) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0).length
    const fixed = Array.from({ length: 8 * serialBytes }, (_, bit) => bit).filter(
      (bit) => ones(bit) % serials.length === 0,
    )
    expect(fixed).toEqual([0, 1])
    for (const at of [0, serialBytes - 1]) expect(new Set(serials.map((bytes) => bytes[at])).size).toBeGreaterThan(4)
  })

  it.each([1, 100, 127, 128, 200, 255, 256, 300])('names who has a name of %d letters', (length) => {
    const subject = 'n'.repeat(length)
    const { raw, subject: said } = new X509Certificate(issueCertificate({ ...client, organizations: [], subject }))
    expect(said).toBe(`CN=${subject}`)
    expect(lengthsOf(raw)).toContain(length)
  })
})
