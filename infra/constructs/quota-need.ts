import { feedingOf } from './work-queue.ts'

/** What decides how many functions a control plane may have run at once. */
export interface QuotaUse {
  readonly sharedConcurrency: number
  /** Of each Controller that has a function of its own. */
  readonly isolated: readonly { readonly concurrency: number }[]
  readonly relaysPerShard: number
  /** Default: one. */
  readonly ticksAtOnce?: number
  /** Whether the functions of queues keep theirs from others. */
  readonly isReserved?: boolean
}

/** Of a table on demand, as long as it is new. */
const shards = 4
/** One each for the API, the authorizer and dead letters. People may ask for more. */
const others = 3
/** Of Lambda's executions at once, in new accounts. */
const smallestQuota = 10

/** What Lambda wants left over for functions that reserve nothing. */
const unreserved = 100

/** How many functions run at once when all are busy. */
export function functionsAtOnce({ sharedConcurrency, isolated, relaysPerShard, ticksAtOnce = 1 }: QuotaUse): number {
  const workers = [{ concurrency: sharedConcurrency }, ...isolated].map((one) => feedingOf(one).maxConcurrency)
  return workers.reduce((sum, count) => sum + count, 0) + shards * relaysPerShard + ticksAtOnce + others
}

/** What is to be raised before a deployment, if anything; nobody looks into the account. */
export function quotaAdvice(use: QuotaUse): string | undefined {
  const count = functionsAtOnce(use) + (use.isReserved === true ? unreserved : 0)
  if (count <= smallestQuota) return undefined
  return [
    `up to ${count} functions run at once, and a new account may run ${smallestQuota}: functions that are refused come later, and after ten times as dead letters.`,
    `What yours may: aws service-quotas get-service-quota ${executions};`,
    `more: aws service-quotas request-service-quota-increase ${executions} --desired-value=1000`,
  ].join(' ')
}

/** Lambda's "Concurrent executions". */
const executions = '--service-code=lambda --quota-code=L-B99A9384'
