import { readFileSync } from 'node:fs'
import { userOfCertificate } from '../../adapters/local/https/client-certificates.ts'
import { createTokenAuthenticator, localAdministrator } from '../../adapters/local/https/token-authenticator.ts'
import { createUsersFile } from '../../adapters/local/https/users-file.ts'
import { createKeyFetch } from '../../adapters/local/tokens/key-fetch.ts'
import { createOidcAuthenticator, type OidcOptions } from '../../adapters/local/tokens/oidc-authenticator.ts'
import { OperatingError } from '../../model/errors.ts'
import { proceed } from '../../model/eventual.ts'
import type { Authenticator } from '../../ports/authenticator.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

/** Who is let in beside the administrator and the people of the file: by certificates, and by tokens of an issuer. */
export interface SignIn {
  /** PEM of who signs the certificates of clients. */
  readonly clientAuthority?: string | undefined
  readonly oidc?: OidcSignIn | undefined
}

export interface OidcSignIn extends OidcOptions {
  /** PEM of who signed the certificate of the issuer. Left out: one that everybody trusts. */
  readonly authority?: string | undefined
}

/** The words of a command line, as kube-apiserver has them. */
export const signInWords = {
  'client-ca-file': { type: 'string' },
  'oidc-issuer-url': { type: 'string' },
  'oidc-client-id': { type: 'string' },
  'oidc-username-claim': { type: 'string' },
  'oidc-username-prefix': { type: 'string' },
  'oidc-groups-claim': { type: 'string' },
  'oidc-groups-prefix': { type: 'string' },
  'oidc-ca-file': { type: 'string' },
} as const

export const signInUsage = `  --client-ca-file FILE
                 let in who has a certificate that one of these authorities has signed: CN is the user, each O a group
  --oidc-issuer-url https://… --oidc-client-id ID [--oidc-username-claim sub] [--oidc-username-prefix PREFIX]
    [--oidc-groups-claim CLAIM] [--oidc-groups-prefix PREFIX] [--oidc-ca-file FILE]
                 let in who has a token of this issuer`

type Words = { readonly [word in keyof typeof signInWords]?: string | undefined }

/** Throws BAD_REQUEST for words that say nothing together. */
export function signInOf(words: Words): SignIn {
  return { clientAuthority: words['client-ca-file'], oidc: oidcOf(words) }
}

function oidcOf(words: Words): OidcSignIn | undefined {
  const { 'oidc-issuer-url': issuer, 'oidc-client-id': clientId } = words
  if (issuer === undefined || clientId === undefined || clientId === '') {
    const given = Object.keys(words).filter(
      (word) => word.startsWith('oidc-') && words[word as keyof Words] !== undefined,
    )
    if (given.length === 0) return undefined
    throw refusal(`--${given[0]}: --oidc-issuer-url and --oidc-client-id go together, and the rest with them`)
  }
  checkIssuer(issuer)
  // As for kube-apiserver, an empty word is none: an empty prefix gives nobody the name of somebody else.
  const textOf = (word: keyof Words): string | undefined => words[word] || undefined
  return {
    issuer,
    clientId,
    usernameClaim: textOf('oidc-username-claim'),
    usernamePrefix: textOf('oidc-username-prefix'),
    groupsClaim: textOf('oidc-groups-claim'),
    groupsPrefix: textOf('oidc-groups-prefix'),
    authority: words['oidc-ca-file'],
  }
}

function checkIssuer(issuer: string): void {
  const url = URL.parse(issuer)
  if (url?.protocol === 'https:' && url.search === '' && url.hash === '') return
  throw refusal(`--oidc-issuer-url: ${JSON.stringify(issuer)} is no URL that begins with https:// and has no query`)
}

interface AuthenticatorOptions {
  readonly token: string
  readonly usersFile: string
  readonly signIn: SignIn
  readonly clock: Clock
  readonly logger: Logger
}

/** Throws BAD_REQUEST for a file that cannot be read. */
export function createLocalAuthenticator({
  token,
  usersFile,
  signIn: { oidc },
  clock,
  logger,
}: AuthenticatorOptions): Authenticator {
  const administrator = createTokenAuthenticator(token, localAdministrator)
  const report = (why: string): void => logger.error('users not read', { error: why })
  const people = createUsersFile({ file: usersFile, report, clock })
  const byIssuer = oidc && createOidcAuthenticator({ oidc, fetch: createKeyFetch(readAuthority(oidc)), clock })
  return (authorization, certificate) => {
    const byCertificate = certificate && userOfCertificate(certificate, clock)
    if (byCertificate !== undefined) return byCertificate
    // Nobody is remembered whose token is the administrator's.
    const known = people.recall(authorization)
    if (known !== undefined) return known
    return proceed(
      administrator(authorization),
      (user) => user ?? proceed(people.authenticate(authorization), (one) => one ?? byIssuer?.(authorization)),
    )
  }
}

function readAuthority({ authority }: OidcSignIn): string | undefined {
  if (authority === undefined) return undefined
  try {
    const pem = readFileSync(authority, 'utf8')
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem
  } catch (cause) {
    throw refusal(`--oidc-ca-file: ${authority} cannot be read: ${(cause as Error).message}`, cause)
  }
  throw refusal(`--oidc-ca-file: ${authority} holds no certificate in PEM`)
}

function refusal(why: string, cause?: unknown): OperatingError {
  return new OperatingError('BAD_REQUEST', why, { cause })
}
