import { describe, expect, it } from 'vitest'
import { createHotLoops } from '../../../../shared/engine/limits/hot-loops.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'

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
