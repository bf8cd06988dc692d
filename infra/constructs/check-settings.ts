import { Token } from 'aws-cdk-lib'
import type { TokenIssuer } from './principals.ts'

/** The settings of a control plane that its functions read from their variables, or that AWS would refuse. */
export interface Settings {
  readonly issuers?: readonly TokenIssuer[]
  readonly logLevel?: string
  readonly retryBudget?: { readonly perSecond: number; readonly burst: number } | 'none'
  readonly runHistory?: string
  readonly audit?: string
  readonly sharedConcurrency?: number
  readonly relaysPerShard?: number
}

/**
 * Throws for a setting that the functions would not take. Each of them reads its variables when it starts, which is
 * behind the deployment: it would fail at every event.
 */
export function checkSettings(settings: Settings): void {
  for (const [name, words] of Object.entries(settingWords)) checkWord(name, settings[name as SettingName], words)
  checkCounts(settings)
  checkBudget(settings)
  checkIssuers(settings.issuers ?? [])
}

/** As the functions know them (shared/runtime/aws/environment.ts). */
export const settingWords = {
  logLevel: ['debug', 'info', 'warn', 'error'],
  audit: ['off', 'writes', 'on'],
  runHistory: ['all', 'failures', 'none'],
} as const

type SettingName = keyof typeof settingWords

function checkWord(name: string, word: string | undefined, words: readonly string[]): void {
  if (word === undefined || Token.isUnresolved(word) || words.includes(word)) return
  throw new Error(`${name} must be one of ${words.join(', ')}, not ${JSON.stringify(word)}`)
}

/** Lambda takes a thousand invocations of a queue at once, and a batch has ten messages. */
const concurrencyMax = 10_000

/** Of a mapping of a stream. */
const relaysMax = 10

function checkCounts({ sharedConcurrency, relaysPerShard }: Settings): void {
  checkCount('sharedConcurrency', sharedConcurrency, [2, concurrencyMax])
  checkCount('relaysPerShard', relaysPerShard, [1, relaysMax])
}

/** In MB, of a function. Source: Lambda quotas. */
const memorySizes = [128, 10_240] as const

/** Throws for a memory that Lambda would refuse, when half of the stack is made. */
export function checkMemory(reconciler: string, memorySize: number | undefined): void {
  if (!Token.isUnresolved(memorySize)) checkCount(`memorySize of ${reconciler}`, memorySize, memorySizes)
}

function checkCount(name: string, count: number | undefined, [least, most]: readonly [number, number]): void {
  if (count === undefined || (Number.isInteger(count) && count >= least && count <= most)) return
  throw new Error(`${name} must be a whole number from ${least} to ${most}, not ${count}`)
}

/** The functions read three decimals. */
const perSecondMin = 0.001
const perSecondMax = 99_999
const burstMax = 999_999

function checkBudget({ retryBudget: budget }: Settings): void {
  if (budget === undefined || budget === 'none') return
  const { perSecond, burst } = budget
  const isRate = perSecond >= perSecondMin && perSecond <= perSecondMax
  const isBurst = Number.isInteger(burst) && burst >= 1 && burst <= burstMax
  if (isRate && isBurst) return
  throw new Error(
    `retryBudget must be { perSecond, burst }, with perSecond from ${perSecondMin} to ${perSecondMax} and burst a whole number from 1 to ${burstMax}, or 'none', not ${JSON.stringify(budget)}`,
  )
}

function checkIssuers(issuers: readonly TokenIssuer[]): void {
  for (const { issuer, audience } of issuers) {
    if (!Token.isUnresolved(issuer) && !/^https:\/\/[^/?#]+[^?#]*$/.test(issuer))
      throw new Error(`an issuer must be a URL that begins with https://, not ${JSON.stringify(issuer)}`)
    if (audience === '') throw new Error(`the issuer ${issuer} must have an audience, for whom its tokens are made out`)
  }
}

/**
 * They, if all have names that can be told: among others in a variable, in tags, and in the searches of dashboards.
 * Throws for one that has not.
 */
export function checkNames<Named extends { readonly name: string }>(reconcilers: readonly Named[]): readonly Named[] {
  const wrong = reconcilers.find(({ name }) => !/^[\w.-]+$/.test(name))
  if (wrong === undefined) return reconcilers
  throw new Error(
    `a reconciler that is deployed cannot be called ${JSON.stringify(wrong.name)}: its name may have letters, digits, -, _ and .`,
  )
}
