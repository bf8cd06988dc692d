import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deliveryOf, MalformedMessage, messageOf } from '../../../../../shared/adapters/aws/sqs/sqs-message.ts'
import type { WakeUp } from '../../../../../shared/ports/work-queue.ts'

const wakeUp: WakeUp = {
  key: { group: 'example.com', kind: 'Widget', namespace: 'default', name: 'a' },
  origin: 'change',
  dedupId: 'uid:7',
  resourceVersion: '7',
  lane: 'urgent',
  reason: 'spec changed',
}

/** As long as the API lets them be. */
const longKey = { group: 'g'.repeat(253), kind: 'K'.repeat(63), namespace: 'n'.repeat(63), name: 'x'.repeat(253) }

const record = (body: string, count = '1') => ({
  body,
  receiptHandle: 'handle',
  attributes: { ApproximateReceiveCount: count },
})

const anyWakeUp = fc.record(
  {
    key: fc.record({
      group: fc.stringMatching(/^[a-z.]{0,253}$/),
      kind: fc.stringMatching(/^[A-Za-z]{1,63}$/),
      namespace: fc.stringMatching(/^[a-z-]{0,63}$/),
      name: fc.stringMatching(/^[a-z.:-]{1,253}$/),
    }),
    origin: fc.constantFrom('change', 'resync', 'timer'),
    dedupId: fc.stringMatching(/^[ -~]{1,128}$/),
    lane: fc.constantFrom('urgent', 'background'),
    reason: fc.string({ unit: 'binary', maxLength: 400 }),
    resourceVersion: fc.nat().map(String),
    notBeforeMs: fc.nat(),
    timerAtMs: fc.nat(),
    ticket: fc.stringMatching(/^[0-9a-f]{8}$/),
  },
  { requiredKeys: ['key', 'origin', 'dedupId', 'lane', 'reason'] },
)

describe('a wake-up as a message of SQS', () => {
  it('comes back as it was, with its loop, handle and count', () => {
    expect(deliveryOf(record(messageOf('widgets', wakeUp).MessageBody, '3'))).toEqual({
      loop: 'widgets',
      delivery: { wakeUp, handle: 'handle', receiveCount: 3 },
    })
  })

  it('says when it was sent and first handed out, where SQS does', () => {
    const { MessageBody } = messageOf('widgets', wakeUp)
    const { attributes, ...message } = record(MessageBody)
    const times = { SentTimestamp: '1000', ApproximateFirstReceiveTimestamp: '2000' }
    expect(deliveryOf({ ...message, attributes: { ...attributes, ...times } })).toMatchObject({
      sentAtMs: 1_000,
      delivery: { firstReceivedAtMs: 2_000 },
    })
  })

  it('comes back whatever is in it, but for the end of a long reason', () => {
    fc.assert(
      fc.property(anyWakeUp, (one) => {
        const { delivery } = deliveryOf(record(messageOf('loop', one).MessageBody))
        expect({ ...delivery.wakeUp, reason: '' }).toEqual({ ...one, reason: '' })
        expect(one.reason.startsWith(delivery.wakeUp.reason)).toBe(true)
        if (one.reason.length < 30) expect(delivery.wakeUp.reason).toBe(one.reason)
      }),
    )
  })

  it('is below 1 KB, and of characters that SQS takes, however long its names and its reason are', () => {
    fc.assert(
      fc.property(anyWakeUp, (one) => {
        const { MessageBody } = messageOf('l'.repeat(63), one)
        expect(MessageBody).toMatch(/^[ -~]{1,1024}$/)
      }),
    )
    const longest = { ...wakeUp, key: longKey, dedupId: 'd'.repeat(128), reason: '💥'.repeat(400) }
    expect(messageOf('l'.repeat(63), longest).MessageBody.length).toBeLessThanOrEqual(1_024)
    expect(deliveryOf(record(messageOf('loop', longest).MessageBody)).delivery.wakeUp.reason).toMatch(/^(💥)+$/u)
  })

  it('has ids that SQS and EventBridge take', () => {
    fc.assert(
      fc.property(anyWakeUp, (one) => {
        const { MessageGroupId, MessageDeduplicationId } = messageOf('loop', one)
        expect(MessageGroupId).toMatch(/^[!-~]{1,100}$/)
        expect(MessageDeduplicationId).toMatch(/^[!-~]{1,128}$/)
      }),
    )
  })

  it('has a group of its own for each loop and key', () => {
    const keys = [
      wakeUp.key,
      { ...wakeUp.key, namespace: '' },
      { ...wakeUp.key, name: 'A' },
      { ...wakeUp.key, kind: 'Gadget' },
    ]
    const groups = ['one', 'two'].flatMap((loop) =>
      keys.map((key) => messageOf(loop, { ...wakeUp, key }).MessageGroupId),
    )
    expect(new Set(groups).size).toBe(8)
    expect(messageOf('one', { ...wakeUp, dedupId: 'other' }).MessageGroupId).toBe(groups[0])
  })

  it('keeps a dedup id apart from that of another key, of another text, and however long it is', () => {
    const ids = ['a', 'b'].flatMap((name) =>
      ['1', '2', `${'x'.repeat(200)}1`, `${'x'.repeat(200)}2`, 'ü1', 'ü2'].map(
        (dedupId) => messageOf('loop', { ...wakeUp, key: { ...wakeUp.key, name }, dedupId }).MessageDeduplicationId,
      ),
    )
    expect(new Set(ids).size).toBe(12)
    expect(messageOf('loop', wakeUp)).toEqual(messageOf('loop', wakeUp))
  })

  it('may have fields that a later version adds', () => {
    const body = JSON.stringify({ ...JSON.parse(messageOf('loop', wakeUp).MessageBody), later: true })
    expect(deliveryOf(record(body)).delivery.wakeUp).toEqual(wakeUp)
  })

  const fields = JSON.parse(messageOf('loop', wakeUp).MessageBody) as Readonly<Record<string, unknown>>
  it.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['a list', '[]'],
    ['a number', '1'],
    ['null', 'null'],
    ['no loop', JSON.stringify({ ...fields, loop: undefined })],
    ['no key', JSON.stringify({ ...fields, key: undefined })],
    ['a key that is none', JSON.stringify({ ...fields, key: 'a/b' })],
    ['an origin that is none', JSON.stringify({ ...fields, origin: 'elsewhere' })],
    ['a lane that is none', JSON.stringify({ ...fields, lane: 'fast' })],
    ['a time that is none', JSON.stringify({ ...fields, notBeforeMs: 'soon' })],
    ['a version that is none', JSON.stringify({ ...fields, resourceVersion: 7 })],
  ])('is malformed as %s', (_, body) => {
    expect(() => deliveryOf(record(body))).toThrow(MalformedMessage)
  })
})
