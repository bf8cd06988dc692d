import { afterEach, beforeEach, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import {
  customResourceDefinitionKind as definitionKind,
  namespaceKind,
} from '../../../../shared/resources/built-in-kinds.ts'
import { apiKindsMaxAgeMs, createAwsServices, type AwsServices } from '../../../../shared/runtime/aws/services.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { expectCode } from '../../../support/expect-code.ts'
import { createInHand } from '../../../support/in-hand.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

/** Functions of reconcilers know the kinds for five minutes, and a definition that is deleted is gone before that. */
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const by = { manager: 'test' }
const kind = 'Widget'
const group = 'example.dev'

let opened: OpenSqlite
let clock: ReturnType<typeof createVirtualClock>
let api: AwsServices
let worker: AwsServices

beforeEach(async () => {
  clock = createVirtualClock()
  opened = openSqlite(':memory:', clock)
  api = open(apiKindsMaxAgeMs)
  worker = open(300_000)
  await api.resources.create(namespaceKind, { metadata: { name: 'n' } }, by)
  await define()
})
afterEach(() => opened.close())

/** Another process. */
function open(kindsMaxAgeMs: number): AwsServices {
  return createAwsServices({
    boundary: { clock, random: createSeededRandom(kindsMaxAgeMs), retire: () => {} },
    ports: {
      ...opened,
      reserve: async () => [],
      listNetted: async () => [],
      inHand: createInHand(clock),
      checkpoint: () => ({ load: async () => {}, save: async () => {} }),
    },
    controllers: [],
    kindsMaxAgeMs,
    logger,
    telemetry: createPrometheusTelemetry(),
  })
}

async function define(): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const spec = { group, scope: 'Namespaced', names: { plural: 'widgets', kind }, versions }
  await api.resources.create(definitionKind, { metadata: { name: `widgets.${group}` }, spec }, by)
}

const create = async (services: AwsServices, name: string, dryRun = false): Promise<unknown> => {
  const known = (await services.catalog.byKind(group, kind)) as ServedKind
  return services.resources.create(known, { metadata: { name, namespace: 'n' } }, { ...by, dryRun })
}

const count = async (): Promise<number> => (await opened.store.list({ group, kind })).items.length

it.each(['is being deleted', 'is gone'])('a run makes no object of a kind whose definition %s', async (state) => {
  await create(worker, 'a')
  clock.moveTo(clock.nowMs() + 120_000)
  const { stored, gone } = await api.resources.delete(definitionKind, { namespace: '', name: `widgets.${group}` })
  if (state === 'is gone' && !gone) await opened.store.remove(stored)
  await expectCode(create(worker, 'b'), 'METHOD_NOT_ALLOWED')
  expect(await count()).toBe(1)
})

it('a run makes an object of a kind that was defined anew', async () => {
  await create(worker, 'a')
  const { stored } = await api.resources.delete(definitionKind, { namespace: '', name: `widgets.${group}` })
  await opened.store.remove(stored)
  await define()
  await create(worker, 'b')
  expect(await count()).toBe(2)
})
