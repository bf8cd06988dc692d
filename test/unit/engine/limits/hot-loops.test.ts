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
