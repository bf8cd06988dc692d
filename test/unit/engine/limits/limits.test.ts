import { describe, expect, it } from 'vitest'
import { createLimits, type SharedEntry } from '../../../../shared/engine/limits/limits.ts'
import type { Turn } from '../../../../shared/engine/state/turn.ts'
import { OperatingError } from '../../../../shared/model/errors.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Reserve } from '../../../../shared/ports/reservations.ts'
import type { Controller } from '../../../../shared/reconciler/controller.ts'
import { storedWidget } from '../../../support/stored-object.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const startMs = 1_000_000
const turn = { wakeUps: [{ origin: 'change', reason: 'r' }], receiveCount: 3 } as unknown as Turn
const { signal } = new AbortController()

function limitsWith(controller: Partial<Controller>, reserve?: Reserve) {
  const clock = createVirtualClock(startMs)
  const options = { clock, random: { next: () => 0.5, uuid: () => '' }, ...(reserve && { reserve }) }
  return { clock, limits: createLimits({ name: 'widgets', ...controller } as Controller, options) }
}

function widget(engine: EngineState = {}): StoredObject {
  return { ...storedWidget('w'), engine }
}

describe("an object's own limits", () => {
  const objectLimit = { runs: 2, withinMs: 10_000 }
  const ranTwice: EngineState = { memory: { window: { startMs: startMs - 4_000, runs: 2 } } }

  it('put a run off by its rate, and let it begin while that is not used up', () => {
    const { limits } = limitsWith({ objectLimit })
    const { postpone, shared } = limits.enter()
    expect(postpone(widget(ranTwice), turn)).toEqual({ kind: 'RateLimited', untilMs: startMs + 6_000 })
    expect(postpone(widget(), turn)).toBeUndefined()
    expect(shared).toBeUndefined()
  })

  it('put no run off, where the controller has no limit of this kind', () => {
    const { limits } = limitsWith({})
    expect(limits.enter().postpone(widget(ranTwice), turn)).toBeUndefined()
    expect(limits.countEnded(widget(ranTwice), { againMs: 0, after: () => widget().object }, startMs).window).toBe(
      undefined,
    )
  })

  it('count a run that has ended', () => {
    const { limits } = limitsWith({ objectLimit })
    const ended = limits.countEnded(widget(ranTwice), { againMs: 0, after: () => widget().object }, startMs)
    expect(ended).toEqual({ window: { startMs: startMs - 4_000, runs: 3 }, probeAtMs: undefined })
  })

  it('put a run of a hot loop off, and say when the next probe is', () => {
    const { clock, limits } = limitsWith({})
    const run = { againMs: 0, after: () => widget().object }
    for (let i = 0; i < 100; i++) {
      expect(limits.enter().postpone(widget(), turn)).toBeUndefined()
      limits.countEnded(widget(), run, startMs)
    }
    expect(limits.enter().postpone(widget(), turn)).toEqual({
      kind: 'HotLoop',
      untilMs: startMs + 30_000,
      hotLoop: {
        status: 'True',
        reason: 'RunsWithoutEnd',
        message: 'it ran 100 times without a pause; woken by: r',
      },
    })
    clock.moveTo(startMs + 31_000)
    expect(limits.enter().postpone(widget(), turn)).toBeUndefined()
    expect(limits.countEnded(widget(), run, clock.nowMs()).probeAtMs).toBe(startMs + 61_000)
  })
})

describe('the limit that processes share', () => {
  const controllerLimit = { perSecond: 1, burst: 1 }
  /** A line whose next place is so far away. */
  const inLine = (ms: number, asked: unknown[] = []) =>
    limitsWith({ controllerLimit }, async (...args) => {
      asked.push(args)
      return [startMs + ms]
    })
  const sharedOf = (limits: ReturnType<typeof inLine>['limits']): SharedEntry => {
    const { shared } = limits.enter()
    if (shared === undefined) throw new Error('there is a limit')
    return shared
  }

  it.each([
    { what: 'a place at once', ms: 0, postponement: undefined },
    { what: 'a place within a second', ms: 1_000, postponement: undefined },
    {
      what: 'a place further away',
      ms: 1_001,
      postponement: { kind: 'RateLimited', untilMs: startMs + 1_001, reservedMs: startMs + 1_001 },
    },
  ])('$what: $postponement', async ({ ms, postponement }) => {
    const asked: unknown[] = []
    const { limits } = inLine(ms, asked)
    expect(await sharedOf(limits).postpone(widget(), turn)).toEqual(postponement)
    expect(asked).toEqual([['widgets', 1, controllerLimit]])
  })

  it('leaves a place that the object holds where it is', async () => {
    const { limits } = inLine(0)
    const held = widget({ memory: { reservedMs: startMs + 5_000 } })
    expect(await sharedOf(limits).postpone(held, turn)).toEqual({ kind: 'RateLimited', untilMs: startMs + 5_000 })
  })

  it('does not look again for a hot loop where the object has waited for its place', () => {
    const { limits } = inLine(0)
    const run = { againMs: 0, after: () => widget().object }
    for (let i = 0; i < 100; i++) {
      limits.enter().postpone(widget(), turn)
      limits.countEnded(widget(), run, startMs)
    }
    expect(limits.enter().postpone(widget({ memory: { reservedMs: startMs } }), turn)).toBeUndefined()
    expect(limits.enter().postpone(widget(), turn)?.kind).toBe('HotLoop')
  })

  it('backs off by how often the message came where the line cannot be asked, and throws what is no such answer', async () => {
    const failing = (error: Error) =>
      sharedOf(
        limitsWith({ controllerLimit }, async () => {
          throw error
        }).limits,
      ).postpone(widget(), turn)
    expect(await failing(new OperatingError('THROTTLED', 'slow down'))).toEqual({
      kind: 'RateLimited',
      untilMs: startMs + 3_000,
    })
    await expect(failing(new RangeError('a bug'))).rejects.toThrow('a bug')
  })

  it('waits for the place, and says whether that took time', async () => {
    for (const [ms, is] of [
      [0, false],
      [1, true],
      [700, true],
    ] as const) {
      const { clock, limits } = inLine(ms)
      let waited: boolean | undefined
      void sharedOf(limits)
        .wait(widget(), signal)
        .then((took) => (waited = took))
      await clock.advance(ms - 1)
      if (is) expect([ms, waited]).toEqual([ms, undefined])
      await clock.advance(1)
      expect([ms, waited]).toEqual([ms, is])
    }
  })

  it('gives the turn up when the process stops during the wait', async () => {
    const { clock, limits } = inLine(700)
    const stop = new AbortController()
    const waiting = Promise.allSettled([sharedOf(limits).wait(widget(), stop.signal)])
    await clock.advance(100)
    stop.abort()
    expect(await waiting).toMatchObject([{ status: 'rejected', reason: { code: 'UNAVAILABLE' } }])
  })
})
