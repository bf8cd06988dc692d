import { describe, expect, it } from 'vitest'
import { toRefusedState } from '../../../../shared/engine/state/refused-state.ts'
import { writeOf } from '../../../../shared/engine/state/writes.ts'
import { conditionOf } from '../../../../shared/model/conditions.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'

const nowMs = 5_000_000
const facts = { nowMs, chance: 0, generation: 2, showsStatus: true }
const message = 'spec.heading: Required value'

function objectWith(engine: EngineState, metadata: object = {}): StoredObject {
  const object = {
    apiVersion: 'a/v1',
    kind: 'K',
    metadata: { name: 'n', uid: 'u', generation: 2, ...metadata },
    spec: {},
  }
  return { object, engine } as unknown as StoredObject
}

describe('toRefusedState', () => {
  const next = toRefusedState(
    objectWith({ change: { verb: 'changed', atMs: 1, by: 'me' }, wakeAtMs: 3 }),
    message,
    facts,
  )

  it('says SpecInvalid with the path, and that its generation is given up', () => {
    expect(conditionOf(next.object, 'Ready')).toMatchObject({ status: 'False', reason: 'SpecInvalid', message })
    expect(conditionOf(next.object, 'Stalled')).toMatchObject({ status: 'True', reason: 'SpecInvalid', message })
    expect(next.object.status).toMatchObject({ observedGeneration: 2 })
  })

  it('has a timer of about a quarter of an hour, and no other trace', () => {
    const wait = { kind: 'Stopped', generation: 2, failure: { attempt: 0, error: message } }
    expect(next.engine).toEqual({ wait: { ...wait, atMs: nowMs + 500_000 } })
    expect(toRefusedState(objectWith({}), message, { ...facts, chance: 0.999 }).engine.wait?.atMs).toBeGreaterThan(
      nowMs + 990_000,
    )
  })

  it('costs no write while its wait runs, and moves its timer when that is over', () => {
    const later = { ...facts, nowMs: nowMs + 1_000, chance: 0.5 }
    expect(writeOf(next, toRefusedState(next, message, later))).toEqual({ kind: 'none' })
    const over = { ...facts, nowMs: nowMs + 500_000 }
    expect(writeOf(next, toRefusedState(next, message, over))).toEqual({ kind: 'replace', touched: ['engine'] })
  })

  it('keeps no time that a clock that was ahead has set', () => {
    const early = { ...facts, nowMs: nowMs - 3_600_000 }
    expect(toRefusedState(next, message, early).engine.wait?.atMs).toBe(early.nowMs + 500_000)
  })

  it('says another fault at once', () => {
    const other = toRefusedState(next, 'spec.size: Too many', facts)
    expect(conditionOf(other.object, 'Ready')).toMatchObject({ message: 'spec.size: Too many' })
  })

  it('keeps what runs leave to later runs, and forgets what belongs to runs that did not end', () => {
    const memory = {
      once: { a: { of: 'x', state: 'done' } },
      notes: { n: 1 },
      expectations: { e: 9 },
      window: { startMs: 0, runs: 1 },
      reservedMs: 5,
      unended: 5,
    } as const
    const { reservedMs: _, unended: __, ...left } = memory
    expect(toRefusedState(objectWith({ memory }), message, facts).engine.memory).toEqual(left)
  })

  it('has no say over a newer generation that was run meanwhile', () => {
    for (const wait of [
      { kind: 'Requeue', generation: 3, atMs: nowMs },
      { kind: 'Stopped', generation: 3, failure: { attempt: 0, error: 'taken' } },
    ] as const) {
      const live = objectWith({ wait }, { generation: 3 })
      expect(toRefusedState(live, message, facts)).toBe(live)
    }
  })
})
