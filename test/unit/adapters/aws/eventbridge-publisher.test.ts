import type { EventBridgeClient, PutEventsRequestEntry, PutEventsResultEntry } from '@aws-sdk/client-eventbridge'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  createEventBridgePublisher,
  type PublishTransitions,
} from '../../../../shared/adapters/aws/eventbridge-publisher.ts'
import type { Condition } from '../../../../shared/model/conditions.ts'
import type { Transition } from '../../../../shared/model/transitions.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { expectCode } from '../../../support/expect-code.ts'
import { createVirtualClock, type VirtualClock } from '../../../support/virtual-clock.ts'

/**
 * A bus that holds every request against the rules of PutEvents in the API reference, and refuses what the test wants.
 */
let clock: VirtualClock
let requests: (readonly PutEventsRequestEntry[])[]
let refuse: (name: string, request: number) => PutEventsResultEntry | void
let publish: PublishTransitions

beforeEach(() => {
  clock = createVirtualClock()
  requests = []
  refuse = () => {}
  const send = async ({ input }: { readonly input: { readonly Entries: readonly PutEventsRequestEntry[] } }) => {
    checkRules(input.Entries)
    requests.push(input.Entries)
    return { Entries: input.Entries.map((entry) => refuse(nameOf(entry), requests.length) ?? { EventId: 'id' }) }
  }
  const client = { send } as unknown as EventBridgeClient
  publish = createEventBridgePublisher({ client, bus: 'setpoint', clock, random: createSeededRandom(1) })
})

function checkRules(entries: readonly PutEventsRequestEntry[]): void {
  expect(entries.length).toBeGreaterThanOrEqual(1)
  expect(entries.length).toBeLessThanOrEqual(10)
  const sizes = entries.map(({ Source = '', DetailType = '', Detail = '', EventBusName = '' }) => {
    expect(Source).not.toMatch(/^aws/)
    expect(Source).toMatch(/^.{1,256}$/)
    expect(DetailType).toMatch(/^.{1,128}$/)
    expect(EventBusName).toMatch(/^[/.\-_A-Za-z0-9:]{1,1600}$/)
    expect(JSON.parse(Detail)).toBeTypeOf('object')
    return Buffer.byteLength(Source + DetailType + Detail)
  })
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(256 * 1_024)
}

function nameOf({ Detail = '' }: PutEventsRequestEntry): string {
  return (JSON.parse(Detail) as { readonly name: string }).name
}

function condition(status: Condition['status'], message = ''): Condition {
  return { type: 'Ready', status, reason: 'Because', message, lastTransitionTime: '2026-01-01T00:00:00Z' }
}

function transitions(count: number, more: Partial<Transition> = {}): readonly Transition[] {
  return Array.from({ length: count }, (_, i) => ({
    type: 'Ready',
    key: { group: 'example.com', kind: 'Widget', namespace: 'default', name: `w${i}` },
    uid: 'u',
    generation: 2,
    resourceVersion: '9',
    condition: { type: 'Ready', before: condition('False'), after: condition('True') },
    ...more,
  }))
}

describe('transitions on an event bus', () => {
  it('are events that a rule can match by kind and condition', async () => {
    await publish(transitions(1))
    const [[entry]] = requests as [[PutEventsRequestEntry]]
    expect(entry).toMatchObject({ EventBusName: 'setpoint', Source: 'setpoint', DetailType: 'Ready' })
    expect(JSON.parse(entry.Detail ?? '')).toEqual({
      group: 'example.com',
      kind: 'Widget',
      namespace: 'default',
      name: 'w0',
      uid: 'u',
      generation: 2,
      resourceVersion: '9',
      condition: { type: 'Ready', before: condition('False'), after: condition('True') },
    })
  })

  it('say null of a condition that was not there', async () => {
    await publish(transitions(1, { condition: { type: 'Ready', before: undefined, after: condition('True') } }))
    expect(JSON.parse(requests[0]?.[0]?.Detail ?? '')).toMatchObject({ condition: { before: null } })
  })

  it('take no request if there are none, and one for ten', async () => {
    await publish([])
    expect(requests).toEqual([])
    await publish(transitions(21))
    expect(requests.map(({ length }) => length)).toEqual([10, 10, 1])
  })

  it('are never too large, whatever they say', async () => {
    const text = '\u0001'.repeat(300_000)
    const odd = {
      type: text,
      status: text,
      reason: text,
      lastTransitionTime: text,
      observedGeneration: text,
      more: text,
    }
    const long = { ...condition('True', text), ...odd } as unknown as Condition
    const key = { group: 'g'.repeat(253), kind: 'K'.repeat(63), namespace: 'n'.repeat(63), name: 'x'.repeat(253) }
    await publish(transitions(10, { key, condition: { type: 'Ready', before: long, after: long } }))
    expect(requests).toHaveLength(1)
  })

  it('say what is in a status, however odd', async () => {
    const { message: _, ...silent } = condition('False')
    const odd = { ...condition('True'), message: 7 } as unknown as Condition
    await publish(transitions(1, { condition: { type: 'Ready', before: silent as Condition, after: odd } }))
    const { condition: told } = JSON.parse(requests[0]?.[0]?.Detail ?? '') as { readonly condition: object }
    expect(told).toMatchObject({ before: { message: '' }, after: { message: '7' } })
  })

  it('are put again, alone, when they are refused for now', async () => {
    refuse = (name, request) =>
      request <= 2 && name === 'w3' ? { ErrorCode: 'ThrottlingException', ErrorMessage: 'slowly' } : undefined
    const published = publish(transitions(5))
    await clock.advance(5_000)
    await published
    expect(requests.map((entries) => entries.map(nameOf))).toEqual([['w0', 'w1', 'w2', 'w3', 'w4'], ['w3'], ['w3']])
  })

  it.each([
    ['ThrottlingException', 'THROTTLED', 6],
    ['InternalFailure', 'UNAVAILABLE', 6],
    ['NotAuthorizedForSource', 'INTERNAL', 1],
  ] as const)('are given up after %s as %s', async (ErrorCode, code, count) => {
    refuse = () => ({ ErrorCode, ErrorMessage: 'no' })
    const published = expectCode(publish(transitions(1)), code)
    await clock.advance(10_000)
    await published
    expect(requests).toHaveLength(count)
  })
})
