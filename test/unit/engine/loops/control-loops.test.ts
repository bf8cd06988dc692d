import { describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import {
  allControllers,
  createControlLoops,
  createControlRelay,
  garbageSwept,
  sweptControllersOf,
  type ControlLoop,
  type ControlLoopsOptions,
} from '../../../../shared/engine/loops/control-loops.ts'
import {
  ConfigMap,
  done,
  mapped,
  reference,
  Secret,
  type Controller,
  type ReconcilerOptions,
} from '../../../../shared/index.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'
import { widgets, type WidgetObject } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const widgetKind = { group: 'test.setpoint.dev', kind: 'Widget' }
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }
const to = (name: string) => () => ({ name })
const widgetWith = (options: Partial<ReconcilerOptions<WidgetObject>> = {}): Controller =>
  widgets([], () => done(), options)

function optionsOf(...controllers: readonly Controller[]): ControlLoopsOptions {
  const store = { get: async () => {} }
  const index = { childrenOf: async () => [], references: async () => [], setReferences: async () => {} }
  const clock = createVirtualClock(0)
  return { controllers, store, index, clock, logger, telemetry: createPrometheusTelemetry() } as never
}

const loopsOf = (...controllers: readonly Controller[]): readonly ControlLoop[] =>
  createControlLoops(optionsOf(...controllers))
const loopOf = (controller: Controller): ControlLoop | undefined =>
  loopsOf(controller).find(({ name }) => name === 'widget')
const refers = reference(ConfigMap, to('c'))
const maps = mapped(Secret, to('m'))

describe('control loops', () => {
  it('are those of controllers, of life cycles, and the engine’s own', () => {
    expect(
      loopsOf(widgetWith()).map(({ name, resyncMs, concurrency, timeoutMs }) => [
        name,
        resyncMs,
        concurrency,
        timeoutMs,
      ]),
    ).toEqual([
      ['widget', 36_000_000, 10, 60_000],
      ['namespace-lifecycle', expect.any(Number), expect.any(Number), expect.any(Number)],
      ['customresourcedefinition-lifecycle', expect.any(Number), expect.any(Number), expect.any(Number)],
      ['garbage-collector', 0, 10, 60_000],
      ['event-expiry', 0, 4, 60_000],
      ['quota-usage', 0, 4, 60_000],
    ])
  })

  it.each([
    ['refers', [refers], 1],
    ['maps', [maps], 1],
    ['does both', [refers, maps], 1],
    ['watches nothing', [], 0],
  ])('a controller that %s fans out in %s: %d', (_what, watches, count) => {
    const loops = loopsOf(widgetWith({ watches }))
    const fanOut = loops.filter(({ name }) => name === 'widget-fan-out')
    expect(fanOut).toHaveLength(count)
    expect(fanOut.map(({ resyncMs, concurrency, timeoutMs }) => [resyncMs, concurrency, timeoutMs])).toEqual(
      fanOut.map(() => [0, 10, 60_000]),
    )
    expect(loops.find(({ name }) => name === 'widget')?.watching !== undefined).toBe(count > 0)
  })

  it.each([
    ['refers: its own', [refers], [widgetKind]],
    ['maps: those that are mapped', [maps], [{ group: '', kind: 'Secret' }]],
    ['does both', [refers, maps], [widgetKind, { group: '', kind: 'Secret' }]],
    ['maps one kind twice: once', [maps, mapped(Secret, to('n'))], [{ group: '', kind: 'Secret' }]],
  ])('the objects that say who refers to whom, of one that %s', (_what, watches, kinds) => {
    expect(loopOf(widgetWith({ watches }))?.watching?.kinds).toMatchObject(kinds)
    expect(loopOf(widgetWith({ watches }))?.watching?.kinds).toHaveLength(kinds.length)
  })

  it('are known as watching something else when any of their watches is another', () => {
    const idOf = (...watches: NonNullable<ReconcilerOptions<WidgetObject>['watches']>) =>
      loopOf(widgetWith({ watches }))?.watching?.id
    const ids = [
      idOf(refers),
      idOf(reference(Secret, to('c'))),
      idOf(reference(ConfigMap, () => ({ name: 'd' }))),
      idOf(mapped(ConfigMap, to('c'))),
      idOf(refers, maps),
    ]
    expect(new Set(ids).size).toBe(ids.length)
    expect(idOf(reference(ConfigMap, to('c')))).toBe(ids[0])
  })

  it('are one for each kind', () => {
    const same = { ...widgetWith(), name: 'again' }
    expect(() => allControllers(optionsOf(widgetWith(), same))).toThrow(
      'widget and again are both for Widget.test.setpoint.dev: a kind has one controller',
    )
    expect(allControllers(optionsOf(widgetWith()))).toHaveLength(3)
  })
})

/** What the loop for quotas does with one that was made just now. */
async function countNewQuota(quotaLagMs: number | undefined): Promise<readonly string[]> {
  const did: string[] = []
  const { object } = storedWidget('q', { creationTimestamp: '1970-01-01T00:00:00Z', resourceVersion: '1' })
  const quota = { object: { ...object, apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard: {} } }, engine: {} }
  const given = {
    ...optionsOf(widgetWith()),
    store: { get: async () => quota, replace: async (next: object) => next },
    catalog: { listStored: async () => [] },
    ...(quotaLagMs !== undefined && { quotaLagMs }),
  } as unknown as ControlLoopsOptions
  const loop = createControlLoops(given).find(({ name }) => name === 'quota-usage')
  const key = { group: '', kind: 'ResourceQuota', namespace: 'default', name: 'q' }
  const turn = {
    key,
    handle: 'h',
    isNearReceiveLimit: false,
    hold: async () => void did.push('hold'),
    settle: async () => void did.push('settle'),
  }
  await loop?.run(turn as never, new AbortController().signal)
  return did
}

it.each([
  ['at once', undefined, 'settle'],
  ['later', 1, 'hold'],
])('a quota that is new is known everywhere %s', async (_what, quotaLagMs, did) => {
  expect(await countNewQuota(quotaLagMs)).toEqual([did])
})

describe('what is swept', () => {
  const sweptOf = (controller: Controller) =>
    sweptControllersOf(loopsOf(controller)).filter(({ name }) => name === 'widget')

  it('are the objects of each controller, with what it watches', () => {
    expect(sweptOf(widgetWith())).toMatchObject([{ name: 'widget', kind: widgetKind, resyncMs: 36_000_000 }])
    expect(sweptOf(widgetWith()).map((swept) => 'watching' in swept || 'wakes' in swept)).toEqual([false])
    expect(sweptOf(widgetWith({ watches: [refers] }))[0]?.watching?.kinds).toHaveLength(1)
  })

  it('are records of what was removed, too, under the keys of their objects', () => {
    const record = { group: 'removed.test.setpoint.dev', kind: 'Widget' }
    expect(sweptOf(widgetWith({ onRemoved: 'reconcile' } as never))).toMatchObject([
      { kind: widgetKind },
      { name: 'widget', kind: record, resyncMs: 36_000_000, wakes: widgetKind },
    ])
  })

  it('are no loops without a kind of their own', () => {
    const names = sweptControllersOf(loopsOf(widgetWith({ watches: [refers] }))).map(({ name }) => name)
    expect(names).toEqual(['widget', 'namespace-lifecycle', 'customresourcedefinition-lifecycle', 'event-expiry'])
  })

  it('is garbage once a day, and quotas once an hour', () => {
    expect(garbageSwept([widgetKind])).toMatchObject([
      { name: 'garbage-collector', kind: widgetKind, resyncMs: 86_400_000 },
      { name: 'quota-usage', kind: { kind: 'ResourceQuota' }, resyncMs: 3_600_000 },
    ])
  })
})

describe('the relay of all loops', () => {
  const { object } = storedWidget('w')
  const removed: Change = {
    type: 'removed',
    touched: ['delete'],
    stored: { object: { ...object, apiVersion: 'test.setpoint.dev/v1' }, engine: {} },
  }
  it.each([
    ['that sees all is woken by a removal', { onRemoved: 'reconcile' }, ['widget']],
    ['is not', {}, []],
  ])('a controller %s', async (_what, options, names) => {
    const sent: string[] = []
    const queueOf = ({ name }: { readonly name: string }) => ({
      send: async (wakeUps: readonly WakeUp[]) => void sent.push(...wakeUps.map(() => name)),
    })
    const given = optionsOf(widgetWith(options as never))
    const store = { ...given.store, create: async (one: unknown) => one }
    await createControlRelay({ ...given, store } as never, queueOf as never)([removed])
    expect(sent.filter((name) => name === 'widget')).toEqual(names)
  })
})
