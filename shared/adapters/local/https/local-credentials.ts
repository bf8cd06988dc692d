import { generateKeyPairSync, randomBytes, X509Certificate, createPrivateKey, type KeyObject } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { OperatingError } from '../../../model/errors.ts'
import { readIfThere, writeAtomically } from '../../node/atomic-file.ts'
import { issueCertificate, type CertificateRequest } from './x509-certificate.ts'

/** What a process on one machine proves itself with, and what it asks its clients for. */
export interface LocalCredentials {
  /** PEM of the server. */
  readonly tls: { readonly key: string; readonly cert: string }
  /** PEM of the authority that signed it: what clients trust. */
  readonly authority: string
  /** What clients send as bearer token. */
  readonly token: string
}

/**
 * The credentials in a directory, made on first use and kept: the authority for ten years, the server's certificate for
 * one, each made anew when it is loaded close to its end. A new authority needs a new kubeconfig. Files are for the
 * owner's eyes only. Throws UNAVAILABLE by a clock that is behind: what it makes would have ended when the clock is
 * right. The same for an authority that is damaged: all who know it would be shut out.
 */
export function loadLocalCredentials(directory: string, nowMs: number): LocalCredentials {
  if (nowMs < writtenMs) throw wrongClock(nowMs, 'this program is younger: set the clock')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const authorityFile = join(directory, 'authority.pem')
  refuseDamagedAuthority(authorityFile)
  const authority = readKept(authorityFile, nowMs, () => true) ?? newAuthority(directory, nowMs)
  // One of a clock that was ahead is replaced: the authority says that this clock is right.
  const isGood = ({ certificate }: Identity): boolean =>
    certificate.verify(authority.certificate.publicKey) && certificate.validFromDate.getTime() <= nowMs
  const server = readKept(join(directory, 'server.pem'), nowMs, isGood) ?? newServer(directory, nowMs, authority)
  return {
    tls: { key: keyText(server), cert: server.certificate.toString() },
    authority: authority.certificate.toString(),
    token: keepToken(join(directory, 'token')),
  }
}

interface Identity {
  readonly key: KeyObject
  readonly certificate: X509Certificate
}

const dayMs = 24 * 3_600_000
const authorityDays = 3_653
/** Apple's limit for certificates is 398 days. */
const serverDays = 365
const renewalDays = 30

const writtenMs = Date.parse('2026-01-01T00:00:00Z')

function wrongClock(nowMs: number, why: string): OperatingError {
  return new OperatingError('UNAVAILABLE', `the clock says ${new Date(nowMs).toISOString()}, ${why}`)
}

/** The identity in a file, if it is whole, has time left and is accepted. Throws UNAVAILABLE if its time is to come. */
function readKept(file: string, nowMs: number, isAccepted: (identity: Identity) => boolean): Identity | undefined {
  const identity = parse(readIfThere(file))
  if (identity === undefined || !isAccepted(identity)) return undefined
  const { certificate, key } = identity
  const { validFromDate, validToDate } = certificate
  if (nowMs < validFromDate.getTime())
    throw wrongClock(nowMs, `${file} is of ${validFromDate.toISOString()}: set the clock, or remove that file`)
  const hasTimeLeft = validToDate.getTime() - nowMs > renewalDays * dayMs
  return hasTimeLeft && certificate.checkPrivateKey(key) ? identity : undefined
}

function refuseDamagedAuthority(file: string): void {
  const found = findDamagedAuthority(file)
  if (found !== undefined) throw new OperatingError('UNAVAILABLE', found)
}

/** In words, with how to go on. Undefined if there is nothing to say. */
export function findDamagedAuthority(file: string): string | undefined {
  const pem = readIfThere(file)
  if (pem === undefined) return undefined
  const identity = parse(pem)
  if (identity?.certificate.checkPrivateKey(identity.key) === true) return undefined
  return `${file} is damaged: put it back, or remove it: another authority is made then, and every kubeconfig that was handed out ends`
}

/** A file that cannot be read as an identity counts as absent: it is replaced by a good one. */
function parse(pem: string | undefined): Identity | undefined {
  if (pem === undefined) return undefined
  try {
    return { key: createPrivateKey(pem), certificate: new X509Certificate(pem) }
  } catch {
    return undefined
  }
}

const authorityName = 'setpoint authority'

function newAuthority(directory: string, nowMs: number): Identity {
  const key = newKey()
  return issue(join(directory, 'authority.pem'), {
    subject: authorityName,
    issuer: authorityName,
    key,
    issuerKey: key,
    ...validity(nowMs, authorityDays),
    use: { as: 'authority' },
  })
}

function newServer(directory: string, nowMs: number, authority: Identity): Identity {
  return issue(join(directory, 'server.pem'), {
    subject: 'setpoint',
    issuer: authorityName,
    key: newKey(),
    issuerKey: authority.key,
    ...validity(nowMs, serverDays),
    use: {
      as: 'server',
      hosts: [{ dns: 'localhost' }, { ip: [127, 0, 0, 1] }, { ip: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] }],
    },
  })
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

/** From an hour ago, for clocks that are behind. */
function validity(nowMs: number, days: number): Pick<CertificateRequest, 'notBeforeMs' | 'notAfterMs'> {
  return { notBeforeMs: nowMs - 3_600_000, notAfterMs: nowMs + days * dayMs }
}

/** Key and certificate stand in one file, so that a crash leaves both or neither. */
function issue(file: string, request: CertificateRequest): Identity {
  const identity = { key: request.key, certificate: new X509Certificate(issueCertificate(request)) }
  writeAtomically(file, keyText(identity) + identity.certificate.toString())
  return identity
}

function keyText({ key }: Identity): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

const tokenBytes = 32

function keepToken(file: string): string {
  const token = readIfThere(file)?.trim() ?? ''
  if (Buffer.from(token, 'base64url').length === tokenBytes) return token
  const fresh = randomBytes(tokenBytes).toString('base64url')
  writeAtomically(file, `${fresh}\n`)
  return fresh
}
