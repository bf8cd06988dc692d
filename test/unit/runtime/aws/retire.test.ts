import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { done } from '../../../../shared/index.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { Delivery, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { lambdaBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { createReconcileBatch } from '../../../../shared/runtime/aws/reconcile.ts'
import { createAwsServices } from '../../../../shared/runtime/aws/services.ts'
import { installBasics } from '../../../../shared/engine/loops/install-basics.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'
import { tablePorts } from './table-ports.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }

let opened: OpenSqlite
let clock: ReturnType<typeof createVirtualClock>
let happened: string[]

beforeEach(() => {
  clock = createVirtualClock()
  opened = openSqlite(':memory:', clock)
  happened = []
})
afterEach(() => opened.close())

const widget = (name: string) => ({ group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name })

function delivery(name: string): Delivery {
  const wakeUp = { key: widget(name), origin: 'change', dedupId: name, lane: 'urgent', reason: 'changed' } as const
  return { wakeUp, handle: name, receiveCount: 1 }
}

const queue: WorkQueue = {
  send: async () => {},
  receive: async () => [],
  hold: async () => {},
  wake: async () => {},
  settle: async (deliveries) => void happened.push(`deleted ${deliveries.map(({ handle }) => handle).join()}`),
}

it('a function that goes on after its time ends the process ahead of the answer, and what is done with is deleted before', async () => {
  const hangs = widgets([], ({ metadata: { name } }) => (name === 'hangs' ? new Promise(() => {}) : done()))
  const services = createAwsServices({
    boundary: { clock, random: createSeededRandom(1), retire: () => void happened.push('process ended') },
    ports: tablePorts(opened, clock),
    controllers: [hangs],
    kindsMaxAgeMs: 0,
    logger,
    telemetry: createPrometheusTelemetry(),
  })
  await installBasics(services)
  const kind = (await services.catalog.byKind('test.setpoint.dev', 'Widget')) as ServedKind
  for (const name of ['hangs', 'quick'])
    await services.resources.create(kind, { metadata: { name, namespace: 'default' }, spec: {} }, { manager: 't' })

  const batch = createReconcileBatch({
    ...services,
    queueOf: () => queue,
    capacityOf: () => ({ queue: 'system', concurrency: 10 }),
  })
  const deliveries = ['hangs', 'quick'].map((name) => ({ loop: hangs.name, delivery: delivery(name) }))
  const kept = batch(deliveries, 60_000).finally(() => happened.push('answered'))
  await clock.advance(60_000)

  expect((await kept).map(({ handle }) => handle)).toEqual(['hangs'])
  expect(happened.slice(-3)).toEqual(['deleted quick', 'process ended', 'answered'])
  expect(happened.join()).not.toContain('deleted hangs')
})

it('on Lambda the process ends at once: behind its answer, it would take the next batch with it', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  lambdaBoundary.retire()
  expect(exit).toHaveBeenCalledExactlyOnceWith(1)
  exit.mockRestore()
})
