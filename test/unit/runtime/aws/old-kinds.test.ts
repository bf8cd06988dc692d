import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { garbageGroup } from '../../../../shared/engine/loops/garbage-collector.ts'
import { createContentRunner } from '../../../../shared/engine/loops/namespace-content.ts'
import { namespaceController } from '../../../../shared/engine/loops/namespaces.ts'
import { createQuotaUsage } from '../../../../shared/engine/loops/quota-usage.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { defineReconciler, done, type Context, type Controller } from '../../../../shared/index.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { createReconcileBatch } from '../../../../shared/runtime/aws/reconcile.ts'
import { keyOf, namespaceKeyOf, type ObjectKey } from '../../../../shared/model/object-key.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { ServedKind } from '../../../../shared/model/served-kind.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { resourceQuotaKind } from '../../../../shared/resources/quota-kind.ts'
import {
  customResourceDefinitionKind as definitionKind,
  namespaceKind,
} from '../../../../shared/resources/built-in-kinds.ts'
import { apiKindsMaxAgeMs, createAwsServices, type AwsServices } from '../../../../shared/runtime/aws/services.ts'
import { createSeededRandom } from '../../../../shared/testing/seeded-random.ts'
import { expectCode } from '../../../support/expect-code.ts'
import { openSqlite, type OpenSqlite } from '../../../support/sqlite.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'
import { tablePorts } from './table-ports.ts'

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
function open(kindsMaxAgeMs: number, controllers: readonly Controller[] = []): AwsServices {
  return createAwsServices({
    boundary: { clock, random: createSeededRandom(kindsMaxAgeMs), retire: () => {} },
    ports: tablePorts(opened, clock),
    controllers,
    kindsMaxAgeMs,
    logger,
    telemetry: createPrometheusTelemetry(),
  })
}

async function define(kindName = kind, plural = 'widgets', spec: JsonObject = { type: 'object' }): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const apiVersion = 'apiextensions.k8s.io/v1'
  const body = {
    apiVersion,
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind: kindName }, versions },
  }
  await api.resources.patch(
    definitionKind,
    { namespace: '', name: body.metadata.name },
    { type: 'apply', body, force: true },
    by,
  )
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

describe('a kind that was defined a moment ago', () => {
  const gadgets = { group, kind: 'Gadget' }
  const countGadgets = async (): Promise<number> => (await opened.store.list(gadgets)).items.length

  /** In a namespace, where the worker has known the kinds for a minute. */
  async function makeGadget(): Promise<void> {
    await worker.catalog.listStored()
    clock.moveTo(clock.nowMs() + 60_000)
    await define('Gadget', 'gadgets')
    const known = (await api.catalog.byKind(group, 'Gadget')) as ServedKind
    await api.resources.create(known, { metadata: { name: 'a', namespace: 'n' } }, by)
  }

  it('goes with its namespace', async () => {
    await makeGadget()
    const { stored } = await api.resources.delete(namespaceKind, { namespace: '', name: 'n' })
    const { cleanup } = namespaceController(worker)
    const now = (): number => clock.nowMs() + 10_000
    for (let looks = 0; looks < 3; looks++) await cleanup?.(stored.object, { now } as Context)
    expect(await countGadgets()).toBe(0)
  })

  it('goes where it was written into a namespace that is gone', async () => {
    await makeGadget()
    await opened.store.remove((await opened.store.get(namespaceKeyOf('n'))) as StoredObject)
    let settled = 0
    const settle = async (): Promise<void> => void settled++
    const run = createContentRunner(worker, async () => {})
    const key = { group: garbageGroup, kind: 'Content', namespace: '', name: 'n' }
    await run({ key, wakeUps: [{ origin: 'change' }], settle } as unknown as Turn, new AbortController().signal)
    expect([await countGadgets(), settled]).toEqual([0, 1])
  })

  it('counts for a quota', async () => {
    await makeGadget()
    const hard = { [`count/gadgets.${group}`]: '7' }
    const { stored } = await api.resources.create(
      resourceQuotaKind,
      { metadata: { name: 'q', namespace: 'n' }, spec: { hard } },
      by,
    )
    const runCount = createQuotaUsage({ ...worker, lagMs: 0 })
    const turn = { key: keyOf(stored.object), handle: 'h', settle: async () => {}, hold: async () => {} }
    await runCount(turn as unknown as Turn, new AbortController().signal)
    const counted = await opened.store.get(keyOf(stored.object))
    expect(counted?.object.status).toMatchObject({ used: { [`count/gadgets.${group}`]: '1' } })
  })
})

/** A process of reconcilers that has known the kinds for a minute, in which somebody has changed one. */
async function startRunner(controller: Controller, change: () => Promise<void>): Promise<AwsServices> {
  const runner = open(300_000, [controller])
  await runner.catalog.listStored()
  clock.moveTo(clock.nowMs() + 60_000)
  await change()
  return runner
}

const queue = {
  send: async () => {},
  receive: async () => [],
  wake: async () => {},
  settle: async () => {},
  hold: async () => {},
}

async function runOnce(runner: AwsServices, key: ObjectKey): Promise<void> {
  const capacityOf = () => ({ queue: 'system', concurrency: 10 })
  const batch = createReconcileBatch({ ...runner, queueOf: () => queue, capacityOf })
  const wakeUp = { key, origin: 'change', dedupId: 'a', lane: 'urgent', reason: '' } as const
  await batch([{ loop: 'test', delivery: { wakeUp, handle: 'h', receiveCount: 1 } }], 30_000)
}

const Widget = { group, version: 'v1', kind, namespaced: true } as const

async function makeWidget(spec: JsonObject): Promise<ObjectKey> {
  const known = (await api.catalog.byKind(group, kind)) as ServedKind
  const { stored } = await api.resources.create(known, { metadata: { name: 'w', namespace: 'n' }, spec }, by)
  return keyOf(stored.object)
}

it('an object is not refused for what its kind, which others define, no longer says', async () => {
  const sized = (maximum: number): JsonObject => ({
    type: 'object',
    properties: { size: { type: 'integer', maximum } },
  })
  await define(kind, 'widgets', sized(1))
  const seen: string[] = []
  const reconcile = async ({ metadata }: ApiObject) => {
    seen.push(metadata.name)
    return done()
  }
  const runner = await startRunner(defineReconciler(Widget, { name: 'test', reconcile }), () =>
    define(kind, 'widgets', sized(10)),
  )
  await runOnce(runner, await makeWidget({ size: 5 }))
  expect(seen).toEqual(['w'])
})

it.each(['apply', 'patch'] as const)(
  'what an object has by a new definition stays when a run writes it: %s',
  async (verb) => {
    const of = (...names: string[]): JsonObject => ({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'integer' }])),
    })
    await define(kind, 'widgets', of('size'))
    const reconcile = async (_: ApiObject, ctx: Context) => {
      const name = 'w'
      if (verb === 'apply') await ctx.apply(Widget, { metadata: { name }, spec: { size: 8 } }, { owned: false })
      else await ctx.patch(Widget, name, { spec: { size: 8 } })
      return done()
    }
    const runner = await startRunner(defineReconciler(Widget, { name: 'test', reconcile }), () =>
      define(kind, 'widgets', of('size', 'colour')),
    )
    const key = await makeWidget({ size: 5, colour: 7 })
    await runOnce(runner, key)
    expect((await opened.store.get(key))?.object.spec).toEqual({ size: 8, colour: 7 })
  },
)
