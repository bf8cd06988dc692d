import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadOwnCertificate } from '../../../../../shared/adapters/local/https/own-certificate.ts'
import { issueCertificate, type CertificateHost } from '../../../../../shared/adapters/local/https/x509-certificate.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

const directory = temporaryDirectory('own')
afterAll(() => directory[Symbol.dispose]())
const at = (name: string): string => join(directory.path, name)

const [beginsMs, endsMs] = [Date.parse('2026-05-01T00:00:00Z'), Date.parse('2026-06-01T00:00:00Z')]
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const pemOf = (one: KeyObject): string => one.export({ type: 'pkcs8', format: 'pem' }).toString()

function certificateOf(...hosts: readonly CertificateHost[]): string {
  const signed = { subject: 's', issuer: 's', key, issuerKey: key, notBeforeMs: beginsMs, notAfterMs: endsMs }
  return issueCertificate({ ...signed, use: { as: 'server', hosts } })
}

const own = certificateOf({ dns: 'api.example.com' })

beforeAll(() => {
  writeFileSync(at('own.crt'), own)
  writeFileSync(at('own.key'), pemOf(key))
  writeFileSync(at('other.key'), pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey))
  writeFileSync(at('text'), 'no PEM')
})

interface Named {
  readonly certificate?: string
  readonly key?: string
  readonly authority?: string
}

function load({ certificate = 'own.crt', key: keyFile = 'own.key', authority }: Named = {}, nowMs = beginsMs) {
  const files = { certificate: at(certificate), key: at(keyFile) }
  return loadOwnCertificate({ ...files, ...(authority !== undefined && { authority: at(authority) }) }, nowMs)
}

it.each([beginsMs, endsMs])('is what the files say, from its first moment to its last: %d', (nowMs) => {
  const tls = { key: pemOf(key), cert: own }
  expect(load({}, nowMs)).toEqual({ tls, name: 'api.example.com', authority: undefined })
  expect(load({ authority: 'own.crt' }, nowMs)).toEqual({ tls, name: 'api.example.com', authority: own })
})

it.each<[Named, number, string]>([
  [{ certificate: 'none' }, beginsMs, 'cannot read {}/none: ENOENT'],
  [{ key: 'none' }, beginsMs, 'cannot read {}/none: ENOENT'],
  [{ authority: 'none' }, beginsMs, 'cannot read {}/none: ENOENT'],
  [{ certificate: 'text' }, beginsMs, '{}/text is not PEM: '],
  [{ key: 'text' }, beginsMs, '{}/text is not PEM: '],
  [{ authority: 'text' }, beginsMs, '{}/text is not PEM: '],
  [{ key: 'other.key' }, beginsMs, '{}/other.key is not the key of {}/own.crt'],
  [{}, endsMs + 1, '{}/own.crt ended at 2026-06-01T00:00:00.000Z'],
  [{}, beginsMs - 1, '{}/own.crt begins at 2026-05-01T00:00:00.000Z'],
])('that is wrong is refused with what to mend: %j at %d', (named, nowMs, says) => {
  const message = expect.stringContaining(says.replaceAll('{}', directory.path))
  expect(() => load(named, nowMs)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', message }))
})

it.each<[readonly CertificateHost[], string | undefined]>([
  [[{ dns: 'a.example.com' }, { dns: 'b.example.com' }], 'a.example.com'],
  [[{ dns: '*.example.com' }, { dns: 'b.example.com' }], 'b.example.com'],
  [[{ ip: [10, 0, 0, 1] }], '10.0.0.1'],
  [[{ ip: [0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] }], '[FE80:0:0:0:0:0:0:1]'],
  [[{ dns: '*.example.com' }], undefined],
  [[], undefined],
])('is called by its first name that is no pattern: %j', (hosts, name) => {
  writeFileSync(at('named.crt'), certificateOf(...hosts))
  const named = { certificate: 'named.crt' }
  if (name === undefined) expect(() => load(named)).toThrow(`${at('named.crt')} names no host (subjectAltName)`)
  else expect(load(named).name).toBe(name)
})
