import type { User } from '../../ports/authenticator.ts'

/** Which claims of a token name its user, as Kubernetes' `--oidc-…` has them. */
export interface ClaimRules {
  readonly issuer: string
  /** Default `sub`. */
  readonly usernameClaim?: string | undefined
  /** Default: the issuer and `#`, but nothing before an `email`. `-`: nothing. */
  readonly usernamePrefix?: string | undefined
  readonly groupsClaim?: string | undefined
  readonly groupsPrefix?: string | undefined
}

/**
 * The user of a token; undefined if it names none. No issuer gives out names and groups that are the control plane's
 * own.
 */
export function claimUser(claims: Readonly<Record<string, unknown>>, rules: ClaimRules): User | undefined {
  const { issuer, usernameClaim = 'sub', usernamePrefix, groupsClaim, groupsPrefix = '' } = rules
  const value = claims[usernameClaim]
  if (typeof value !== 'string' || value === '') return
  // An address that nobody has proven to have may be somebody else's.
  const isUnproven = 'email_verified' in claims && claims['email_verified'] !== true
  if (usernameClaim === 'email' && isUnproven) return
  const name = `${prefixOf(usernamePrefix, usernameClaim, issuer)}${value}`
  const named = groupsClaim === undefined ? [] : groupsIn(claims[groupsClaim])
  if (isReserved(name) || named === undefined) return
  const groups = named.map((group) => `${groupsPrefix}${group}`).filter((group) => !isReserved(group))
  return { name, groups }
}

function prefixOf(prefix: string | undefined, claim: string, issuer: string): string {
  if (prefix === '-') return ''
  return prefix ?? (claim === 'email' ? '' : `${issuer}#`)
}

function groupsIn(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return []
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.every((one) => typeof one === 'string') ? all : undefined
}

function isReserved(name: string): boolean {
  return name.startsWith('system:') || name.startsWith('setpoint:')
}
