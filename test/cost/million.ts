import { amountText, moneyText } from './bill-text.ts'
import { billOf, type Bill, type Use } from './bill.ts'
import type { Measured } from './measure.ts'

/** A million changes a month, and a hundred thousand objects that run each hour. */
export const million: Use = {
  objects: 100_000,
  changesPerDay: 1_000_000 / (730 / 24),
  readsPerDay: 0,
  resyncHours: 1,
  controllers: 2,
  sharedConcurrency: 40,
  objectBytes: 1_500,
}

/** Its bill for docs/aws.md: lines of less than this are one. */
const smallUsd = 0.5

export function millionTable(measured: Measured): string {
  const { lines, usd, usdWithFreeTier }: Bill = billOf(million, measured)
  const large = lines.filter((line) => line.usd >= smallUsd).toSorted((a, b) => b.usd - a.usd)
  const others = lines.filter((line) => line.usd < smallUsd).reduce((sum, line) => sum + line.usd, 0)
  return [
    '| a month | how many | list price |',
    '| --- | --- | --- |',
    ...large.map(({ what, amount, usd: of }) => `| ${what} | ${amountText(amount)} | ${moneyText(of)} |`),
    `| ${lines.length - large.length} others | | ${moneyText(others)} |`,
    `| in all | | ${moneyText(usd)} |`,
    `| with the free tier of the account | | ${moneyText(usdWithFreeTier)} |`,
  ].join('\n')
}
