import { describe, expect, it } from 'vitest'
import { createIntroduction, createLocalWheel } from '../../../../shared/engine/wake/local-wheel.ts'
import type { SweepOptions } from '../../../../shared/engine/wake/sweep.ts'
import { storedWidget, widgetKind } from '../../../support/stored-object.ts'
import { keyOf } from '../../../../shared/model/object-key.ts'
import type { WakeUp } from '../../../../shared/ports/work-queue.ts'

const begunMs = 1_000_000
const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => logger }

function createWheel({ pending = 0, tickMs = 1_000 } = {}) {
  const keys = Array.from({ length: 400 }, (_, i) => keyOf(storedWidget(`w${i}`).object))
  const swept = {
    index: { onWheel: async (_kind: unknown, from: number, to: number) => keys.slice(0, to - from) },
    queueOf: () => ({ send: async () => {} }),
  } as unknown as SweepOptions
  return createLocalWheel({ swept, turns: { countPending: () => pending }, fromMs: begunMs, tickMs })
}

function controllerOf(resyncMs: number) {
  return { name: 'widgets', kind: widgetKind, resyncMs }
}

describe('when the wheels are turned', () => {
  it.each([
    ['an hour', 3_600_000, 5_000],
    ['ten seconds', 10_000, 500],
    ['never', 0, 5_000],
  ])('with a period of %s again after a rest', async (_name, resyncMs, restMs) => {
    const wheel = createWheel()
    expect(wheel.isDue(begunMs)).toBe(true)
    await wheel.turn(begunMs, [controllerOf(resyncMs)])
    expect(wheel.isDue(begunMs)).toBe(false)
    expect(wheel.isDue(begunMs + restMs - 1)).toBe(false)
    expect(wheel.isDue(begunMs + restMs)).toBe(true)
  })

  it('at once while one is behind', async () => {
    const wheel = createWheel({ pending: 1_000_000 })
    await wheel.turn(begunMs + 1_000_000, [controllerOf(3_600_000)])
    expect(wheel.isDue(begunMs + 1_000_000)).toBe(true)
    expect(wheel.findTurnedMs()).toBe(begunMs)
  })

  it('after the clock went back', async () => {
    const wheel = createWheel()
    await wheel.turn(begunMs, [controllerOf(3_600_000)])
    expect(wheel.isDue(begunMs - 1)).toBe(true)
  })
})

/** A wheel of an hour's period that stands at `begunMs`, on which every sweep finds so many keys. */
function wheelWith({ found, pending = 0 }: { readonly found: number; readonly pending?: number }) {
  const sweeps: string[] = []
  const swept = {
    index: {
      onWheel: async ({ kind }: { readonly kind: string }, from: number, to: number) => {
        sweeps.push(`${kind} ${from}-${to}`)
        return Array.from({ length: found }, (_, i) => keyOf(storedWidget(`w${i}`).object))
      },
    },
    queueOf: () => ({ send: async () => {} }),
  } as unknown as SweepOptions
  const turns = { countPending: () => pending }
  return { wheel: createLocalWheel({ swept, turns, fromMs: begunMs, tickMs: 1_000 }), sweeps }
}

describe('a wheel that stood still', () => {
  const hourly = controllerOf(3_600_000)
  const sliceMs = 7_200

  it('wakes a thousand keys a turn, a five-hundredth of its period at a time, until it is up to now', async () => {
    const { wheel } = wheelWith({ found: 500 })
    const nowMs = begunMs + 5 * sliceMs
    expect(await wheel.turn(nowMs, [hourly])).toBe(1_000)
    expect(wheel.findTurnedMs()).toBe(begunMs + 2 * sliceMs)
    expect(wheel.isDue(nowMs)).toBe(true)
    await wheel.turn(nowMs, [hourly])
    expect(wheel.findTurnedMs()).toBe(begunMs + 4 * sliceMs)
    expect(await wheel.turn(nowMs, [hourly])).toBe(500)
    expect(wheel.findTurnedMs()).toBe(nowMs)
    expect(wheel.isDue(nowMs)).toBe(false)
    expect(await wheel.turn(nowMs, [hourly])).toBe(0)
  })

  it('with few keys is done in one turn, and sweeps each slot once', async () => {
    const { wheel, sweeps } = wheelWith({ found: 1 })
    expect(await wheel.turn(begunMs + 3 * sliceMs, [hourly])).toBe(3)
    expect(sweeps).toEqual(['Widget 1000-1008', 'Widget 1008-1015', 'Widget 1015-1022'])
    expect(wheel.findTurnedMs()).toBe(begunMs + 3 * sliceMs)
  })

  it('goes round once, however long it stood', async () => {
    const { wheel, sweeps } = wheelWith({ found: 1 })
    await wheel.turn(begunMs + 50 * 3_600_000, [hourly])
    const slots = sweeps.map((sweep) => sweep.split(' ')[1]?.split('-').map(Number) ?? [])
    expect(slots.reduce((sum, [from = 0, to = 0]) => sum + to - from, 0)).toBe(3_600)
  })

  it.each([
    ['an hour', 3_600_000, sliceMs, 1_000, true],
    ['an hour', 3_600_000, sliceMs + 1, 1_000, false],
    ['an hour', 3_600_000, sliceMs + 1, 999, true],
    ['a minute', 60_000, 5_000, 1_000, true],
    ['a minute', 60_000, 5_001, 1_000, false],
  ])('with a period of %s (%d), %d ms behind and %d keys under way is turned: %j', async (...row) => {
    const [, resyncMs, behindMs, pending, is] = row
    const { wheel } = wheelWith({ found: 0, pending })
    await wheel.turn(begunMs + behindMs, [controllerOf(resyncMs)])
    expect(wheel.findTurnedMs()).toBe(is ? begunMs + behindMs : begunMs)
  })

  it('of a loop that is gone is forgotten, and begins from now if it is back', async () => {
    const { wheel, sweeps } = wheelWith({ found: 0, pending: 1_000 })
    const nowMs = begunMs + 3_600_000
    await wheel.turn(nowMs, [hourly])
    expect(wheel.findTurnedMs()).toBe(begunMs)
    await wheel.turn(nowMs, [])
    expect(wheel.findTurnedMs()).toBe(nowMs)
    await wheel.turn(nowMs + 1_000, [hourly])
    expect(wheel.findTurnedMs()).toBe(nowMs + 1_000)
    expect(sweeps).toHaveLength(1)
  })
})

describe('the first look of new loops', () => {
  const watching = { id: 'v1', kinds: [widgetKind] }
  const watcher = { ...controllerOf(0), watching }

  /** With one object on each of the first slots. */
  function lookAt(controllers: readonly ReturnType<typeof controllerOf>[], objects: number) {
    const noted: string[] = []
    const woken: unknown[] = []
    const pending = new Map<string, number>()
    const index = {
      onWheel: async (_kind: unknown, from: number, to: number) =>
        Array.from({ length: Math.max(0, Math.min(objects, to) - from) }, (_, i) =>
          keyOf(storedWidget(`w${from + i}`).object),
        ),
    }
    const queueOf = () => ({ send: async (wakeUps: readonly unknown[]) => void woken.push(...wakeUps) })
    const introduction = createIntroduction({
      swept: { index, queueOf, controllers } as unknown as SweepOptions,
      changes: { countPending: (name) => pending.get(name) ?? 0 },
      noteStored: async ({ name }) => void noted.push(name),
      logger,
      resourceVersion: '7',
    })
    return { introduction, noted, woken, pending }
  }

  it('at few objects is over at once, and notes before it wakes', async () => {
    const { introduction, noted, woken } = lookAt([watcher], 3)
    expect(await introduction.advance()).toBe(true)
    expect(noted.toSorted()).toEqual(['w0', 'w1', 'w2'])
    expect(woken).toMatchObject(
      ['w0', 'w1', 'w2'].map((name) => ({ key: { name }, dedupId: 'all:7', resourceVersion: '7' })),
    )
  })

  it('at many looks at some at a time, and wakes none before all are noted', async () => {
    const { introduction, noted, woken } = lookAt([watcher], 3_600)
    const steps: unknown[] = []
    for (let isOver = false; !isOver;) {
      isOver = await introduction.advance()
      steps.push([noted.length, woken.length, isOver])
    }
    expect(steps).toEqual([
      [1_023, 0, false],
      [2_046, 0, false],
      [3_069, 0, false],
      [3_600, 1_023, false],
      [3_600, 2_046, false],
      [3_600, 3_069, false],
      [3_600, 3_600, true],
    ])
    expect(await introduction.advance()).toBe(true)
    expect(woken).toHaveLength(3_600)
  })

  it('notes a thousand and wakes a thousand, and then has done enough', async () => {
    const thousand = Array.from({ length: 1_000 }, (_, i) => keyOf(storedWidget(`v${i}`).object))
    const looks: unknown[] = []
    const index = {
      onWheel: async (_kind: unknown, from: number) => {
        looks.push(from)
        return from === 0 || from === 3_599 ? thousand : []
      },
    }
    const introduce = (controllers: readonly ReturnType<typeof controllerOf>[]) =>
      createIntroduction({
        swept: { index, queueOf: () => ({ send: async () => {} }), controllers } as unknown as SweepOptions,
        changes: { countPending: () => 0 },
        noteStored: async () => {},
        logger,
        resourceVersion: '7',
      })
    for (const controllers of [[watcher], [controllerOf(0)]]) {
      looks.length = 0
      await introduce(controllers).advance()
      expect(looks).toEqual([0])
    }
  })

  it.each([
    ['as many', 1_000, 0],
    ['fewer', 999, 3],
  ])('wakes while of no loop %s have not run (%d)', async (_what, count, woken) => {
    const look = lookAt([controllerOf(0), { ...controllerOf(0), name: 'gadgets' }], 3)
    look.pending.set('gadgets', count)
    expect(await look.introduction.advance()).toBe(woken > 0)
    expect(look.woken).toHaveLength(2 * woken)
    look.pending.set('gadgets', 0)
    expect(await look.introduction.advance()).toBe(true)
    expect(look.woken).toHaveLength(6)
  })
})

it('a wheel whose sweep fails is turned again from where it stood', async () => {
  const sent: string[] = []
  let fails = 1
  const widget = { group: 'g', kind: 'K', namespace: 'n', name: 'w' }
  const swept = {
    index: { onWheel: async () => [widget] },
    queueOf: () => ({
      send: async (wakeUps: readonly WakeUp[]) => {
        if (fails-- > 0) throw new Error('no queue')
        sent.push(...wakeUps.map(({ notBeforeMs }) => String(notBeforeMs)))
      },
    }),
  } as never
  const wheel = createLocalWheel({ swept, turns: { countPending: () => 0 }, fromMs: 0, tickMs: 1_000 })
  const hourly = { name: 'widgets', kind: widget, resyncMs: 3_600_000 }
  await expect(wheel.turn(5_000, [hourly])).rejects.toThrow('no queue')
  expect(wheel.findTurnedMs()).toBe(0)
  await wheel.turn(6_000, [hourly])
  expect(sent).toEqual(['0'])
})
