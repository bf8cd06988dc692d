import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { OperatingError } from '../../../model/errors.ts'
import type { ServerIdentity } from './listener.ts'

/** Where a certificate of somebody's own stands: PEM, the server's first and those that signed it behind it. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
  /** What clients trust. Left out: they trust who signed it already. */
  readonly authority?: string | undefined
}

export interface OwnCertificate {
  readonly tls: ServerIdentity
  /** The name by which clients call the server. */
  readonly name: string
  readonly authority: string | undefined
}

/** Throws BAD_REQUEST with what to mend: a file, a key of another certificate, a time that is over. */
export function loadOwnCertificate(files: CertificateFiles, nowMs: number): OwnCertificate {
  const cert = read(files.certificate)
  const key = read(files.key)
  const authority = files.authority === undefined ? undefined : read(files.authority)
  const certificate = parse(files.certificate, () => new X509Certificate(cert))
  const privateKey = parse(files.key, () => createPrivateKey(key))
  if (authority !== undefined) parse(files.authority ?? '', () => new X509Certificate(authority))
  if (!certificate.checkPrivateKey(privateKey)) throw refusal(files.key, `is not the key of ${files.certificate}`)
  const { validFromDate, validToDate } = certificate
  if (nowMs > validToDate.getTime()) throw refusal(files.certificate, `ended at ${validToDate.toISOString()}`)
  if (nowMs < validFromDate.getTime()) throw refusal(files.certificate, `begins at ${validFromDate.toISOString()}`)
  return { tls: { key, cert }, name: nameOf(files.certificate, certificate), authority }
}

/** The first name that is no pattern; clients look at no other place. */
function nameOf(file: string, { subjectAltName = '' }: X509Certificate): string {
  const names = subjectAltName.split(', ').map((one) => /^(?:DNS|IP Address):(.+)$/.exec(one)?.[1] ?? '*')
  const name = names.find((one) => !one.includes('*'))
  if (name === undefined) throw refusal(file, 'names no host (subjectAltName)')
  return isIP(name) === 6 ? `[${name}]` : name
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new OperatingError('BAD_REQUEST', `cannot read ${file}: ${(cause as Error).message}`, { cause })
  }
}

function parse<Result>(file: string, work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    throw new OperatingError('BAD_REQUEST', `${file} is not PEM: ${(cause as Error).message}`, { cause })
  }
}

function refusal(file: string, why: string): OperatingError {
  return new OperatingError('BAD_REQUEST', `${file} ${why}`)
}
