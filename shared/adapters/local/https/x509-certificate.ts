import { createHash, createPublicKey, randomBytes, sign, type KeyObject } from 'node:crypto'

/**
 * X.509 certificates of ECDSA keys, signed with SHA-256: RFC 5280 in the little DER that a certificate authority, a
 * server and its clients need.
 */
export interface CertificateRequest {
  /** Common name. */
  readonly subject: string
  /** What the subject belongs to. */
  readonly organizations?: readonly string[]
  /** Common name of who signs: the subject itself for an authority. */
  readonly issuer: string
  readonly key: KeyObject
  readonly issuerKey: KeyObject
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly use:
    | { readonly as: 'authority' }
    | { readonly as: 'server'; readonly hosts: readonly CertificateHost[] }
    | { readonly as: 'client' }
}

/** Where a server is found: by a DNS name or by the bytes of an IP address. */
export type CertificateHost = { readonly dns: string } | { readonly ip: readonly number[] }

/** The certificate as PEM. Its serial number is random. */
export function issueCertificate(request: CertificateRequest): string {
  const content = toBeSigned(request)
  const signature = sign('sha256', content, request.issuerKey)
  return pem(sequence(content, ecdsaWithSha256, bitString(signature)))
}

function toBeSigned(request: CertificateRequest): Buffer {
  const { subject, organizations, issuer, key, issuerKey, notBeforeMs, notAfterMs, use } = request
  return sequence(
    explicit(0, integer([2])), // version 3
    integer(serialNumber()),
    ecdsaWithSha256,
    name(issuer),
    sequence(time(notBeforeMs), time(notAfterMs)),
    name(subject, organizations),
    publicKeyInfo(key),
    explicit(3, sequence(...extensionsOf(use), subjectKeyId(key), authorityKeyId(issuerKey))),
  )
}

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const critical = tlv(0x01, Buffer.of(0xff))

const authorityExtensions = [
  extension([0x55, 0x1d, 0x13], sequence(tlv(0x01, Buffer.of(0xff)), integer([0])), critical), // basicConstraints: CA, signs no other CA
  extension([0x55, 0x1d, 0x0f], tlv(0x03, Buffer.of(1, 0x06)), critical), // keyUsage: certificates and revocation lists
]

function extensionsOf(use: CertificateRequest['use']): readonly Buffer[] {
  if (use.as === 'authority') return authorityExtensions
  return use.as === 'server' ? serverExtensions(use.hosts) : clientExtensions
}

function serverExtensions(hosts: readonly CertificateHost[]): readonly Buffer[] {
  return [
    ...endExtensions(0x01), // extendedKeyUsage: TLS server
    extension([0x55, 0x1d, 0x11], sequence(...hosts.map(alternativeName))),
  ]
}

function endExtensions(purpose: number): readonly Buffer[] {
  return [
    extension([0x55, 0x1d, 0x13], sequence(), critical), // basicConstraints: no CA
    extension([0x55, 0x1d, 0x0f], tlv(0x03, Buffer.of(7, 0x80)), critical), // keyUsage: signatures
    extension([0x55, 0x1d, 0x25], sequence(oid(0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, purpose))),
  ]
}

const clientExtensions = endExtensions(0x02) // extendedKeyUsage: TLS client

function alternativeName(host: CertificateHost): Buffer {
  return 'dns' in host ? tlv(0x82, Buffer.from(host.dns, 'ascii')) : tlv(0x87, Buffer.from(host.ip))
}

function subjectKeyId(key: KeyObject): Buffer {
  return extension([0x55, 0x1d, 0x0e], tlv(0x04, keyId(key)))
}

function authorityKeyId(issuerKey: KeyObject): Buffer {
  return extension([0x55, 0x1d, 0x23], sequence(tlv(0x80, keyId(issuerKey))))
}

/** Any identifier does that is the same in both places; RFC 7093 proposes this one. */
function keyId(key: KeyObject): Buffer {
  return createHash('sha256').update(publicKeyInfo(key)).digest().subarray(0, 20)
}

function publicKeyInfo(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' })
}

/** Positive and not zero, as an INTEGER wants it. */
function serialNumber(): Buffer {
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  return serial
}

function extension(id: readonly number[], value: Buffer, ...flags: readonly Buffer[]): Buffer {
  return sequence(oid(...id), ...flags, tlv(0x04, value))
}

function name(commonName: string, organizations: readonly string[] = []): Buffer {
  const part = (type: number, text: string): Buffer =>
    tlv(0x31, sequence(oid(0x55, 0x04, type), tlv(0x0c, Buffer.from(text))))
  return sequence(...organizations.map((one) => part(0x0a, one)), part(0x03, commonName))
}

/** UTCTime up to 2049, GeneralizedTime from then on. */
function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`
  return digits < '2050' ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits))
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, ...parts)
}

function oid(...bytes: readonly number[]): Buffer {
  return tlv(0x06, Buffer.from(bytes))
}

function integer(bytes: Iterable<number>): Buffer {
  return tlv(0x02, Buffer.from([...bytes]))
}

function bitString(bytes: Buffer): Buffer {
  return tlv(0x03, Buffer.of(0), bytes)
}

function explicit(tag: number, content: Buffer): Buffer {
  return tlv(0xa0 | tag, content)
}

/** Tag, length, value; lengths up to 64 KiB. */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  const { length } = value
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
