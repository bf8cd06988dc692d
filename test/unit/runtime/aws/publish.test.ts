import { beforeEach, expect, it } from 'vitest'
import type { StreamChange } from '../../../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import type { Condition, ConditionStatus } from '../../../../shared/model/conditions.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { createSeeing, type AwsBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { openPublish } from '../../../../shared/runtime/aws/publish.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import {
  bufferOf,
  testCredentials,
  type TransportRequest,
  type TransportResponse,
} from '../../../../shared/testing-aws/dynalite.ts'
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

beforeEach(() => {
  clock = createVirtualClock()
  requests = []
  lines = []
  answer = { EventId: 'id' }
  refused = []
})

/** The client of AWS itself, without a network. */
function open(environment: AwsBoundary['environment']): (changes: readonly StreamChange[]) => Promise<void> {
  const handle = async ({ body }: TransportRequest): Promise<{ readonly response: TransportResponse }> => {
    const sent = JSON.parse(bufferOf(body).toString()) as Sent
    requests.push(sent)
    const reply = {
      FailedEntryCount: 0,
      Entries: sent.Entries.map((entry) => (refused.includes(nameOf(entry)) ? malformed : answer)),
    }
    const headers = { 'content-type': 'application/x-amz-json-1.1' }
    return { response: { statusCode: 200, headers, body: Buffer.from(JSON.stringify(reply)) } }
  }
  const settings = { region: 'us-east-1', credentials: testCredentials, requestHandler: { handle } as never }
  const boundary: AwsBoundary = {
    environment,
    clock,
    random: createSeededRandom(1),
    write: (line) => void lines.push(line),
    dynamodb: settings,
    sqs: settings,
    eventbridge: settings,
    retire: () => {},
  }
  return openPublish(boundary, createSeeing(boundary))
}

const malformed = { ErrorCode: 'MalformedDetail', ErrorMessage: 'no' }

function nameOf({ Detail }: Sent['Entries'][number]): string {
  return (JSON.parse(Detail) as { readonly name: string }).name
}

function change(name: string, was: ConditionStatus, is: ConditionStatus): StreamChange {
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

it('tells the bus of the transitions in a batch of changes, and of no other change', async () => {
  const publish = open({ SETPOINT_BUS: 'events' })
  await publish([change('a', 'False', 'True'), change('b', 'True', 'True'), change('c', 'True', 'False')])
  const told = requests.flatMap(({ Entries }) =>
    Entries.map((entry) => [entry.EventBusName, entry.DetailType, nameOf(entry)]),
  )
  expect(told).toEqual([
    ['events', 'Ready', 'a'],
    ['events', 'NotReady', 'c'],
  ])
  await publish([change('b', 'True', 'True')])
  expect(requests).toHaveLength(1)
})

it.each([{}, { SETPOINT_BUS: '' }])('does nothing where there is no bus: %j', async (environment) => {
  await open(environment)([change('a', 'False', 'True')])
  expect(requests).toEqual([])
})

it('logs that the bus is away, after some tries, and lets reconciles go on', async () => {
  answer = { ErrorCode: 'InternalFailure', ErrorMessage: 'away' }
  const published = open({ SETPOINT_BUS: 'events' })([change('a', 'False', 'True')])
  while (requests.length < 6) await clock.advance(1_000)
  await published
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 'error', bus: 'events' }])
})

it.each([
  ['one request', 1],
  ['two', 10],
])('says that it is away if it refuses others for good: in %s', async (_, count) => {
  answer = { ErrorCode: 'InternalFailure', ErrorMessage: 'away' }
  refused = Array.from({ length: count }, (__, i) => `w${i}`)
  const changes = [...refused, 'last'].map((name) => change(name, 'False', 'True'))
  const published = open({ SETPOINT_BUS: 'events' })(changes)
  await clock.advance(10_000)
  await published
  expect(lines.join('\n')).toContain('InternalFailure')
})

it('logs what the bus refuses for good, and lets reconciles go on', async () => {
  answer = { ErrorCode: 'NotAuthorizedForSource', ErrorMessage: 'no' }
  await open({ SETPOINT_BUS: 'events' })([change('a', 'False', 'True')])
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([{ level: 'error', bus: 'events' }])
})
