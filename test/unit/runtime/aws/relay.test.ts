import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { changeOf } from '../../../../shared/adapters/aws/dynamodb/dynamodb-stream.ts'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { done } from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { timestamp } from '../../../../shared/model/time.ts'
import type { WakeUp, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import type { Publish } from '../../../../shared/runtime/aws/publish.ts'
import { createRelayBatch, type RelayBatch, type RelayRecord } from '../../../../shared/runtime/aws/relay.ts'
import { createAwsServices } from '../../../../shared/runtime/aws/services.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { createInHand } from '../../../support/in-hand.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** What becomes of a batch of the stream while something that it needs is away. */

const startMs = Date.parse('2026-01-01T00:00:00Z')
const errors: unknown[] = []
const noteError = (...line: unknown[]): void => void errors.push(line)
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: noteError, with: () => logger }

let clock: ReturnType<typeof createVirtualClock>
let opened: OpenSqlite
beforeEach(() => {
  errors.length = 0
  clock = createVirtualClock(startMs)
  opened = openSqlite(':memory:', clock)
})
afterEach(() => opened.close())

const away = new OperatingError('UNAVAILABLE', 'the queue is away')

interface Trouble {
  readonly error?: Error
  readonly untilMs?: number
}

function openBatch(send: WorkQueue['send'], publish: Publish = async () => {}): RelayBatch {
  const services = createAwsServices({
    boundary: { clock, random: createSeededRandom(1), retire: () => {} },
    ports: {
      ...opened,
      reserve: async () => [],
      listNetted: async () => [],
      inHand: createInHand(clock),
      checkpoint: () => ({ load: async () => '{}', save: async () => {} }),
    },
    controllers: [widgets([], () => done())],
    kindsMaxAgeMs: 0,
    logger,
    telemetry: createPrometheusTelemetry(),
  })
  return createRelayBatch({
    ...services,
    queueOf: () => ({ send }) as unknown as WorkQueue,
    capacityOf: () => ({ queue: 'system', concurrency: 10 }),
    publish,
  })
}

function record(name: string): RelayRecord {
  const at = { namespace: 'default', creationTimestamp: timestamp(startMs) }
  const metadata = { name, ...at, uid: name, resourceVersion: '1', generation: 1 }
  const object = { apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', metadata, spec: {} }
  return { id: name, change: () => ({ type: 'added', touched: ['spec'], stored: { object, engine: {} } }) }
}

/** Relays one change with so much time; what was sent, what was reported, and how long it took. */
async function relay({ error = away, untilMs = 0 }: Trouble, timeMs?: number) {
  const sent: WakeUp[] = []
  const batch = openBatch(async (wakeUps) => {
    if (clock.nowMs() < startMs + untilMs) throw error
    sent.push(...wakeUps)
  })
  let isOver = false
  const relaying = batch([record('w')], timeMs).finally(() => (isOver = true))
  while (!isOver) await clock.advance(500)
  return { failed: await relaying, names: widgetsOf(sent), tookMs: clock.nowMs() - startMs }
}

function widgetsOf(wakeUps: readonly WakeUp[]): readonly string[] {
  return wakeUps.flatMap(({ key }) => (key.kind === 'Widget' ? key.name : []))
}

describe('the relay, while a queue is away', () => {
  it('tries again for as long as its function may run, since the mapping counts its tries', async () => {
    const { failed, names, tookMs } = await relay({ untilMs: 30_000 }, 60_000)
    expect({ failed, names }).toEqual({ failed: undefined, names: ['w'] })
    expect(tookMs).toBeLessThan(40_000)
  })

  it('gives the batch back with time for an attempt left', async () => {
    const { failed, names, tookMs } = await relay({ untilMs: 300_000 }, 60_000)
    expect({ failed, names }).toEqual({ failed: 'w', names: [] })
    expect(tookMs).toBeGreaterThan(38_000)
    expect(tookMs).toBeLessThanOrEqual(45_500)
  })

  it('does not wait for what is no outage', async () => {
    const { failed, tookMs } = await relay({ error: new OperatingError('INTERNAL', 'bad'), untilMs: 300_000 }, 60_000)
    expect(failed).toBe('w')
    expect(tookMs).toBeLessThanOrEqual(500)
  })
})

describe('a record that nobody can relay', () => {
  const bad: RelayRecord = {
    id: 'bad',
    change: () => {
      throw new OperatingError('INTERNAL', 'bad')
    },
  }

  it('stands before no other, and the bus is told of the others once, when all of them are relayed', async () => {
    const sent: WakeUp[] = []
    const told: (readonly [sent: number, names: readonly string[], untilMs: number])[] = []
    const batch = openBatch(
      async (wakeUps) => void sent.push(...wakeUps),
      async (changes, untilMs) =>
        void told.push([
          widgetsOf(sent).length,
          changes.map(({ stored }) => stored.object.metadata.name),
          untilMs - startMs,
        ]),
    )
    expect(await batch([record('a'), bad, record('b'), record('c')], 60_000)).toBe('bad')
    expect(widgetsOf(sent)).toEqual(['a', 'b', 'c'])
    expect(told).toEqual([[3, ['a', 'b', 'c'], 60_000]])
  })

  it('is passed over at once if it is damaged, and the log names its object and no value of it', async () => {
    const sends: (readonly string[])[] = []
    const batch = openBatch(async (wakeUps) => void sends.push(widgetsOf(wakeUps)))
    const item = { pk: { S: 'test.setpoint.dev/Widget#0' }, sk: { S: 'default#w' }, touched: { S: 'spec' } }
    const damaged = { id: '7', change: () => changeOf({ dynamodb: { NewImage: { ...item, doc: { S: '{"secret' } } } }) }
    expect(await batch([record('a'), damaged, record('b')], 60_000)).toBeUndefined()
    expect(sends.filter(({ length }) => length > 0)).toEqual([['a', 'b']])
    expect(errors).toEqual([
      ['stream record passed over', { record: '7', error: expect.stringContaining('Widget/default/w') as string }],
    ])
    expect(JSON.stringify(errors)).not.toContain('secret')
  })
})
