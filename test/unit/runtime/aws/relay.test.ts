import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { done } from '../../../../shared/index.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { timestamp } from '../../../../shared/model/time.ts'
import type { WakeUp, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { createRelayBatch } from '../../../../shared/runtime/aws/relay.ts'
import { createAwsServices } from '../../../../shared/runtime/aws/services.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { createInHand } from '../../../support/in-hand.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** What becomes of a batch of the stream while something that it needs is away. */

const startMs = Date.parse('2026-01-01T00:00:00Z')
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }

let clock: ReturnType<typeof createVirtualClock>
let opened: OpenSqlite
beforeEach(() => {
  clock = createVirtualClock(startMs)
  opened = openSqlite(':memory:', clock)
})
afterEach(() => opened.close())

const away = new OperatingError('UNAVAILABLE', 'the queue is away')

interface Trouble {
  readonly error?: Error
  readonly untilMs?: number
}

/** Relays one change with so much time; what was sent, what was reported, and how long it took. */
async function relay({ error = away, untilMs = 0 }: Trouble, timeMs?: number) {
  const sent: WakeUp[] = []
  const send = async (wakeUps: readonly WakeUp[]): Promise<void> => {
    if (clock.nowMs() < startMs + untilMs) throw error
    sent.push(...wakeUps)
  }
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
  const batch = createRelayBatch({
    ...services,
    queueOf: () => ({ send }) as unknown as WorkQueue,
    capacityOf: () => ({ queue: 'system', concurrency: 10 }),
    publish: async () => {},
  })
  const at = { namespace: 'default', creationTimestamp: timestamp(startMs) }
  const metadata = { name: 'w', ...at, uid: 'u', resourceVersion: '1', generation: 1 }
  const object = { apiVersion: 'test.setpoint.dev/v1', kind: 'Widget', metadata, spec: {} }
  const change = () => ({ type: 'added', touched: ['spec'], stored: { object, engine: {} } }) as const
  let isOver = false
  const relaying = batch([{ id: 'r', change }], timeMs).finally(() => (isOver = true))
  while (!isOver) await clock.advance(500)
  return {
    failed: await relaying,
    names: sent.flatMap(({ key }) => (key.kind === 'Widget' ? key.name : [])),
    tookMs: clock.nowMs() - startMs,
  }
}

describe('the relay, while a queue is away', () => {
  it('tries again for as long as its function may run, since the mapping counts its tries', async () => {
    const { failed, names, tookMs } = await relay({ untilMs: 30_000 }, 60_000)
    expect({ failed, names }).toEqual({ failed: undefined, names: ['w'] })
    expect(tookMs).toBeLessThan(40_000)
  })

  it('gives the batch back with time for an attempt left', async () => {
    const { failed, names, tookMs } = await relay({ untilMs: 300_000 }, 60_000)
    expect({ failed, names }).toEqual({ failed: 'r', names: [] })
    expect(tookMs).toBeGreaterThan(38_000)
    expect(tookMs).toBeLessThanOrEqual(45_500)
  })

  it('does not wait for what is no outage', async () => {
    const { failed, tookMs } = await relay({ error: new OperatingError('INTERNAL', 'bad'), untilMs: 300_000 }, 60_000)
    expect(failed).toBe('r')
    expect(tookMs).toBeLessThanOrEqual(500)
  })
})
