import { describe, expect, it } from 'vitest'
import { toReleasedState } from '../../../../shared/engine/state/begun-state.ts'
import type { EngineState } from '../../../../shared/model/engine-state.ts'
import { conditionsOf } from '../../../../shared/model/conditions.ts'
import { toRestedState } from '../../../../shared/engine/state/rested-state.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const wait = { kind: 'Requeue', generation: 1, atMs: 5 } as const
const facts = { nowMs: 9, chance: 0, generation: 1, showsStatus: true } as const

describe('an object of which no run is to come', () => {
  const because = { status: 'True', reason: 'R', message: '', lastTransitionTime: 't' } as const
  const troubled = (...types: readonly string[]): StoredObject => {
    const { object } = storedWidget('w', { finalizers: ['a/ours', 'b/theirs'] })
    const conditions = ['Ready', ...types].map((type) => ({ ...because, type }))
    return { object: { ...object, status: { size: 3, conditions } }, engine: { wait } }
  }
  const saysOf = ({ object }: StoredObject): readonly string[] =>
    conditionsOf(object).map(({ type, status, reason }) => `${type} ${status} ${reason}`)

  it('is stalled, paused and in a hot loop no more, and says that it was cleaned up if it had stalled', () => {
    for (const [types, says] of [
      [[], ['Ready True R']],
      [['Paused', 'HotLoop'], ['Ready True R']],
      [['Stalled', 'Paused'], ['Ready False CleanedUp']],
    ] as const) {
      const released = toReleasedState(troubled(...types), 'a/ours', facts)
      expect([saysOf(released), released.object.status?.['size']]).toEqual([says, 3])
      const rested = toRestedState(troubled(...types), facts)
      expect([saysOf(rested), rested.engine]).toEqual([says, {}])
    }
  })

  it('says so, too, if a clean-up had failed before the one that succeeded', () => {
    const { object } = troubled()
    const failed = { ...because, type: 'Ready', status: 'False', reason: 'NotEmpty' }
    const live = { object: { ...object, status: { conditions: [failed] } }, engine: { wait } }
    expect(saysOf(toReleasedState(live, 'a/ours', facts))).toEqual(['Ready False CleanedUp'])
    // Of what nobody has cleaned up, nobody says that it is clean.
    expect(saysOf(toRestedState(live, facts))).toEqual(['Ready False NotEmpty'])
  })

  it('keeps what a version of the code that comes later may have to clean up by, and no wait', () => {
    const { object } = troubled()
    const lasting = { once: { made: { atMs: 1 } }, notes: { id: 'e-1' }, secretPaths: [['notes', 'id']] }
    const engine = { wait, wakeAtMs: 7, memory: { ...lasting, unended: 2 } } as unknown as EngineState
    expect(toRestedState({ object, engine }, facts).engine).toEqual({ memory: lasting })
    expect(toReleasedState({ object, engine }, 'a/ours', facts).engine).toEqual({ wakeAtMs: 7, memory: lasting })
    const alone = { ...object, metadata: { ...object.metadata, finalizers: ['a/ours'] } }
    expect(toReleasedState({ object: alone, engine }, 'a/ours', facts).engine).toEqual({})
  })

  it('keeps its status where nothing was the matter, and where none is shown', () => {
    const live = troubled('Stalled')
    for (const [one, shows] of [
      [troubled(), true],
      [live, false],
    ] as const)
      expect(toRestedState(one, { ...facts, showsStatus: shows }).object).toBe(one.object)
  })

  it('keeps it, too, when it goes with this finalizer', () => {
    const live = troubled('Stalled')
    const last = { ...live, object: { ...live.object, metadata: { ...live.object.metadata, finalizers: ['a/ours'] } } }
    expect(toReleasedState(last, 'a/ours', facts).object.status).toBe(live.object.status)
  })
})

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
    const released = toReleasedState({ object, engine }, 'a/ours', facts)
    expect(released.object.metadata.finalizers).toEqual(left)
    expect(released.object.metadata.uid).toBe(object.metadata.uid)
    expect(released.engine).toEqual(next)
  })
})
