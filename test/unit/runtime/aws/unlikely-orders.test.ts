import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { done } from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { timestamp } from '../../../../shared/model/time.ts'
import type { DueTimer } from '../../../../shared/ports/object-index.ts'
import type { WakeUp, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { createArrivals } from '../../../../shared/runtime/aws/arrivals.ts'
import { lambdaBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { createDeadLetterBatch } from '../../../../shared/runtime/aws/dead-letters.ts'
import { openAwsQueues } from '../../../../shared/runtime/aws/queues.ts'
import { createRelayBatch, type RelayRecord } from '../../../../shared/runtime/aws/relay.ts'
import { createTick } from '../../../../shared/runtime/aws/resync.ts'
import { createAwsServices } from '../../../../shared/runtime/aws/services.ts'
import { turnWheel } from '../../../../shared/runtime/aws/wheel-turn.ts'
import { saveProgress } from '../../../../shared/runtime/aws/tick-progress.ts'
import { messageOf } from '../../../../shared/adapters/aws/sqs/sqs-message.ts'
import { bufferOf, testCredentials } from '../../../../shared/testing-aws/dynalite.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { createInHand } from '../../../support/in-hand.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** What no seed draws: failures between two steps of the functions. */

const startMs = Date.parse('2026-01-01T00:00:00Z')
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => silent }
let clock: ReturnType<typeof createVirtualClock>
let opened: OpenSqlite
beforeEach(() => {
  clock = createVirtualClock(startMs)
  opened = openSqlite(':memory:', clock)
})
afterEach(() => opened.close())

function services(
  listNetted: (kind: { kind: string }, from: number, to: number) => Promise<DueTimer[]>,
  saved?: { text?: string; failing?: string; refuses?: number },
) {
  return createAwsServices({
    boundary: { clock, random: createSeededRandom(1), retire: () => {} },
    ports: {
      ...opened,
      store: {
        ...opened.store,
        create: (stored) => {
          if (saved?.refuses !== undefined && saved.refuses-- > 0)
            return Promise.reject(new OperatingError('UNAVAILABLE', 'away'))
          return opened.store.create(stored)
        },
      },
      index: {
        ...opened.index,
        due: async (kind, ...span) => {
          if (kind.kind === saved?.failing) throw new OperatingError('THROTTLED', 'too many looks')
          return opened.index.due(kind, ...span)
        },
      },
      reserve: async () => [],
      listNetted,
      inHand: createInHand(clock),
      checkpoint: (name) => ({
        load: async () => (name === 'resync' && saved ? saved.text : '{}'),
        save: async (text) => void (saved && name === 'resync' && (saved.text = text)),
      }),
    },
    controllers: [widgets([], () => done(), { resync: '10h' })],
    kindsMaxAgeMs: 0,
    logger: silent,
    telemetry: createPrometheusTelemetry(),
  })
}

function record(name: string): RelayRecord {
  const at = { namespace: 'default', creationTimestamp: timestamp(startMs) }
  const metadata = { name, ...at, uid: name, resourceVersion: '1', generation: 1 }
  const object = { apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', metadata, spec: {} }
  return { id: name, change: () => ({ type: 'added', touched: ['spec'], stored: { object, engine: {} } }) }
}
const bad = (id: string): RelayRecord => ({
  id,
  change: () => {
    throw new OperatingError('INTERNAL', 'bad')
  },
})

it('relay: of two records that nobody can relay the first is reported: what is before it counts as done', async () => {
  const batch = createRelayBatch({
    ...services(async () => []),
    queueOf: () => ({ send: async () => {} }) as unknown as WorkQueue,
    capacityOf: () => ({ queue: 'system', concurrency: 10 }),
    publish: async () => {},
  })
  expect(await batch([record('a'), bad('1'), record('b'), bad('2')], 60_000)).toBe('1')
})

it('net: of more lost changes than three looks have room for none is passed over', async () => {
  const saved: { text?: string } = {}
  let netted: DueTimer[] = []
  const woken = new Set<string>()
  const tick = createTick({
    ...services(
      async ({ kind }, from, to) =>
        kind === 'Widget' ? netted.filter((one) => one.dueAtMs >= from && one.dueAtMs < to) : [],
      saved,
    ),
    queueOf: () =>
      ({
        send: async (wakeUps: readonly WakeUp[]) => {
          for (const { key } of wakeUps) if (key.kind === 'Widget') woken.add(key.name)
        },
      }) as unknown as WorkQueue,
    depthOf: async () => 0,
    capacityOf: () => ({ queue: 'system', concurrency: 1 }),
    advanceQueues: async () => {},
  })
  const once = async (): Promise<void> => {
    let over = false
    const ended = tick().finally(() => void (over = true))
    while (!over) {
      await clock.advance(0)
      const dueMs = clock.nextDueMs()
      if (!over && dueMs !== undefined) clock.moveTo(dueMs)
    }
    await ended
  }
  await once()
  await clock.advance(300_000)
  const key = (i: number) => ({ group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name: `w${i}` })
  netted = Array.from({ length: 3_000 }, (_, i) => ({ key: key(i), dueAtMs: clock.nowMs() - 3_000 + i }))
  for (let minute = 0; minute < 90; minute++) {
    await once()
    netted = netted.filter((one) => !woken.has(one.key.name))
    await clock.advance(60_000)
  }
  expect(woken.size).toBe(3_000)
})

it('tick: how far the others got is remembered though one sweep fails', async () => {
  const saved: { text?: string; failing?: string } = {}
  const tick = createTick({
    ...services(async () => [], saved),
    queueOf: () => ({ send: async () => {} }) as unknown as WorkQueue,
    depthOf: async () => 0,
    capacityOf: () => ({ queue: 'system', concurrency: 10 }),
  })
  await tick()
  saved.failing = 'Widget'
  clock.moveTo(startMs + 60_000)
  const before = saved.text
  await expect(tick()).rejects.toThrow('too many looks')
  expect(saved.text).not.toBe(before)
})

it('tick: what could not be installed is tried again by the next tick of this process', async () => {
  const saved = { refuses: 1_000 }
  const tick = createTick({
    ...services(async () => [], saved),
    queueOf: () => ({ send: async () => {} }) as unknown as WorkQueue,
    depthOf: async () => 0,
    capacityOf: () => ({ queue: 'system', concurrency: 10 }),
  })
  const once = async (): Promise<void> => {
    let over = false
    const ended = tick().finally(() => void (over = true))
    ended.catch(() => {})
    while (!over) await clock.advance(500)
    await ended
  }
  await expect(once()).rejects.toThrow('away')
  saved.refuses = 0
  await once()
  const name = 'widgets.test.setpoint.dev'
  const key = { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', namespace: '', name }
  expect(await opened.store.get(key)).toBeDefined()
})

it('wheel: a place within a step counts for that step alone', async () => {
  const looks: number[] = []
  const sent: string[] = []
  const index = {
    onWheel: async (_: unknown, from: number, to: number) => {
      looks.push(to - from)
      return Array.from({ length: (to - from) * 20 }, (__, i) => ({
        group: 'g',
        kind: 'K',
        namespace: 'n',
        name: `${from + Math.floor(i / 20)}-${i % 20}`,
      }))
    },
  } as never
  const queue = {
    send: async (wakeUps: readonly WakeUp[]) => void sent.push(...wakeUps.map(({ key }) => key.name)),
  } as never
  const controller = { name: 'k', kind: { group: 'g', kind: 'K' }, resyncMs: 3_600_000, everyMs: 60_000 }
  const turnedMs = 3_600_000 * 100
  const turn = { turnedMs, within: { untilMs: turnedMs + 1_000, place: 'fffffffe' }, toMs: turnedMs + 60_000 }
  const pace = { left: 100_000, grant: (n: number) => n }
  await turnWheel(turn, controller, { index, pace, sender: () => ({ queueOf: () => queue, unsent: 0 }) })
  expect(looks[0]).toBe(1)
  expect(sent.length).toBeGreaterThanOrEqual(59 * 20)
})

describe('several queues', () => {
  const urls = { shelf: [0, 1, 2, 3].map((i) => `https://sqs/1/shelf${i}.fifo`), system: 'https://sqs/1/system.fifo' }
  it.each([
    ['right after the change of queues', 1_000, 'keep'],
    ['while a run of before may still be under way, with what its function takes beside it', 72_000, 'keep'],
    ['when all of those are over', 86_000, 'run'],
  ])('a message in the new queue of its key, %s', async (_what, afterMs, expected) => {
    const requests: string[] = []
    const sqs = {
      handle: async ({ body, headers }: { body: unknown; headers: Record<string, string> }) => {
        const { QueueUrl = '', Entries = [] } = JSON.parse(bufferOf(body as never).toString()) as {
          QueueUrl?: string
          Entries?: { ReceiptHandle?: string }[]
        }
        requests.push(
          `${String(headers['x-amz-target']).split('.')[1]} ${QueueUrl.split('/').at(-1)} ${Entries[0]?.ReceiptHandle}`,
        )
        return {
          response: {
            statusCode: 200,
            headers: { 'content-type': 'application/x-amz-json-1.0' },
            body: Buffer.from('{}'),
          },
        }
      },
    }
    let noted: string | undefined
    const checkpoint = () => ({ load: async () => noted, save: async (text: string) => void (noted = text) })
    const environment = { SETPOINT_QUEUES: JSON.stringify(urls), SETPOINT_QUEUES_USED: JSON.stringify({ shelf: 4 }) }
    const client = { region: 'us-east-1', credentials: testCredentials, requestHandler: sqs as never }
    const open = () =>
      openAwsQueues(
        { ...lambdaBoundary, environment, clock, sqs: client },
        [{ name: 'shelf', concurrency: 3, timeoutMs: 60_000 }],
        checkpoint,
      )
    await open().advanceQueues()
    await clock.advance(15 * 60_000 + afterMs)
    const take = createArrivals({ ...open(), logger: silent })
    const takenOf = async (i: number) => {
      const key = { group: 'example.com', kind: 'Shelf', namespace: 'default', name: `s${i}` }
      const wakeUp = { key, origin: 'change', lane: 'urgent', reason: 'changed', dedupId: `d${i}` } as const
      return take(
        { loop: 'shelf', delivery: { wakeUp, handle: 'handle', receiveCount: 1 } },
        'arn:aws:sqs:r:1:shelf2.fifo',
      )
    }
    const taken = await Promise.all(Array.from({ length: 40 }, (_, i) => takenOf(i)))
    const home = taken.filter((one) => one !== 'drop').map((one) => (typeof one === 'object' ? 'run' : one))
    expect(new Set(home)).toEqual(new Set([expected]))
    const holds = requests.filter((line) => line.startsWith('ChangeMessageVisibility'))
    expect(new Set(holds)).toEqual(
      new Set(expected === 'keep' ? ['ChangeMessageVisibilityBatch shelf2.fifo handle'] : []),
    )
  })
})

it('dead letters: one that cannot be taken in comes again', async () => {
  const batch = createDeadLetterBatch(() => () => Promise.reject(new OperatingError('UNAVAILABLE', 'away')), silent)
  const key = { group: 'g', kind: 'K', namespace: 'n', name: 'w' }
  const { MessageBody } = messageOf('widget', { key, origin: 'change', dedupId: 'd', lane: 'urgent', reason: 'r' })
  const message = {
    messageId: 'm',
    body: MessageBody,
    receiptHandle: 'h',
    attributes: { ApproximateReceiveCount: '1' },
  }
  expect(await batch([message])).toEqual(['m'])
})

describe('progress of a share', () => {
  const of = async (own: object | undefined, first: object) => {
    const texts: Record<string, string | undefined> = {
      resync: JSON.stringify({ k: first }),
      'resync#1': own && JSON.stringify({ k: own }),
    }
    const progress = saveProgress({ index: 1, of: 2 }, (name) => ({
      load: async () => texts[name],
      save: async () => {},
    }))
    return (await progress.load())?.progress['k']
  }
  const first = { turnedMs: 10_000_000, within: { untilMs: 10_060_000, place: '88888888' }, noted: 1, woken: 2 }
  it('that is new has no place of the first one, and begins a quarter of an hour behind it', async () => {
    expect(await of(undefined, first)).toEqual({ turnedMs: 9_100_000, noted: 1, woken: 2 })
  })
  it('that lags goes on a quarter of an hour behind the first one', async () => {
    expect((await of({ turnedMs: 1, noted: 1, woken: 2 }, first))?.turnedMs).toBe(9_100_000)
  })
})
