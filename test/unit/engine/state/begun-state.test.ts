import { describe, expect, it } from 'vitest'
import { toReleasedState } from '../../../../shared/engine/state/begun-state.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const wait = { kind: 'Requeue', generation: 1, atMs: 5 } as const

describe('toReleasedState', () => {
  const rows: readonly {
    readonly what: string
    readonly before?: string[]
    readonly engine: EngineState
    readonly left?: string[]
    readonly next: EngineState
  }[] = [
    { what: 'the only finalizer', before: ['a/ours'], engine: { wait, wakeAtMs: 7 }, next: {} },
    {
      what: 'one of several, and a wish of another holder',
      before: ['a/ours', 'b/theirs'],
      engine: { wait, wakeAtMs: 7 },
      left: ['b/theirs'],
      next: { wakeAtMs: 7 },
    },
    {
      what: 'one of several, and no wish',
      before: ['b/theirs', 'a/ours'],
      engine: { wait },
      left: ['b/theirs'],
      next: {},
    },
    {
      what: 'none of ours: all stays',
      before: ['b/theirs'],
      engine: { wait, wakeAtMs: 7 },
      left: ['b/theirs'],
      next: { wait, wakeAtMs: 7 },
    },
    { what: 'none at all: all stays', engine: { wait }, next: { wait } },
  ]

  it.each(rows)('$what', ({ before, engine, left, next }) => {
    const { object } = storedWidget('w', before && { finalizers: before })
    const released = toReleasedState({ object, engine }, 'a/ours')
    expect(released.object.metadata.finalizers).toEqual(left)
    expect(released.object.metadata.uid).toBe(object.metadata.uid)
    expect(released.engine).toEqual(next)
  })
})
