import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { TLSSocket } from 'node:tls'
import { authenticatedGroup } from '../../../model/access/authorize.ts'
import { OperatingError } from '../../../model/errors.ts'
import type { ClientCertificate, User } from '../../../ports/authenticator.ts'
import type { Clock } from '../../../ports/clock.ts'

/** Users by the certificates of their connections, as in Kubernetes: the common name, and a group for each `O`. */

/** What the certificate of a connection says; undefined where there is none that the authority has signed. */
export function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  if (!socket.authorized) return undefined
  const { subject, valid_to: end } = socket.getPeerCertificate()
  const commonName = textsOf(subject?.CN).at(-1)
  if (commonName === undefined || commonName === '') return undefined
  return { commonName, organizations: textsOf(subject.O), endsAtMs: Date.parse(end) }
}

/** A name that stands once in a subject is a text, and one that stands more often a list. */
function textsOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

/** Undefined once the certificate has ended: a connection may be older. */
export function userOfCertificate(
  { commonName, organizations, endsAtMs }: ClientCertificate,
  { nowMs }: Pick<Clock, 'nowMs'>,
): User | undefined {
  if (!(nowMs() <= endsAtMs)) return undefined
  return { name: commonName, groups: [...new Set([...organizations, authenticatedGroup])] }
}

/** PEM of the authorities in a file that are still valid. Throws BAD_REQUEST, which says what to correct. */
export function loadClientAuthority(file: string, nowMs: number): string {
  const pem = read(file)
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  const authorities = blocks.map((block) => ({ block, ...readAuthority(file, block) }))
  const valid = authorities.filter(({ endsAtMs }) => nowMs <= endsAtMs)
  const [first] = authorities
  if (first === undefined) throw refusal(file, 'holds no certificate in PEM')
  if (valid.length === 0)
    throw refusal(file, `holds ${first.name}, which ended at ${new Date(first.endsAtMs).toISOString()}`)
  return valid.map(({ block }) => block).join('\n')
}

function readAuthority(file: string, pem: string): { readonly name: string; readonly endsAtMs: number } {
  const { ca, subject, validToDate } = parse(file, pem)
  const name = subject.replaceAll('\n', ', ')
  if (!ca) throw refusal(file, `holds the certificate of ${name}, which is of no authority: it signs no others`)
  return { name, endsAtMs: validToDate.getTime() }
}

function parse(file: string, pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw refusal(file, `holds a certificate that cannot be read: ${(cause as Error).message}`, cause)
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw refusal(file, `cannot be read: ${(cause as Error).message}`, cause)
  }
}

function refusal(file: string, why: string, cause?: unknown): OperatingError {
  return new OperatingError('BAD_REQUEST', `--client-ca-file: ${file} ${why}`, { cause })
}
