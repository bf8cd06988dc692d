import { parseJson } from '../../model/parse-json.ts'
import type { TokenIssuer } from '../../adapters/aws/sign-in/jwt-verifier.ts'
import { auditScopes, type AuditScope } from '../../ports/audit.ts'
import { logLevels, type LogLevel } from '../../adapters/node/json-logger.ts'

/**
 * What a deployment tells its functions, by the variables that its infrastructure sets. Each throws a TypeError that
 * names the variable.
 */
export type Environment = Readonly<Record<string, string | undefined>>

export function tableNameOf(environment: Environment): string {
  return requireVariable(environment, 'SETPOINT_TABLE')
}

/** Another one with each switch to another table; told to the API. */
export function tableSwitchOf({ SETPOINT_TABLE_SWITCH: id }: Environment): string | undefined {
  return id
}

/**
 * The URLs of each loop's queues, one as a rule; `system` stands for every loop of the engine, and for the controllers
 * that share its queue.
 */
export function queueUrlsOf(environment: Environment): ReadonlyMap<string, readonly string[]> {
  const urls = json(environment, 'SETPOINT_QUEUES') as Readonly<Record<string, string | readonly string[]>>
  const { system = '' } = urls
  const { SETPOINT_SHARED: shared = '' } = environment
  // In place of a URL, an empty text is how an earlier version said that a controller shares the queue.
  const own = new Map(Object.entries(urls).map(([name, url]) => [name, [url === '' ? system : url].flat()]))
  for (const name of shared.split(' ')) if (name !== '') own.set(name, [system].flat())
  return own
}

/** How many of their queues the controllers are to use that have several: told to the tick. All others use one. */
export function queuesUsedOf({ SETPOINT_QUEUES_USED: used = '{}' }: Environment): ReadonlyMap<string, number> {
  return new Map(Object.entries(json({ SETPOINT_QUEUES_USED: used }, 'SETPOINT_QUEUES_USED') as Record<string, number>))
}

/** How many objects of the loops that share a queue run at once. */
export function sharedConcurrencyOf({ SETPOINT_SHARED_CONCURRENCY: text = '10' }: Environment): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new TypeError(`SETPOINT_SHARED_CONCURRENCY must be a whole number from 1 on, not "${text}"`)
}

/** Which runs are written down for people to read. */
export function keptRunsOf(environment: Environment): KeptRuns {
  return oneOf(environment, 'SETPOINT_RUNS', keptRuns) ?? 'failures'
}

type KeptRuns = (typeof keptRuns)[number]
const keptRuns = ['all', 'failures', 'none'] as const

/** Which requests are recorded. */
export function auditOf(environment: Environment): AuditScope {
  return oneOf(environment, 'SETPOINT_AUDIT', auditScopes) ?? 'off'
}

/** The event bus that transitions go to, if there is one. */
export function busOf({ SETPOINT_BUS: bus }: Environment): string | undefined {
  return bus === '' ? undefined : bus
}

/** Who may do everything: ARNs of IAM roles and users, or `issuer#subject`. */
export function administratorsOf(environment: Environment): readonly string[] {
  return json(environment, 'SETPOINT_ADMINS') as readonly string[]
}

/** Who may read everything, Secrets included, and write nothing. */
export function readersOf(environment: Environment): readonly string[] {
  return environment['SETPOINT_READERS'] === undefined
    ? []
    : (json(environment, 'SETPOINT_READERS') as readonly string[])
}

/**
 * The OIDC issuers whose tokens are taken, each for one audience. Without TLS anybody on the way could name the keys.
 */
export function issuersOf(environment: Environment): readonly TokenIssuer[] {
  const issuers = json(environment, 'SETPOINT_ISSUERS') as readonly TokenIssuer[]
  const open = issuers.find(({ issuer }) => !issuer.startsWith('https://'))
  if (open !== undefined) throw new TypeError(`SETPOINT_ISSUERS has ${open.issuer}, which does not begin with https://`)
  return issuers
}

/** The account that the API is in, where it is asked whose a token is; a stack of before does not say it. */
export function accountOfPlane({ SETPOINT_ACCOUNT: account }: Environment): string | undefined {
  return account === '' ? undefined : account
}

/** Where the function is, as Lambda says. */
export function regionOf({ AWS_REGION: region }: Environment): string | undefined {
  return region
}

/** The table with the public keys of tokens of ServiceAccounts, where they are known. */
export function tokenKeysOf({ SETPOINT_TOKEN_KEYS: table }: Environment): string | undefined {
  return table === '' ? undefined : table
}

/** The table with the key that signs them, where they are made. */
export function signingKeysOf({ SETPOINT_SIGNING_KEYS: table }: Environment): string | undefined {
  return table === '' ? undefined : table
}

/** What a presigned request must have been signed for: another control plane's tokens are not ours. */
export function clusterIdOf(environment: Environment): string {
  return requireVariable(environment, 'SETPOINT_CLUSTER_ID')
}

/** Where this deployment's metrics go in CloudWatch, if it says so. */
export function metricNamespaceOf({ SETPOINT_METRICS: namespace }: Environment): { readonly namespace?: string } {
  return namespace === undefined || namespace === '' ? {} : { namespace }
}

export function logLevelOf(environment: Environment): LogLevel {
  return oneOf(environment, 'SETPOINT_LOG', logLevels) ?? 'info'
}

function oneOf<Word extends string>(environment: Environment, name: string, words: readonly Word[]): Word | undefined {
  const { [name]: given } = environment
  const found = words.find((word) => word === given)
  if (given === undefined || found !== undefined) return found
  throw new TypeError(`${name} is ${given}; it must be one of ${words.join(', ')}`)
}

function json(environment: Environment, name: string): unknown {
  const text = requireVariable(environment, name)
  try {
    return parseJson(text)
  } catch (cause) {
    throw new TypeError(`${name} is not JSON: ${text}`, { cause })
  }
}

function requireVariable(environment: Environment, name: string): string {
  const value = environment[name]
  if (value === undefined || value === '') throw new TypeError(`${name} is not set`)
  return value
}
