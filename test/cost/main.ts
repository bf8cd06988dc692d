/**
 * `npm run cost -- --objects=1000 --changes-per-day=1000 --resync=10h --controllers=2`: the bill of a month on AWS.
 * Requests and capacity are measured by running the functions on emulators; prices and what is assumed are printed with
 * it. `--idle`: what the synthesized stack of the project costs while nothing happens, each of its resources priced.
 * `--million`: the bill of a million changes, and of 100,000 objects that run each hour, as docs/aws.md has it.
 * `--quotas`: what AWS's quotas let through of ten million objects, simulated second by second, with a picture.
 */
import { writeFileSync } from 'node:fs'
import { tryDurationMs } from '../../shared/model/duration.ts'
import { optionsOf, refuse } from '../support/command-line.ts'
import { assumed, billOf, type Bill, type Use } from './bill.ts'
import type { Measured } from './measure.ts'
import { million, millionTable } from './million.ts'
import { prices, pricesFrom } from './prices.ts'

const { values } = optionsOf('npm run cost --', {
  options: {
    objects: { type: 'string', default: '1000' },
    'changes-per-day': { type: 'string', default: '1000' },
    'reads-per-day': { type: 'string', default: '10000' },
    resync: { type: 'string', default: '10h' },
    controllers: { type: 'string', default: '2' },
    isolated: { type: 'string', default: '0' },
    'shared-concurrency': { type: 'string', default: '10' },
    'object-bytes': { type: 'string', default: '1500' },
    'rate-limited': { type: 'boolean', default: false },
    'failures-per-day': { type: 'string', default: '0' },
    'calls-per-day': { type: 'string', default: '0' },
    idle: { type: 'boolean', default: false },
    quotas: { type: 'boolean', default: false },
    million: { type: 'boolean', default: false },
  },
})

const use: Use = {
  objects: count('objects'),
  changesPerDay: count('changes-per-day'),
  readsPerDay: count('reads-per-day'),
  resyncHours: resyncMs() / 3_600_000,
  controllers: count('controllers'),
  isolated: count('isolated'),
  sharedConcurrency: count('shared-concurrency'),
  objectBytes: count('object-bytes'),
  rateLimited: values['rate-limited'],
  failuresPerDay: count('failures-per-day'),
  callsPerDay: count('calls-per-day'),
}

function count(name: Exclude<keyof typeof values, 'resync' | 'rate-limited' | 'idle' | 'quotas' | 'million'>): number {
  const number = Number(values[name])
  if (values[name] === '' || !(number >= 0)) return refuse(`--${name}: "${values[name]}" is no number from 0 on`)
  return number
}

function resyncMs(): number {
  return tryDurationMs(values.resync) ?? refuse(`--resync: "${values.resync}" is no duration, such as 10h`)
}

function printMeasured({ tick, tickOfController, creation, change, resync, read, series }: Measured): void {
  console.log('Measured, by the functions on dynalite and fauxqs:')
  console.table(
    Object.fromEntries(
      Object.entries({ change, creation, resync, read, tick, 'tick, per controller': tickOfController }).map(
        ([what, cost]) => [what, Object.fromEntries(Object.entries(cost).map(([part, n]) => [part, round(n)]))],
      ),
    ),
  )
  console.log(`CloudWatch metrics: ${series.whole}, and ${series.perController} for each controller\n`)
}

function printBill({ lines, usd, usdWithFreeTier }: Bill): void {
  console.log(`A month of ${JSON.stringify(use)}:`)
  for (const { what, billed, amount, usd: of } of lines)
    console.log(
      `${money(of)}  ${what}: ${amount.toLocaleString('en', { maximumSignificantDigits: 4 })} × ${billed} at ${prices[billed].usd}${per(prices[billed].per)}`,
    )
  console.log(
    `${money(usd)}  in all, and ${money(usdWithFreeTier).trim()} in an account that has its free tier for this alone\n`,
  )
}

function per(units: number): string {
  return units === 1 ? '' : ` a ${units.toLocaleString('en')}`
}

function money(usd: number): string {
  return usd.toFixed(2).padStart(9)
}

function round(number: number): number {
  return Math.round(number * 100) / 100
}

// The CDK and the functions load slowly. Each option imports its own part, so a wrong option is refused at once.
if (values.idle) {
  const { idleTable, shippedIdleBill } = await import('./idle.ts')
  console.log(idleTable(await shippedIdleBill()))
  process.exit(0)
}
if (values.quotas) {
  const { carriedBy, pictureOf, quotaTable, scenes } = await import('./quota-report.ts')
  const [, raised = refuse('there is no such scene')] = scenes
  writeFileSync('docs/images/quotas.svg', await pictureOf(raised))
  console.log(quotaTable(await Promise.all(scenes.map(carriedBy))))
  console.log('\ndocs/images/quotas.svg shows the first ten minutes of the second one')
  process.exit(0)
}
const { measure } = await import('./measure.ts')
if (values.million) {
  console.log(millionTable(await measure(million.objectBytes)))
  process.exit(0)
}
const measured = await measure(use.objectBytes)
printMeasured(measured)
printBill(billOf(use, measured))
console.log(
  `Prices: US dollars, ${pricesFrom.region}, as gathered on ${pricesFrom.day} (test/cost/prices.ts), no data transfer.`,
)
console.log(`Assumed (test/cost/bill.ts): ${JSON.stringify(assumed)}`)
process.exit(0)
