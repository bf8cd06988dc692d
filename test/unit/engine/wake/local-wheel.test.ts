import { describe, expect, it } from 'vitest'
import { createLocalWheel } from '../../../../shared/engine/wake/local-wheel.ts'
import type { SweepOptions } from '../../../../shared/engine/wake/sweep.ts'
import { storedWidget, widgetKind } from '../../../support/stored-object.ts'
import { keyOf } from '../../../../shared/model/object-key.ts'

const begunMs = 1_000_000

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
