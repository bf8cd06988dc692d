import { describe, expect, it } from 'vitest'
import { createPrometheusTelemetry } from '../../../../shared/adapters/local/prometheus-telemetry.ts'
import { createRelay } from '../../../../shared/engine/wake/relay.ts'
import type { Route } from '../../../../shared/engine/wake/routes.ts'
import type { Target } from '../../../../shared/engine/wake/wake-up.ts'
import { ConfigMap, done, mapped, reference, type Controller } from '../../../../shared/index.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { keyOf, keyText, type ObjectKey } from '../../../../shared/model/object-key.ts'
import { DamagedObjectError } from '../../../../shared/model/errors.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Change } from '../../../../shared/ports/change-feed.ts'
import type { ObjectIndex } from '../../../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../../../shared/ports/object-store.ts'
import type { WakeUp, WorkQueue } from '../../../../shared/ports/work-queue.ts'
import { widgets } from '../../../acceptance/support/widgets.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const nowMs = 1_000_000
const target = (name: string): Target => ({ key: keyNamed(name), lane: 'background', reason: 'r' })
const keyNamed = (name: string): ObjectKey => ({
  group: 'test.setpoint.dev',
  kind: 'Widget',
  namespace: 'default',
  name,
})
const heldUntil = (untilMs: number): EngineState => ({ hold: { handle: 'h', untilMs } })

interface World {
  readonly controllers?: readonly Controller[]
  readonly builtIn?: readonly Route[]
  /** What the store holds, by the text of its key. */
  readonly stored?: Readonly<Record<string, EngineState>>
  readonly referrers?: readonly ObjectKey[]
  readonly references?: readonly ObjectKey[]
  readonly startMs?: number
  /** The queue that takes nothing. */
  readonly away?: string
}

/** A relay, and what it does, in order. */
function relayIn({
  controllers = [],
  builtIn = [],
  stored = {},
  referrers = [],
  references = [],
  startMs = nowMs,
  away,
}: World) {
  const did: string[] = []
  const sent: (readonly [string, WakeUp])[] = []
  const advice: unknown[] = []
  const queueOf = ({ name }: { readonly name: string }): WorkQueue =>
    ({
      send: async (wakeUps: readonly WakeUp[]) => {
        await Promise.resolve()
        if (name === away) throw new Error('the queue is away')
        did.push(`send ${name} ${wakeUps.length}`)
        sent.push(...wakeUps.map((one) => [name, one] as const))
      },
      wake: async (handle: string) => void did.push(`wake ${name} ${handle}`),
    }) as unknown as WorkQueue
  const store = {
    get: async (key: ObjectKey) => {
      did.push(`get ${key.group}/${key.name}`)
      if (key.name === 'bad') throw new DamagedObjectError('damaged', { uid: 'u', resourceVersion: '1' })
      const engine = stored[keyText(key)]
      return engine && { ...storedWidget(key.name), engine }
    },
  } as unknown as ObjectStore
  const index = {
    referrers: async () => referrers,
    references: async () => references,
    setReferences: async (_key: ObjectKey, keys: readonly ObjectKey[]) =>
      void did.push(`note ${keys.map(({ name }) => name).join()}`),
  } as unknown as ObjectIndex
  const logger = {
    debug: () => {},
    info: () => {},
    warn: (...line: unknown[]) => void advice.push(line),
    error: () => {},
    with: () => logger,
  }
  const clock = createVirtualClock(startMs)
  const options = { controllers, builtIn, queueOf, store, index, clock, logger, telemetry: createPrometheusTelemetry() }
  const names = (): readonly string[] => sent.map(([, { key }]) => key.name)
  return { relay: createRelay(options), did, sent, names, advice }
}

function changeOf(engine: EngineState = {}, touched: Change['touched'] = ['spec'], name = 'w'): Change {
  const { object } = storedWidget(name)
  return { type: 'modified', touched, stored: { object: { ...object, apiVersion: 'test.setpoint.dev/v1' }, engine } }
}

function configMapChange(): Change {
  const { object } = storedWidget('c')
  const stored: StoredObject = { object: { ...object, apiVersion: 'v1', kind: 'ConfigMap' }, engine: {} }
  return { type: 'modified', touched: ['spec'], stored }
}

const route = (targets: readonly Target[], more: Partial<Route> = {}): Route => ({
  name: 'own',
  debounceMs: 0,
  targets: () => targets,
  ...more,
})

const widget = widgets([], () => done())
const debounced = widgets([], () => done(), { debounce: '5s' })

describe('a change', () => {
  it('sends one wake-up to the queue of the controller, and looks nothing up for it', async () => {
    const { relay, did, sent } = relayIn({ controllers: [widget] })
    await relay([changeOf()])
    expect(did).toEqual(['send widget 1'])
    expect(sent[0]?.[1]).toMatchObject({ origin: 'change', lane: 'urgent' })
    expect(sent[0]?.[1].notBeforeMs).toBeUndefined()
  })

  it('that concerns nobody sends nothing', async () => {
    const { relay, did } = relayIn({ controllers: [widget], builtIn: [route([])] })
    await relay([changeOf({}, ['status'])])
    expect(did).toEqual([])
  })

  it('of one object comes in order, and to each queue all at once', async () => {
    const { relay, did, sent } = relayIn({ controllers: [widget] })
    const second = changeOf({}, ['labels'])
    await relay([changeOf(), second, changeOf({}, ['spec'], 'v')])
    expect(did).toEqual(['send widget 3'])
    expect(sent.map(([, { key, reason }]) => `${key.name} ${reason}`)).toEqual([
      'w spec changed',
      'w labels changed',
      'v spec changed',
    ])
  })

  it('that is debounced is not handed out before', async () => {
    const { relay, sent } = relayIn({ controllers: [debounced] })
    await relay([changeOf()])
    expect(sent[0]?.[1].notBeforeMs).toBe(nowMs + 5_000)
  })

  it('is handed out at once by a route that does not debounce, and not by one that does so for a moment', async () => {
    for (const debounceMs of [0, 1]) {
      const { relay, sent } = relayIn({ builtIn: [route([target('a')], { debounceMs })] })
      await relay([changeOf()])
      expect(sent[0]?.[1].notBeforeMs).toBe(debounceMs === 0 ? undefined : nowMs + 1)
    }
  })

  it('is told to each target of a route once', async () => {
    for (const targets of [
      ['a', 'a'],
      ['a', 'b', 'a'],
    ]) {
      const { relay, names } = relayIn({ builtIn: [route(targets.map(target))] })
      await relay([changeOf()])
      expect(names().toSorted()).toEqual([...new Set(targets)].toSorted())
    }
  })

  it('wakes those that refer to what was changed', async () => {
    const referring = widgets([], () => done(), { watches: [reference(ConfigMap, () => ({ name: 'c' }))] })
    const { relay, names } = relayIn({ controllers: [referring], referrers: [keyNamed('r')] })
    await relay([configMapChange()])
    expect(names()).toEqual(['r'])
  })

  it('wakes whom an object maps to and did before, and forgets that only then', async () => {
    const mapping = widgets([], () => done(), { watches: [mapped(ConfigMap, () => ({ name: 'now' }))] })
    const configMap = configMapChange()
    const { relay, did, names } = relayIn({
      controllers: [mapping],
      references: [keyNamed('before')],
      stored: { [keyText(keyOf(configMap.stored.object))]: {} },
    })
    await relay([configMap])
    expect(names()).toEqual(['now', 'before'])
    expect(did[0]).toBe('note now,before')
    expect(did.at(-1)).toBe('note now')
    expect(did.indexOf('send widget 2')).toBe(1)
  })
})

describe('a queue that is away', () => {
  it('keeps back no wake-up of another, and all come again', async () => {
    const held = { ...target('a'), stored: { ...storedWidget('a'), engine: heldUntil(nowMs + 1) } }
    const builtIn = [route([held], { name: 'away' }), route([held], { name: 'there' })]
    const { relay, did } = relayIn({ builtIn, away: 'away' })
    await expect(relay([changeOf()])).rejects.toThrow('away')
    expect(did).toEqual(['send there 1', 'wake there h'])
  })
})

describe('a hold', () => {
  const rows: readonly (readonly [string, Controller, EngineState, boolean])[] = [
    ['of a change', widget, heldUntil(nowMs + 1), true],
    ['that was to end long ago', widget, heldUntil(1), true],
    ['of a debounced change that has to wait longer', debounced, heldUntil(nowMs + 5_000), false],
    ['of a debounced change that could run before', debounced, heldUntil(nowMs + 5_001), true],
  ]
  it.each(rows)('%s is ended: %j', async (_what, controller, engine, is) => {
    const { relay, did } = relayIn({ controllers: [controller], startMs: nowMs })
    await relay([changeOf(engine)])
    expect(did).toEqual(['send widget 1', ...(is ? ['wake widget h'] : [])])
  })

  it('is ended for the earliest of several wake-ups', async () => {
    const soon = { ...target('w'), stored: changeOf(heldUntil(nowMs + 3_000)).stored }
    for (const delays of [
      [1_000, 5_000],
      [5_000, 1_000],
      [5_000, 5_000],
    ]) {
      const builtIn = delays.map((debounceMs) => route([soon], { debounceMs }))
      const { relay, did } = relayIn({ builtIn })
      await relay([changeOf()])
      expect(did).toEqual(['send own 2', ...(delays.includes(1_000) ? ['wake own h'] : [])])
    }
  })

  it('of a target that is told by its key only is looked up', async () => {
    const { relay, did } = relayIn({
      builtIn: [route([target('a')])],
      stored: { [keyText(keyNamed('a'))]: heldUntil(nowMs + 1) },
    })
    await relay([changeOf()])
    expect(did).toEqual(['send own 1', 'get test.setpoint.dev/a', 'wake own h'])
  })

  it('that was told is ended, and so is the one that has come since, where another change looks', async () => {
    const key = keyOf(changeOf().stored.object)
    const engine = { hold: { handle: 'since', untilMs: nowMs + 1 } }
    const { relay, did } = relayIn({
      builtIn: [
        route([{ ...target('w'), key, stored: changeOf(heldUntil(nowMs + 1)).stored }]),
        route([{ ...target('w'), key }]),
      ],
      stored: { [keyText(key)]: engine },
    })
    await relay([changeOf()])
    expect(did.filter((one) => one.startsWith('wake'))).toEqual(['wake own h', 'wake own since'])
  })

  it('of an object that is gone is that of its record', async () => {
    const record = { ...keyNamed('a'), group: 'removed.test.setpoint.dev' }
    const { relay, did } = relayIn({
      builtIn: [route([target('a')])],
      stored: { [keyText(record)]: heldUntil(nowMs + 1) },
    })
    await relay([changeOf()])
    expect(did.slice(1)).toEqual(['get test.setpoint.dev/a', 'get removed.test.setpoint.dev/a', 'wake own h'])
  })

  it('that an object and its record have left, or the next of its name, are all ended, each once', async () => {
    const targetWith = (handle: string | undefined): Target => {
      const engine = handle === undefined ? {} : { hold: { handle, untilMs: nowMs + 1 } }
      return { ...target('a'), stored: { ...storedWidget('a'), engine } }
    }
    for (const [handles, ended] of [
      [['h', undefined], ['h']],
      [[undefined, 'h'], ['h']],
      [
        ['h', 'i', 'h'],
        ['h', 'i'],
      ],
    ] as const) {
      const { relay, did } = relayIn({ builtIn: handles.map((handle) => route([targetWith(handle)])) })
      await relay([changeOf()])
      expect(did).toEqual([`send own ${handles.length}`, ...ended.map((handle) => `wake own ${handle}`)])
    }
  })

  it('of what is damaged is none that is known, and everybody else is woken', async () => {
    const damaged = { ...target('bad'), key: keyNamed('bad') }
    const { relay, did } = relayIn({
      builtIn: [route([damaged, target('a')])],
      stored: { [keyText(keyNamed('a'))]: heldUntil(nowMs + 1) },
    })
    await relay([changeOf()])
    expect(did).toContain('wake own h')
  })

  it('is none where nothing is stored, or nothing is held', async () => {
    for (const stored of [{}, { [keyText(keyNamed('a'))]: {} }]) {
      const { relay, did } = relayIn({ builtIn: [route([target('a')])], stored })
      await relay([changeOf()])
      expect(did.filter((one) => one.startsWith('wake'))).toEqual([])
    }
  })

  it('is not looked for where turns are never held', async () => {
    const held = { ...target('w'), stored: changeOf(heldUntil(nowMs + 9)).stored }
    const { relay, did } = relayIn({ builtIn: [route([target('a'), held], { isNeverHeld: true })] })
    await relay([changeOf()])
    expect(did).toEqual(['send own 2'])
  })
})

describe('a change that wakes very many', () => {
  const many = (count: number): ObjectKey[] => Array.from({ length: count }, (_, i) => keyNamed(`w${i}`))
  const referring = (options: Parameters<typeof widgets>[2] = {}) =>
    widgets([], () => done(), { ...options, watches: [reference(ConfigMap, () => ({ name: 'c' }))] })

  it.each([
    [100, 'widget', undefined],
    [101, 'widget-fan-out', nowMs + 10],
  ])('%d: goes to %s', async (count, queue, timerAtMs) => {
    const { relay, did, sent } = relayIn({ controllers: [referring()], referrers: many(count) })
    await relay([configMapChange()])
    expect(did).toContain(`send ${queue} ${count}`)
    expect(sent[0]?.[1].timerAtMs).toBe(timerAtMs)
  })

  it('goes no faster than its own controller may run', async () => {
    const slow = referring({ rateLimit: { controller: { perSecond: 1 } } })
    const { relay, sent } = relayIn({ controllers: [{ ...widget, name: 'other' }, slow], referrers: many(101) })
    await relay([configMapChange()])
    expect(sent.slice(0, 2).map(([, { timerAtMs }]) => timerAtMs)).toEqual([nowMs + 1_000, nowMs + 2_000])
  })

  it('waits for nobody where they are keys of the engine itself', async () => {
    const { relay, did } = relayIn({
      builtIn: [
        route(
          many(101).map(({ name }) => target(name)),
          { isNeverHeld: true },
        ),
      ],
    })
    await relay([changeOf()])
    expect(did).toEqual(['send own 101'])
  })

  it.each([
    [1_000, 0],
    [1_001, 1],
  ])('%d: is told of %d times', async (count, times) => {
    const { relay, advice } = relayIn({ controllers: [referring()], referrers: many(count) })
    await relay([configMapChange()])
    expect(advice).toHaveLength(times)
    if (times > 0)
      expect(advice[0]).toMatchObject(['advice', { advice: 'FanOut', about: '1001 objects', controller: 'widget' }])
  })
})
