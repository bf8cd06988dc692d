import { beforeEach, describe, expect, it } from 'vitest'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import type { Condition, ConditionStatus } from '../../../../shared/model/conditions.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { createSeeing, type AwsBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { openPublish, type Publish } from '../../../../shared/runtime/aws/publish.ts'
import { bufferOf, type TransportRequest, type TransportResponse } from '../../../../shared/testing-aws/dynalite.ts'
import { awsBoundary } from '../../../support/aws-boundary.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

interface Sent {
  readonly Entries: readonly { readonly EventBusName: string; readonly DetailType: string; readonly Detail: string }[]
}

let clock: VirtualClock
let requests: Sent[]
let lines: string[]
/** What the bus answers to each entry. */
let answer: object
/** Of whom it refuses to hear at all. */
let refused: readonly string[]
/** It takes every request, and says nothing. */
let isSilent: boolean

beforeEach(() => {
  clock = createVirtualClock()
  requests = []
  lines = []
  answer = { EventId: 'id' }
  refused = []
  isSilent = false
})

/** The client of AWS itself, without a network. */
function open(environment: AwsBoundary['environment']): Publish {
  const handle = async ({ body }: TransportRequest): Promise<{ readonly response: TransportResponse }> => {
    const sent = JSON.parse(bufferOf(body).toString()) as Sent
    requests.push(sent)
    if (isSilent) await new Promise(() => {})
    const reply = {
      FailedEntryCount: 0,
      Entries: sent.Entries.map((entry) => (refused.includes(nameOf(entry)) ? malformed : answer)),
    }
    const headers = { 'content-type': 'application/x-amz-json-1.1' }
    return { response: { statusCode: 200, headers, body: Buffer.from(JSON.stringify(reply)) } }
  }
  const boundary = awsBoundary({ handle }, { environment, clock, write: (line) => void lines.push(line) })
  return openPublish(boundary, createSeeing(boundary))
}

const malformed = { ErrorCode: 'MalformedDetail', ErrorMessage: 'no' }

function nameOf({ Detail }: Sent['Entries'][number]): string {
  return (JSON.parse(Detail) as { readonly name: string }).name
}

function change(name: string, was: ConditionStatus, is: ConditionStatus): Change {
  return { type: 'modified', touched: ['status'], before: widget(name, was), stored: widget(name, is) }
}

function widget(name: string, status: ConditionStatus): StoredObject {
  const { object, engine } = storedWidget(name, { resourceVersion: '7' })
  const ready: Condition = {
    type: 'Ready',
    status,
    reason: 'R',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  return { object: { ...object, status: { conditions: [ready] } }, engine }
}

const untilMs = Infinity

it('tells the bus of the transitions in a batch of changes, and of no other change', async () => {
  const publish = open({ SETPOINT_BUS: 'events' })
  await publish([change('a', 'False', 'True'), change('b', 'True', 'True'), change('c', 'True', 'False')], untilMs)
  const told = requests.flatMap(({ Entries }) =>
    Entries.map((entry) => [entry.EventBusName, entry.DetailType, nameOf(entry)]),
  )
  expect(told).toEqual([
    ['events', 'Ready', 'a'],
    ['events', 'NotReady', 'c'],
  ])
  await publish([change('b', 'True', 'True')], untilMs)
  expect(requests).toHaveLength(1)
})

it.each([{}, { SETPOINT_BUS: '' }])('does nothing where there is no bus: %j', async (environment) => {
  await open(environment)([change('a', 'False', 'True')], untilMs)
  expect(requests).toEqual([])
})

const away = { ErrorCode: 'InternalFailure', ErrorMessage: 'away' }

/** How long it waits for the bus. */
async function timeOf(published: Promise<void>): Promise<number> {
  const startMs = clock.nowMs()
  let isOver = false
  const ended = published.finally(() => (isOver = true))
  while (!isOver) await clock.advance(10)
  await ended
  return clock.nowMs() - startMs
}

function logged(): readonly object[] {
  return lines.map((line) => JSON.parse(line) as object)
}

function many(count: number): readonly Change[] {
  return Array.from({ length: count }, (_, i) => change(`w${i}`, 'False', 'True'))
}

describe('a bus that is away', () => {
  beforeEach(() => {
    answer = away
  })

  it.each([
    ['refuses every entry', () => {}],
    ['says nothing', () => void (isSilent = true)],
  ])('and %s is waited for a moment, and then left alone for half a minute', async (_, trouble) => {
    trouble()
    const publish = open({ SETPOINT_BUS: 'events' })
    expect(await timeOf(publish(many(100), untilMs))).toBeLessThanOrEqual(2_060)
    const asked = requests.length
    expect(await timeOf(publish(many(100), untilMs))).toBeLessThanOrEqual(10)
    expect(requests).toHaveLength(asked)
    await clock.advance(30_000)
    expect(await timeOf(publish(many(100), untilMs))).toBeLessThanOrEqual(560)
    expect(requests.length).toBeGreaterThan(asked)
    expect(logged()).toMatchObject([
      { level: 'error', bus: 'events', events: 100 },
      { level: 'error', bus: 'events', events: 100, message: expect.stringContaining('left alone') as string },
      { level: 'error', bus: 'events', events: 100 },
    ])
  })

  it('is told again when half a minute is over, and the log says what it was not told', async () => {
    const publish = open({ SETPOINT_BUS: 'events' })
    await timeOf(publish(many(1), untilMs))
    await publish(many(7), untilMs)
    await publish(many(8), untilMs)
    await clock.advance(30_000)
    answer = { EventId: 'id' }
    requests.length = 0
    await publish([change('a', 'False', 'True')], untilMs)
    expect(requests.flatMap(({ Entries }) => Entries.map(nameOf))).toEqual(['a'])
    expect(logged()).toMatchObject([{ events: 1 }, { events: 15 }])
  })
})

it('counts what the bus took of a batch', async () => {
  refused = ['w3']
  await open({ SETPOINT_BUS: 'events' })(many(100), untilMs)
  expect(logged()).toMatchObject([{ level: 'error', events: 1 }])
})

it('goes on after what the bus refuses for good', async () => {
  refused = ['w0']
  const publish = open({ SETPOINT_BUS: 'events' })
  await publish(many(1), untilMs)
  await publish([change('a', 'False', 'True')], untilMs)
  expect(requests.flatMap(({ Entries }) => Entries.map(nameOf))).toEqual(['w0', 'a'])
})

it('does not begin without time to end', async () => {
  const publish = open({ SETPOINT_BUS: 'events' })
  await publish(many(2), clock.nowMs() + 2_999)
  expect(requests).toEqual([])
  expect(logged()).toMatchObject([{ level: 'error', events: 2 }])
  await publish(many(2), clock.nowMs() + 3_000)
  expect(requests).toHaveLength(1)
})

it.each([
  ['one request', 1],
  ['two', 10],
])('says that it is away if it refuses others for good: in %s', async (_, count) => {
  answer = away
  refused = Array.from({ length: count }, (__, i) => `w${i}`)
  const changes = [...refused, 'last'].map((name) => change(name, 'False', 'True'))
  const published = open({ SETPOINT_BUS: 'events' })(changes, untilMs)
  await clock.advance(10_000)
  await published
  expect(lines.join('\n')).toContain('InternalFailure')
})

it('logs what the bus refuses for good, and lets reconciles go on', async () => {
  answer = { ErrorCode: 'NotAuthorizedForSource', ErrorMessage: 'no' }
  await open({ SETPOINT_BUS: 'events' })([change('a', 'False', 'True')], untilMs)
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 'error', bus: 'events' }])
})
