import { describe, expect, it } from 'vitest'
import { longOnly } from '../support/strength.ts'
import { billOf, type Use } from './bill.ts'
import { measure, type Cost, type Measured } from './measure.ts'

const nothing: Cost = { readUnits: 0, writeUnits: 0, queueRequests: 0, logBytes: 0 }
const idle: Use = {
  objects: 0,
  changesPerDay: 0,
  readsPerDay: 0,
  resyncHours: 10,
  controllers: 0,
  objectBytes: 1_000,
}
const measured: Measured = {
  tick: { ...nothing, readUnits: 10, writeUnits: 1 },
  tickOfController: { ...nothing, readUnits: 10 },
  change: { readUnits: 2, writeUnits: 8, queueRequests: 1, logBytes: 1_000 },
  creation: nothing,
  resync: { ...nothing, readUnits: 1, queueRequests: 0.1 },
  read: { ...nothing, readUnits: 1 },
  series: { whole: 10, perController: 5 },
}

function lineOf(use: Use, what: string): { amount: number; usd: number } | undefined {
  return billOf(use, measured).lines.find((line) => line.what === what)
}

describe('the bill', () => {
  it('takes what is measured as often as it happens, at its price', () => {
    const writes = lineOf({ ...idle, changesPerDay: 1_000 }, 'DynamoDB writes, changes')
    expect(writes?.amount).toBeCloseTo((8 * 1_000 * 730) / 24)
    expect(writes?.usd).toBeCloseTo((0.625 * 8 * 1_000 * 730) / 24 / 1e6)
  })

  it('reckons a resync for each object and period', () => {
    const reads = lineOf({ ...idle, objects: 100_000, resyncHours: 1 }, 'DynamoDB reads, resync')
    expect(reads?.amount).toBeCloseTo(73_000_000)
    expect(reads?.usd).toBeCloseTo(9.125)
  })

  it('has a tick awake while it sends many resyncs', () => {
    const ticks = (objects: number): number => lineOf({ ...idle, objects, resyncHours: 1 }, 'Lambda ticks')?.amount ?? 0
    expect(ticks(3_000)).toBeCloseTo((43_800 * 200 * 0.25) / 1e3)
    expect(ticks(60_000)).toBeCloseTo((43_800 * (200 + 20_000) * 0.25) / 1e3)
    expect(ticks(1_000_000)).toBeCloseTo((43_800 * (200 + 45_000) * 0.25) / 1e3)
  })

  it('reckons a reservation for each batch of a controller with a rate limit', () => {
    const use = { ...idle, changesPerDay: 24, objects: 1_000 }
    expect(lineOf(use, 'DynamoDB writes, reservations')).toBeUndefined()
    expect(lineOf({ ...use, rateLimited: true }, 'DynamoDB writes, reservations')?.amount).toBeCloseTo(
      730 + 73_000 / (5 / 3),
    )
  })

  it('reckons a write for each failed run, and for each call within the budget of an account', () => {
    expect(lineOf(idle, 'DynamoDB writes, retry budget')).toBeUndefined()
    expect(lineOf({ ...idle, failuresPerDay: 24 }, 'DynamoDB writes, retry budget')?.amount).toBeCloseTo(730)
    expect(lineOf({ ...idle, callsPerDay: 240 }, 'DynamoDB writes, calls of accounts')?.amount).toBeCloseTo(7_300)
  })

  it('has resyncs come in the batches that a minute of them makes', () => {
    const batches = (objects: number): number =>
      (lineOf({ ...idle, objects }, 'SQS receives and deletes')?.amount ?? 0) / 2
    expect(batches(100)).toBeCloseTo(7_300)
    expect(batches(60_000)).toBeCloseTo(4_380_000 / 5)
    const many = lineOf({ ...idle, objects: 60_000, sharedConcurrency: 20 }, 'SQS receives and deletes')?.amount ?? 0
    expect(many / 2).toBeCloseTo(4_380_000 / 10)
  })

  it('has a line for what costs though nothing happens', () => {
    const { lines, usd } = billOf({ ...idle, controllers: 2 }, measured)
    const costs = lines.map(({ what }) => what)
    expect(costs).toContain('SQS polls of idle queues')
    expect(costs).toContain('DynamoDB reads, ticks, of controllers')
    expect(costs).not.toContain('API Gateway')
    expect(usd).toBeCloseTo(lines.reduce((sum, line) => sum + line.usd, 0))
  })

  it('has one in twenty requests traced', () => {
    expect(lineOf({ ...idle, changesPerDay: 24 }, 'X-Ray traces')?.amount).toBeCloseTo(0.05 * 730)
  })

  it('has polls of one queue for all controllers, and of one more for each that is isolated', () => {
    const polls = (isolated: number): number =>
      lineOf({ ...idle, controllers: 9, isolated }, 'SQS polls of idle queues')?.amount ?? 0
    expect(polls(0)).toBeCloseTo(15 * 43_800)
    expect(polls(2)).toBeCloseTo(3 * 15 * 43_800)
  })

  it('never grows by what is free', () => {
    const { usd, usdWithFreeTier } = billOf({ ...idle, controllers: 2, isolated: 2 }, measured)
    expect(usdWithFreeTier).toBeGreaterThan(0)
    expect(usdWithFreeTier).toBeLessThan(usd)
  })
})

describe('what is measured', () => {
  // On a busy machine a sweep may come when its objects have run already: then it is measured again.
  it(
    'is frugal: a resync that finds nothing writes nothing, a change writes twice',
    { ...longOnly, retry: 2 },
    async () => {
      const { resync, change, read, tick } = await measure(600)
      expect(resync.writeUnits).toBe(0)
      expect(resync.readUnits).toBeLessThan(1.6)
      // Its share of a send.
      expect(resync.queueRequests).toBeLessThan(0.2)
      // Nobody watches: the object twice, and the timer of the safety net that comes into the index and goes.
      expect(change.writeUnits).toBeLessThanOrEqual(2 + 2)
      expect(change.readUnits).toBeLessThanOrEqual(2.5)
      // On a busy machine what is kept of kinds and roles is old by then, and read again once in all of them.
      expect(read.readUnits).toBeGreaterThanOrEqual(1)
      expect(read.readUnits).toBeLessThan(1.2)
      expect(read.writeUnits).toBe(0)
      // Where it stands; and how long each queue is, once.
      expect(tick).toMatchObject({ writeUnits: 1, queueRequests: 1 })
    },
  )
})
