import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { issueCertificate } from '../../shared/adapters/local/https/x509-certificate.ts'

/** What a client shows. PEM. */
export interface ClientIdentity {
  readonly key: string
  readonly cert: string
}

export interface CertificateAuthority {
  /** PEM. */
  readonly pem: string
  /** A certificate of a user in groups, from so long before now to so long after. */
  issue(user: string, groups?: readonly string[], lifeMs?: readonly [number, number]): ClientIdentity
  /** Of a server, which is none of a client. */
  issueServer(): ClientIdentity
}

const hourMs = 3_600_000

export function createAuthority(name = 'test authority', lifeMs = hourMs): CertificateAuthority {
  const issuerKey = newKey()
  const validity = (beforeMs: number, afterMs: number) => ({
    notBeforeMs: Date.now() + beforeMs,
    notAfterMs: Date.now() + afterMs,
  })
  const signed = { issuer: name, issuerKey }
  const pem = issueCertificate({
    subject: name,
    key: issuerKey,
    ...signed,
    ...validity(-48 * hourMs, lifeMs),
    use: { as: 'authority' },
  })
  return {
    pem,
    issue: (subject, organizations = [], [beforeMs, afterMs] = [-hourMs, hourMs]) => {
      const key = newKey()
      const cert = issueCertificate({
        subject,
        organizations,
        key,
        ...signed,
        ...validity(beforeMs, afterMs),
        use: { as: 'client' },
      })
      return { key: keyText(key), cert }
    },
    issueServer: () => {
      const key = newKey()
      const use = { as: 'server', hosts: [{ dns: 'localhost' }, { ip: [127, 0, 0, 1] }] } as const
      return {
        key: keyText(key),
        cert: issueCertificate({ subject: 'server', key, ...signed, ...validity(-hourMs, hourMs), use }),
      }
    },
  }
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

function keyText(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
