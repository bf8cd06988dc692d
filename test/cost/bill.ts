import { feedingOf } from '../../infra/constructs/work-queue.ts'
import type { Cost, Measured } from './measure.ts'
import { prices, type Billed } from './prices.ts'

/** What is asked of a control plane. */
export interface Use {
  readonly objects: number
  readonly changesPerDay: number
  /** By people and pipelines, of one object each. */
  readonly readsPerDay: number
  readonly resyncHours: number
  readonly controllers: number
  /** How many of them have a queue and a function of their own. */
  readonly isolated?: number
  /** How many objects of the others run at once: `sharedConcurrency`. Default 10. */
  readonly sharedConcurrency?: number
  /** Of an object's text, with what Kubernetes adds. */
  readonly objectBytes: number
  /** The controllers have a rate limit that nothing has to wait for. */
  readonly rateLimited?: boolean
  /** Runs that fail: each takes of the budget of all retries. */
  readonly failuresPerDay?: number
  /** Calls of somebody else's API, within the budget of an account. */
  readonly callsPerDay?: number
}

export interface Line {
  readonly what: string
  readonly billed: Billed
  readonly amount: number
}

export interface Bill {
  readonly lines: readonly (Line & { readonly usd: number })[]
  readonly usd: number
  /** Of an account that has nothing else. */
  readonly usdWithFreeTier: number
}

/** What is not measured. Milliseconds are of functions that are warm; what a reconciler itself does comes on top. */
export const assumed = {
  daysPerMonth: 730 / 24,
  apiMs: 30,
  relayMs: 20,
  reconcileMs: 100,
  tickMs: 200,
  apiGb: 1,
  tickGb: 0.25,
  otherGb: 0.5,
  /** A tick with more resyncs sends so many each second for each object that may run at once (`pacing.ts`). */
  resyncsPerSecond: 5,
  /** It is awake meanwhile, for so long at most. */
  awakeSecondsMax: 45,
  /**
   * Lambda asks each queue that it reads so often a minute when nothing is in it: five pollers of 20 s each, two for
   * dead letters.
   */
  pollsPerMinute: 15,
  deadLetterPollsPerMinute: 6,
  /** Lambda's own three lines for each invocation, with the 26 bytes that CloudWatch adds to each. */
  platformLogBytes: 360,
  /** An entry of an index with its keys, and what DynamoDB counts besides the bytes of an item. */
  indexEntryBytes: 250,
  itemBytes: 500,
  /** As infra has them, for all controllers together. */
  alarms: 10,
  dashboards: 2,
  /** Of the requests of the API. */
  tracedShare: 0.05,
} as const

/** The bill of a month. */
export function billOf(use: Use, measured: Measured): Bill {
  return totalOf(linesOf(use, measured))
}

/** What lines come to. */
export function totalOf(all: readonly Line[]): Bill {
  const lines = all.map((line) => ({ ...line, usd: usdOf(line.billed, line.amount) }))
  const amounts = Map.groupBy(lines, ({ billed }) => billed)
  const paid = [...amounts].map(([billed, some]) => {
    const amount = sum(some.map((line) => line.amount))
    return usdOf(billed, Math.max(0, amount - prices[billed].free))
  })
  return { lines, usd: sum(lines.map(({ usd }) => usd)), usdWithFreeTier: sum(paid) }
}

function linesOf(use: Use, measured: Measured): readonly Line[] {
  const { controllers, objects, isolated = 0, sharedConcurrency = 10 } = use
  const minutes = assumed.daysPerMonth * 24 * 60
  const changes = use.changesPerDay * assumed.daysPerMonth
  const reads = use.readsPerDay * assumed.daysPerMonth
  const resyncs = (objects * assumed.daysPerMonth * 24) / use.resyncHours
  const { tick, tickOfController, change, resync, read, series } = measured
  const times: readonly (readonly [what: string, cost: Cost, times: number])[] = [
    ['changes', change, changes],
    ['reads', read, reads],
    ['resync', resync, resyncs],
    ['ticks', tick, minutes],
    ['ticks, of controllers', tickOfController, minutes * controllers],
  ]
  const atOnce = resyncs / minutes / Math.max(1, controllers)
  // How many resyncs of a tick come to a function at once, at most. A user's changes come alone.
  const { batchSize } = feedingOf({ concurrency: sharedConcurrency })
  const batches = resyncs / Math.min(batchSize, Math.max(1, atOnce))
  const invocations = { api: changes + reads, relay: 2 * changes, reconcile: changes + batches, tick: minutes }
  const all = sum(Object.values(invocations))
  const busy = Math.min(1, (use.changesPerDay + resyncs / assumed.daysPerMonth) / 24)
  const gb = (objects * (use.objectBytes + assumed.itemBytes + 3 * assumed.indexEntryBytes)) / 1e9
  const { apiGb, otherGb, tickGb, awakeSecondsMax, resyncsPerSecond } = assumed
  const seconds = resyncs / minutes / (resyncsPerSecond * sharedConcurrency)
  const awakeMs = seconds > 1 ? 1e3 * Math.min(awakeSecondsMax, seconds) : 0
  return [
    ...times.map(([what, cost, n]) => lineOf(`DynamoDB writes, ${what}`, 'writeUnit', cost.writeUnits * n)),
    ...times.map(([what, cost, n]) => lineOf(`DynamoDB reads, ${what}`, 'readUnit', cost.readUnits * n)),
    lineOf('DynamoDB writes, reservations', 'writeUnit', use.rateLimited === true ? changes + batches : 0),
    lineOf('DynamoDB writes, retry budget', 'writeUnit', (use.failuresPerDay ?? 0) * assumed.daysPerMonth),
    lineOf('DynamoDB writes, calls of accounts', 'writeUnit', (use.callsPerDay ?? 0) * assumed.daysPerMonth),
    lineOf('DynamoDB storage', 'tableGb', gb),
    lineOf('DynamoDB point-in-time backup', 'backupGb', gb),
    ...times.map(([what, cost, n]) =>
      lineOf(`SQS sends, holds and depths, ${what}`, 'queueRequest', cost.queueRequests * n),
    ),
    lineOf('SQS receives and deletes', 'queueRequest', 2 * (changes + batches)),
    lineOf('SQS polls of idle queues', 'queueRequest', assumed.pollsPerMinute * minutes * (isolated + 1)),
    lineOf('SQS polls for dead letters', 'queueRequest', assumed.deadLetterPollsPerMinute * minutes),
    // As many as run at once are sent at a time, and what is in hand is looked at once a second (`send-line.ts`).
    lineOf('SQS depths while resyncs are sent', 'queueRequest', awakeMs > 0 ? resyncs / sharedConcurrency : 0),
    lineOf('DynamoDB reads while resyncs are sent', 'readUnit', (minutes * awakeMs) / 1e3),
    lineOf('SQS depths of queues of their own', 'queueRequest', minutes * isolated),
    lineOf('Lambda invocations', 'invocation', all),
    lineOf('Lambda api', 'gbSecond', (invocations.api * assumed.apiMs * apiGb) / 1e3),
    lineOf('Lambda relay', 'gbSecond', (invocations.relay * assumed.relayMs * otherGb) / 1e3),
    lineOf('Lambda reconcile', 'gbSecond', (invocations.reconcile * assumed.reconcileMs * otherGb) / 1e3),
    lineOf('Lambda ticks', 'gbSecond', (minutes * (assumed.tickMs + awakeMs) * tickGb) / 1e3),
    lineOf('API Gateway', 'apiCall', invocations.api),
    lineOf(
      'CloudWatch logs',
      'logGb',
      (sum(times.map(([, cost, n]) => cost.logBytes * n)) + all * assumed.platformLogBytes) / 1e9,
    ),
    lineOf('CloudWatch metrics', 'metric', (series.whole + series.perController * controllers) * busy),
    lineOf('CloudWatch alarms', 'alarm', assumed.alarms),
    lineOf('CloudWatch dashboards', 'dashboard', assumed.dashboards),
    lineOf('X-Ray traces', 'trace', assumed.tracedShare * invocations.api),
  ].filter(({ amount }) => amount > 0)
}

function lineOf(what: string, billed: Billed, amount: number): Line {
  return { what, billed, amount }
}

function usdOf(billed: Billed, amount: number): number {
  const { usd, per } = prices[billed]
  return (amount / per) * usd
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
