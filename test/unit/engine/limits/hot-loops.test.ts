import { describe, expect, it } from 'vitest'
import { createHotLoops } from '../../../../shared/engine/limits/hot-loops.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import type { Origin, WakeUp } from '../../../../shared/ports/work-queue.ts'

/** What no clock of a test environment does: go back. */
const stored: StoredObject = {
  object: {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w', namespace: 'n', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '' },
  },
  engine: {},
}

function runsAt(loops: ReturnType<typeof createHotLoops>, nowMs: number): boolean {
  if (loops.findBlock(stored, [], nowMs) !== undefined) return false
  loops.ran(stored.object, { againMs: 0, after: () => stored.object }, nowMs)
  return true
}

describe('a loop that is open when the clock is put back', () => {
  it('is looked at again half a minute later, not when it is as late as it was', () => {
    const loops = createHotLoops('widgets')
    const laterMs = 3_600_000
    for (let i = 0; i < 100; i++) expect(runsAt(loops, laterMs)).toBe(true)
    expect(runsAt(loops, laterMs)).toBe(false)
    expect(runsAt(loops, 0)).toBe(false)
    expect(runsAt(loops, 30_000)).toBe(true)
  })
})

describe('what a loop says', () => {
  /** What it is said to be for, whose status is this before each run. */
  const told = (statusOf: (run: number) => NonNullable<StoredObject['object']['status']>) => {
    const loops = createHotLoops('widgets')
    const at = (run: number): StoredObject => ({ ...stored, object: { ...stored.object, status: statusOf(run) } })
    for (let run = 0; ; run++) {
      const block = loops.findBlock(at(run), [], 0)
      if (block !== undefined) return block
      loops.ran(at(run).object, { againMs: 0, after: () => at(run + 1).object }, 0)
    }
  }

  it.each([
    ['the field that changes most often', (run: number) => ({ a: Math.min(run, 60), b: run, c: 1 }), 'status.b'],
    [
      'and not one that changed with the last runs only',
      (run: number) => ({ a: Math.max(run, 98), b: run }),
      'status.b',
    ],
  ])('names %s', (_what, statusOf, field) => {
    expect(told(statusOf)).toMatchObject({
      reason: 'StatusNeverSettles',
      message: `it ran 100 times without a pause; ${field} changed with every run`,
    })
  })

  it('names who wakes it where nothing changes', () => {
    expect(told(() => ({ a: 1 }))).toMatchObject({ reason: 'RunsWithoutEnd', untilMs: 30_000 })
  })
})

describe('a loop of a kind whose changes nobody notes', () => {
  const nowMs = Date.parse('2026-01-01T00:01:00Z')
  const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`
  const by = (manager: string, second: number, subresource?: string) => ({
    manager,
    operation: 'Update' as const,
    apiVersion: 'v1',
    fieldsType: 'FieldsV1' as const,
    fieldsV1: {},
    time: at(second),
    ...(subresource !== undefined && { subresource }),
  })
  const deletionTimestamp = at(59)

  it.each([
    ['nobody is said to have written', {}, true],
    ['the controller wrote last', { managedFields: [by('else', 50), by('widgets', 59)] }, false],
    ['the controller wrote last, and is named first', { managedFields: [by('widgets', 59), by('else', 50)] }, false],
    ['somebody else wrote last', { managedFields: [by('widgets', 50), by('else', 59)] }, true],
    ['both wrote in the last second', { managedFields: [by('widgets', 59), by('else', 59)] }, true],
    ['somebody else wrote its status', { managedFields: [by('widgets', 59), by('else', 59, 'status')] }, false],
    ['the controller wrote five seconds ago', { managedFields: [by('widgets', 55)] }, false],
    ['the controller wrote longer ago: others only took away', { managedFields: [by('widgets', 54)] }, true],
    ['it is being deleted', { managedFields: [by('widgets', 59)], deletionTimestamp }, true],
  ])('whose generation is new, is over where %s: %j → %j', (_what, metadata, isOver) => {
    const loops = createHotLoops('widgets')
    while (loops.findBlock(stored, [], nowMs) === undefined)
      loops.ran(stored.object, { againMs: 0, after: () => stored.object }, nowMs)
    const object = { ...stored.object, metadata: { ...stored.object.metadata, generation: 2, ...metadata } }
    expect(loops.findBlock({ object, engine: {} }, [], nowMs) === undefined).toBe(isOver)
  })
})

function other(i: number): StoredObject {
  const { object } = stored
  return { ...stored, object: { ...object, metadata: { ...object.metadata, uid: `other-${i}` } } }
}

describe('the memory of runs', () => {
  it('holds 40,000 objects at most, however many run', () => {
    const loops = createHotLoops('widgets')
    for (let i = 0; i < 100; i++) expect(runsAt(loops, 0)).toBe(true)
    for (let i = 0; i < 40_000; i++) loops.findBlock(other(i), [], 0)
    expect(runsAt(loops, 0)).toBe(true)
  })

  it('keeps those that run, whatever else runs between', () => {
    const loops = createHotLoops('widgets')
    for (let i = 0; i < 100; i++) {
      expect(runsAt(loops, 0)).toBe(true)
      for (let j = 0; j < 1_000; j++) loops.findBlock(other(i * 1_000 + j), [], 0)
    }
    expect(runsAt(loops, 0)).toBe(false)
  })
})

/** A loop of one object, driven by hand. */
function loopOf(controller = 'widgets') {
  const loops = createHotLoops(controller)
  const at = (engine: EngineState, generation: number): StoredObject => {
    const { object } = stored
    return { engine, object: { ...object, metadata: { ...object.metadata, generation } } }
  }
  /** Whether the object runs, and when it wants the next run then. */
  const runs = (
    nowMs: number,
    {
      engine = {},
      generation = 1,
      againMs,
      origin = 'timer',
    }: {
      readonly engine?: EngineState
      readonly generation?: number
      readonly againMs?: number
      readonly origin?: Origin
    } = {},
  ): boolean => {
    const wakeUps = [
      { origin, reason: 'somebody' },
      { origin, reason: 'somebody else' },
    ] as unknown as readonly WakeUp[]
    const one = at(engine, generation)
    if (loops.findBlock(one, wakeUps, nowMs) !== undefined) return false
    loops.ran(one.object, { againMs, after: () => one.object }, nowMs)
    return true
  }
  /** As many as there are at once. */
  const exhaust = (nowMs: number): number => {
    let count = 0
    while (runs(nowMs, { againMs: 0 })) count++
    return count
  }
  return { loops, runs, exhaust, probeAtMs: () => loops.probeAtMs(stored.object) }
}

describe('a loop', () => {
  it('is open after a hundred runs at once, and after one a second from there on', () => {
    const { runs, exhaust } = loopOf()
    expect(exhaust(0)).toBe(100)
    const { runs: gently } = loopOf()
    for (let i = 0; i < 100; i++) gently(0)
    expect([gently(1_000), gently(2_000), gently(2_000)]).toEqual([true, true, false])
    expect([runs(1_000), runs(29_999), runs(30_000)]).toEqual([false, false, true])
  })

  it('says when its next probe is due while it is open, and nothing before and after', () => {
    const { runs, exhaust, probeAtMs } = loopOf()
    expect(probeAtMs()).toBeUndefined()
    runs(0)
    expect(probeAtMs()).toBeUndefined()
    exhaust(5)
    expect(probeAtMs()).toBe(30_005)
    expect(runs(30_005)).toBe(true)
    // The run that was blocked had wanted to run: that was no quiet half minute.
    expect(probeAtMs()).toBe(60_005)
    expect(runs(60_005)).toBe(true)
    expect(probeAtMs()).toBeUndefined()
  })

  it.each([
    { what: 'nothing but the probe wanted to run', is: true },
    { what: 'the probe wants another run only after its time', againMs: 30_000, is: true },
    { what: 'the probe wants another run at once', againMs: 29_999, is: false },
    { what: 'a change woke it', origin: 'change' as const, is: false },
    { what: 'something wanted to run between', wantedMs: 45_000, is: false },
  ])('that is open is over where $what: $is', ({ againMs, origin, wantedMs, is }) => {
    const { runs, exhaust, probeAtMs } = loopOf()
    exhaust(0)
    runs(30_000, againMs === undefined ? {} : { againMs })
    if (wantedMs !== undefined) expect(runs(wantedMs)).toBe(false)
    expect(runs(60_000, origin ? { origin } : {})).toBe(true)
    expect(probeAtMs() === undefined).toBe(is)
    expect(runs(60_001)).toBe(is)
  })

  const changeBy = (by: string): EngineState => ({ change: { verb: 'changed', atMs: 1, by } })
  it.each([
    ['a user', 'kubectl-edit', true],
    ['the controller itself', 'widgets', false],
  ])('runs at once with a generation that %s made: %j', (_who, by, is) => {
    const { runs, exhaust, probeAtMs } = loopOf('widgets')
    exhaust(0)
    expect(runs(1, { generation: 2, engine: changeBy(by) })).toBe(is)
    expect(probeAtMs() === undefined).toBe(is)
    expect(runs(2, { generation: 2, engine: changeBy(by) })).toBe(false)
  })

  const openUntil = (atMs: number): EngineState => ({ wait: { kind: 'HotLoop', generation: 1, atMs } })
  it('that another process opened goes on here with its probes', () => {
    const { runs, probeAtMs } = loopOf()
    const engine = openUntil(70_000)
    expect([runs(50_000, { engine }), runs(69_999, { engine })]).toEqual([false, false])
    expect(probeAtMs()).toBe(70_000)
    expect(runs(70_000, { engine, againMs: 0 })).toBe(true)
    expect(runs(71_000, { engine })).toBe(false)
    expect(probeAtMs()).toBe(100_000)
  })

  it('that another process opened is not over with its first probe, and does not open again once it is over', () => {
    const { runs, probeAtMs } = loopOf()
    expect(runs(70_000, { engine: openUntil(70_000) })).toBe(true)
    expect(probeAtMs()).toBe(100_000)
    expect(runs(100_000, { engine: openUntil(100_000) })).toBe(true)
    expect(probeAtMs()).toBeUndefined()
  })

  it('that another process opened long ago has a probe now, and one in half a minute', () => {
    const { runs, probeAtMs } = loopOf()
    expect(runs(500_000, { engine: openUntil(70_000) })).toBe(true)
    expect(probeAtMs()).toBe(530_000)
  })

  it('that another process opened is over by what a user has changed since', () => {
    expect(loopOf().runs(1, { engine: openUntil(70_000), generation: 2 })).toBe(true)
  })

  it('knows nothing of an object that never was about to run', () => {
    const { loops } = loopOf()
    loops.ran(stored.object, { againMs: 0, after: () => stored.object }, 0)
    expect(loops.probeAtMs(stored.object)).toBeUndefined()
  })

  it('is forgotten by the time at which it would have gone again, and not before', () => {
    const { loops, exhaust, probeAtMs } = loopOf()
    exhaust(120_000)
    loops.findBlock(other(1), [], 130_000)
    loops.findBlock(other(2), [], 239_999)
    expect(probeAtMs()).toBe(150_000)
    loops.findBlock(other(3), [], 240_000)
    loops.findBlock(other(4), [], 359_999)
    expect(probeAtMs()).toBe(150_000)
    loops.findBlock(other(5), [], 360_000)
    expect(probeAtMs()).toBeUndefined()
  })
})

describe('who is said to wake a loop', () => {
  const message = (engine: EngineState, wakeUps: readonly string[]) => {
    const { loops, exhaust } = loopOf()
    exhaust(0)
    const some = wakeUps.map((reason) => ({ origin: 'change', reason })) as unknown as readonly WakeUp[]
    return loops.findBlock({ ...stored, engine }, some, 0)?.message
  }
  it.each([
    ['the first of several', {}, ['child a', 'child b'], 'child a'],
    ['nobody', {}, [], ''],
    [
      'its own request',
      { wait: { kind: 'Requeue', generation: 1, atMs: 0 } } as const,
      ['timer'],
      'its own request to run again',
    ],
    ['not what else it waits for', { wait: { kind: 'Resync', generation: 1, atMs: 0 } } as const, ['timer'], 'timer'],
  ])('%s', (_who, engine, wakeUps, by) => {
    expect(message(engine, wakeUps)).toBe(`it ran 100 times without a pause; woken by: ${by}`)
  })
})

describe('a loop that a process before this one has reported', () => {
  const told = { type: 'HotLoop', reason: 'StatusNeverSettles', message: 'm', lastTransitionTime: 't' }
  it.each([
    ['True', 'StatusNeverSettles'],
    ['False', 'RunsWithoutEnd'],
  ])('HotLoop=%s: %s', (status, reason) => {
    const { loops, exhaust } = loopOf()
    exhaust(0)
    const object = { ...stored.object, status: { conditions: [{ ...told, status }] } }
    expect(loops.findBlock({ ...stored, object }, [], 0)?.reason).toBe(reason)
  })
})

describe('which runs of a loop are looked at', () => {
  /** What is said where this one run alone changes the status. */
  const reasonBy = (changing: number) => {
    const loops = createHotLoops('widgets')
    for (let run = 1; ; run++) {
      const block = loops.findBlock(stored, [], 0)
      if (block !== undefined) return block.reason
      const after = run === changing ? { ...stored.object, status: { a: 1 } } : stored.object
      loops.ran(stored.object, { againMs: 0, after: () => after }, 0)
    }
  }
  it('those from the fiftieth in a row', () => {
    expect([1, 49, 50, 100].map(reasonBy)).toEqual([
      'RunsWithoutEnd',
      'RunsWithoutEnd',
      'StatusNeverSettles',
      'StatusNeverSettles',
    ])
  })
})
