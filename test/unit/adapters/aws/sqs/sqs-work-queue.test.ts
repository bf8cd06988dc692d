import type { BatchResultErrorEntry, SQSClient } from '@aws-sdk/client-sqs'
import { beforeEach, describe, expect, it } from 'vitest'
import { createSqsWorkQueue } from '../../../../../shared/adapters/aws/sqs/sqs-work-queue.ts'
import type { Delivery, WakeUp, WorkQueue } from '../../../../../shared/ports/work-queue.ts'
import { createSeededRandom } from '../../../../../shared/testing/seeded-random.ts'
import { expectCode } from '../../../../support/expect-code.ts'
import { createVirtualClock, type VirtualClock } from '../../../../support/virtual-clock.ts'

/** What the adapter makes of answers that emulators do not give: partial failures, throttles, expired handles. */

interface Entry {
  readonly Id: string
  readonly MessageBody?: string
  readonly ReceiptHandle?: string
  readonly VisibilityTimeout?: number
}
interface Call {
  readonly name: string
  readonly input: { readonly Entries?: readonly Entry[]; readonly VisibilityTimeout?: number }
}
type Answer = (call: Call) => unknown

let clock: VirtualClock
let calls: Call[]
/** The answers to come, in order; the last one for all that follow. */
let answers: Answer[]
let queue: WorkQueue

beforeEach(() => {
  clock = createVirtualClock()
  calls = []
  answers = [() => ({})]
  const send = async (command: { readonly input: Call['input'] }): Promise<unknown> => {
    const call = { name: command.constructor.name.replace('Command', ''), input: command.input }
    calls.push(call)
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    return answer?.(call)
  }
  queue = createSqsWorkQueue({
    client: { send } as unknown as SQSClient,
    queueUrl: 'https://sqs.eu-central-1.amazonaws.com/1/widgets.fifo',
    loop: 'widgets',
    clock,
    random: createSeededRandom(1),
  })
})

const wakeUps = (count: number): readonly WakeUp[] =>
  Array.from({ length: count }, (_, i) => ({
    key: { group: 'example.com', kind: 'Widget', namespace: 'default', name: `k${i}` },
    origin: 'change',
    dedupId: `id-${i}`,
    lane: 'urgent',
    reason: 'test',
  }))
const deliveries = (count: number): readonly Delivery[] =>
  wakeUps(count).map((wakeUp, i) => ({ wakeUp, handle: `h${i}`, receiveCount: 1 }))

const names = (call: Call | undefined): readonly string[] =>
  (call?.input.Entries ?? []).map(({ MessageBody = '{}' }) =>
    (JSON.parse(MessageBody) as { key: string }).key.slice(27),
  )

const refuse =
  (refused: (entry: Entry) => Partial<BatchResultErrorEntry> | undefined): Answer =>
  ({ input: { Entries = [] } }) => ({
    Failed: Entries.flatMap((entry) => {
      const failure = refused(entry)
      return failure === undefined ? [] : [{ Id: entry.Id, ...failure }]
    }),
  })
const busy = { Code: 'InternalError', Message: 'try again', SenderFault: false }
const throttled = { Code: 'RequestThrottled', Message: 'slow down', SenderFault: false }
const thrown =
  (name: string, more: object = {}): Answer =>
  () => {
    throw Object.assign(new Error('no'), { name, ...more })
  }

describe('sending', () => {
  it('sends ten at a time', async () => {
    await queue.send(wakeUps(23))
    expect(calls.map(names)).toEqual([10, 10, 3].map((length) => expect.objectContaining({ length }) as unknown))
    expect(calls.flatMap(names).toSorted()).toEqual(
      wakeUps(23)
        .map(({ key }) => key.name)
        .toSorted(),
    )
    expect(calls.every(({ name }) => name === 'SendMessageBatch')).toBe(true)
  })

  it('sends again what was refused for now, and nothing else, later each time', async () => {
    answers = [
      refuse(({ Id }) => (Number(Id) >= 7 ? busy : undefined)),
      refuse(({ Id }) => (Id === '2' ? throttled : undefined)),
      () => ({}),
    ]
    const sent = queue.send(wakeUps(10))
    await clock.advance(10_000)
    await sent
    expect(calls.map(names)).toEqual([expect.objectContaining({ length: 10 }), ['k7', 'k8', 'k9'], ['k9']])
  })

  it('gives up after six times, within seven seconds', async () => {
    answers = [refuse(() => busy)]
    const sent = expectCode(queue.send(wakeUps(2)), 'UNAVAILABLE')
    await clock.advance(7_000)
    await sent
    expect(calls).toHaveLength(6)
  })

  it.each([false, true])('says so when it is throttled, and whose fault AWS calls that: %s', async (SenderFault) => {
    answers = [refuse(() => ({ ...throttled, SenderFault }))]
    const sent = expectCode(queue.send(wakeUps(1)), 'THROTTLED')
    await clock.advance(7_000)
    await sent
  })

  it('sends everything else before it rejects for one that is refused for good', async () => {
    const bad = { Code: 'InvalidMessageContents', Message: 'bad', SenderFault: true }
    answers = [refuse(({ Id }) => (Id === '0' ? bad : Id === '1' ? busy : undefined)), () => ({})]
    const sent = expectCode(queue.send(wakeUps(12)), 'INTERNAL')
    await clock.advance(7_000)
    await sent
    expect(calls.flatMap(names)).toEqual(expect.arrayContaining(['k1', 'k10', 'k11']))
    expect(calls.flatMap(names).filter((name) => name === 'k0')).toHaveLength(1)
  })

  it.each([
    ['ThrottlingException', { $fault: 'client' }, 'THROTTLED'],
    ['InvalidMessageContents', { $fault: 'client' }, 'INTERNAL'],
    ['QueueDoesNotExist', { $fault: 'client' }, 'UNAVAILABLE'],
    ['AccessDenied', { $fault: 'client' }, 'UNAVAILABLE'],
    ['AccessDeniedException', { $fault: 'client' }, 'UNAVAILABLE'],
    ['ExpiredTokenException', { $fault: 'client' }, 'UNAVAILABLE'],
    ['InvalidClientTokenId', { $fault: 'client' }, 'UNAVAILABLE'],
    ['UnrecognizedClientException', { $fault: 'client' }, 'UNAVAILABLE'],
    ['KmsAccessDenied', { $fault: 'client' }, 'UNAVAILABLE'],
    ['InternalFailure', { $fault: 'server' }, 'UNAVAILABLE'],
    ['TimeoutError', {}, 'UNAVAILABLE'],
  ] as const)('translates %s of the call as such', async (name, more, code) => {
    answers = [thrown(name, more)]
    await expectCode(queue.send(wakeUps(1)), code)
  })
})

describe('settling', () => {
  it('deletes all deliveries in one call', async () => {
    await queue.settle(deliveries(3))
    expect(calls).toMatchObject([
      {
        name: 'DeleteMessageBatch',
        input: { Entries: ['h0', 'h1', 'h2'].map((ReceiptHandle) => ({ ReceiptHandle })) },
      },
    ])
  })

  it('does nothing for handles that have expired: the turn is over already', async () => {
    answers = [
      refuse(({ Id }) =>
        Id === '0'
          ? { Code: 'ReceiptHandleIsInvalid', Message: 'The receipt handle has expired', SenderFault: true }
          : {
              Code: 'InvalidParameterValue',
              Message: 'Value h1 for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.',
              SenderFault: true,
            },
      ),
    ]
    await queue.settle(deliveries(2))
    expect(calls).toHaveLength(1)
  })

  it('tries again what could not be deleted for now', async () => {
    answers = [refuse(({ Id }) => (Id === '1' ? busy : undefined)), () => ({})]
    const settled = queue.settle(deliveries(2))
    await clock.advance(1_000)
    await settled
    expect(calls[1]).toMatchObject({ input: { Entries: [{ ReceiptHandle: 'h1' }] } })
  })
})

describe('holding', () => {
  it.each([
    [0, 0],
    [1, 1],
    [999, 1],
    [1_001, 2],
    [60_000, 60],
    [24 * 3_600_000, 39_600],
  ])('holds for %i ms by %i whole seconds, below the twelve hours that SQS allows', async (ms, seconds) => {
    await queue.hold(deliveries(1), ms)
    expect(calls).toMatchObject([
      {
        name: 'ChangeMessageVisibilityBatch',
        input: { Entries: [{ ReceiptHandle: 'h0', VisibilityTimeout: seconds }] },
      },
    ])
  })

  it('does nothing for a message that is visible again or another receiver’s', async () => {
    answers = [refuse(() => ({ Code: 'MessageNotInflight', Message: '', SenderFault: true }))]
    await queue.hold(deliveries(1), 1_000)
    expect(calls).toHaveLength(1)
  })

  it('rejects what SQS does not allow', async () => {
    const message = 'Total VisibilityTimeout for the message is beyond the limit [43200 seconds]'
    answers = [refuse(() => ({ Code: 'InvalidParameterValue', Message: message, SenderFault: true }))]
    await expectCode(queue.hold(deliveries(1), 1_000), 'INTERNAL')
  })
})

describe('waking', () => {
  it('makes the message visible', async () => {
    await queue.wake('stored')
    expect(calls).toMatchObject([
      { name: 'ChangeMessageVisibility', input: { ReceiptHandle: 'stored', VisibilityTimeout: 0 } },
    ])
  })

  it.each([
    thrown('ReceiptHandleIsInvalid'),
    thrown('MessageNotInflight'),
    thrown('InvalidParameterValue', { message: 'Value x for parameter ReceiptHandle is invalid.' }),
    thrown('InvalidParameterValueException', {
      message: 'Reason: Message does not exist or is not available for visibility timeout change.',
    }),
  ])('does nothing with a stale handle, by whatever name', async (answer) => {
    answers = [answer]
    await queue.wake('stale')
    expect(calls).toHaveLength(1)
  })

  it('rejects when it could not: the hold goes on, and the change must come again', async () => {
    answers = [thrown('AccessDenied', { $fault: 'client' })]
    await expectCode(queue.wake('stored'), 'UNAVAILABLE')
  })
})

describe('receiving', () => {
  const message = (loop: string) => ({
    ReceiptHandle: 'h',
    Body: JSON.stringify({ loop, key: 'g/K/n/a', origin: 'change', dedupId: 'd', lane: 'urgent', reason: '' }),
    Attributes: { ApproximateReceiveCount: '2' },
  })

  it('asks for ten at most, and waits at the far side', async () => {
    answers = [() => ({}), () => ({ Messages: [message('widgets')] })]
    expect(await queue.receive(50, new AbortController().signal)).toMatchObject([{ handle: 'h', receiveCount: 2 }])
    expect(calls).toMatchObject([
      { name: 'ReceiveMessage', input: { MaxNumberOfMessages: 10, WaitTimeSeconds: 20 } },
      { name: 'ReceiveMessage' },
    ])
  })

  it('gives back what comes after it was given up', async () => {
    const patience = new AbortController()
    answers = [
      () => {
        patience.abort()
        return { Messages: [message('widgets')] }
      },
      () => ({}),
    ]
    expect(await queue.receive(1, patience.signal)).toEqual([])
    expect(calls[1]).toMatchObject({
      name: 'ChangeMessageVisibilityBatch',
      input: { Entries: [{ ReceiptHandle: 'h', VisibilityTimeout: 0 }] },
    })
  })

  it('rejects in a queue that other loops share', async () => {
    answers = [() => ({ Messages: [message('gadgets')] })]
    await expectCode(queue.receive(1, new AbortController().signal), 'INTERNAL')
  })
})
