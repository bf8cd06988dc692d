/**
 * US dollars in us-east-1, on demand, without data transfer. AWS renders its price pages by script, so that these are
 * from copies of them in other places, gathered on the day below: compare them with https://aws.amazon.com/pricing
 * before you rely on them. `free` is what each account has free in each month, for ever.
 */
export const pricesFrom = { day: '2026-11-21', region: 'us-east-1' } as const

export interface Price {
  readonly usd: number
  /** What it is the price of. */
  readonly per: number
  readonly free: number
}

export const prices = {
  // DynamoDB on demand, since it was halved in November 2024.
  writeUnit: { usd: 0.625, per: 1e6, free: 0 },
  readUnit: { usd: 0.125, per: 1e6, free: 0 },
  tableGb: { usd: 0.25, per: 1, free: 25 },
  backupGb: { usd: 0.2, per: 1, free: 0 },
  // SQS FIFO: each 64 KB of a request.
  queueRequest: { usd: 0.5, per: 1e6, free: 1e6 },
  // Lambda on arm64.
  invocation: { usd: 0.2, per: 1e6, free: 1e6 },
  gbSecond: { usd: 0.0000133334, per: 1, free: 400_000 },
  // API Gateway's REST APIs: only these stream, which watches need.
  apiCall: { usd: 3.5, per: 1e6, free: 0 },
  // CloudWatch and X-Ray.
  logGb: { usd: 0.5, per: 1, free: 5 },
  metric: { usd: 0.3, per: 1, free: 10 },
  alarm: { usd: 0.1, per: 1, free: 10 },
  dashboard: { usd: 3, per: 1, free: 3 },
  // KMS, of a customer.
  key: { usd: 1, per: 1, free: 0 },
  trace: { usd: 5, per: 1e6, free: 1e5 },
} as const satisfies Record<string, Price>

export type Billed = keyof typeof prices
