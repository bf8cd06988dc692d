import { describe, expect, it } from 'vitest'
import { toReleasedState } from '../../../../shared/engine/state/begun-state.ts'
import {
  isMarked,
  recordFinalizer,
  recordKey,
  recordKind,
  withHold,
  withoutMarks,
  ownKey,
  withoutRemoved,
  withRemoved,
  type RemovedRecord,
} from '../../../../shared/engine/state/removed-record.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'

function goneObject(uid: string): ApiObject {
  const metadata = { name: 'n', namespace: 'default', uid, generation: 1, resourceVersion: '1' }
  return { apiVersion: 'a/v1', kind: 'K', metadata, spec: {} } as unknown as ApiObject
}

/** A step has a name: an object is removed, a run begins, or that run ends and has seen all that it began with. */
type RecordStep = readonly ['removed' | 'begins' | 'ends', string]

const facts = { nowMs: 1_000, chance: 0, generation: 1, showsStatus: false } as const

/** What a record still holds, or `undefined` if it went. */
function play(steps: readonly RecordStep[]): readonly string[] | undefined {
  const runs = new Map<string, StoredObject>()
  let live: StoredObject | undefined
  for (const [what, which] of steps) {
    if (what === 'removed') live = withRemoved(live, goneObject(which), 1_000)
    else if (live === undefined) return undefined
    else if (what === 'begins') runs.set(which, (live = withHold(live)))
    else live = toReleasedState(withoutMarks(live, runs.get(which)?.object as ApiObject), recordFinalizer, facts)
    if (live.object.metadata.finalizers === undefined) live = undefined
  }
  return live && (live.object as RemovedRecord).removed.map(({ metadata }) => metadata.uid)
}

describe('the record of removed objects', () => {
  const held: readonly (readonly [string, readonly RecordStep[]])[] = [
    [
      'one that came during a run',
      [
        ['removed', 'x'],
        ['begins', 'A'],
        ['removed', 'y'],
        ['ends', 'A'],
      ],
    ],
    [
      'one that only another run has seen, which has not ended (seed 53040)',
      [
        ['removed', 'x'],
        ['begins', 'A'],
        ['removed', 'y'],
        ['begins', 'B'],
        ['ends', 'A'],
      ],
    ],
    [
      'one that came while two runs were on, when both have ended',
      [
        ['removed', 'x'],
        ['begins', 'A'],
        ['removed', 'y'],
        ['begins', 'B'],
        ['removed', 'z'],
        ['ends', 'A'],
        ['ends', 'B'],
      ],
    ],
    [
      'one that came between two runs, when the earlier one ends last',
      [
        ['removed', 'x'],
        ['begins', 'A'],
        ['removed', 'y'],
        ['ends', 'A'],
        ['begins', 'B'],
        ['removed', 'z'],
        ['ends', 'B'],
        ['ends', 'A'],
      ],
    ],
  ]
  it.each(held)('holds %s', (_what, steps) => {
    expect(play(steps)?.length).toBeGreaterThan(0)
  })

  it('goes when a run has ended that has seen all', () => {
    expect(play([...(held[1]?.[1] ?? []), ['ends', 'B']])).toBeUndefined()
    expect(play([...(held[3]?.[1] ?? []), ['begins', 'C'], ['ends', 'C']])).toBeUndefined()
  })

  it('begins a run without those that the last one had seen off, of which nothing is remembered', () => {
    const steps: readonly RecordStep[] = [...(held[0]?.[1] ?? []), ['begins', 'B']]
    expect(play(steps)).toEqual(['y'])
    const [x, y] = [goneObject('x'), goneObject('y')]
    const { object } = withRemoved(withRemoved(undefined, x, 1_000), y, 2_000)
    const memory = { notes: { x: 1, y: 2 }, expectations: { [ownKey(x, 'Job')]: 5, [ownKey(y, 'Job')]: 6 } }
    const released = toReleasedState({ object, engine: { memory } }, recordFinalizer, facts)
    expect(withHold({ ...released, engine: { memory } }).engine).toEqual({
      memory: { notes: { y: 2 }, expectations: { [ownKey(y, 'Job')]: 6 } },
    })
  })

  it('begins a run with all, where nobody can tell whom a mark is of', () => {
    const { object, engine } = withRemoved(undefined, goneObject('x'), 1_000)
    const finalizers = ['setpoint.dev/removed-meanwhile']
    const begun = withHold({ engine, object: { ...object, metadata: { ...object.metadata, finalizers } } })
    expect((begun.object as RemovedRecord).removed).toEqual([goneObject('x')])
    expect(begun.object.metadata.finalizers).toEqual([recordFinalizer, ...finalizers])
  })

  it('goes with a run that had a mark of before there was one for each object', () => {
    const record = withRemoved(undefined, goneObject('x'), 1_000)
    const finalizers = [recordFinalizer, 'setpoint.dev/removed-meanwhile']
    const metadata = { ...record.object.metadata, finalizers }
    const begun = withHold({ ...record, object: { ...record.object, metadata } })
    const ended = toReleasedState(withoutMarks(begun, begun.object), recordFinalizer, facts)
    expect(ended.object.metadata.finalizers).toBeUndefined()
  })

  it('is run by its own timer after a minute, whatever becomes of its wake-up', () => {
    const one = withRemoved(undefined, goneObject('x'), 1_000)
    expect(one.engine).toEqual({ wakeAtMs: 61_000 })
    expect(withRemoved(one, goneObject('y'), 5_000).engine).toEqual({ wakeAtMs: 61_000 })
    expect(withRemoved({ ...one, engine: {} }, goneObject('y'), 5_000).engine).toEqual({ wakeAtMs: 65_000 })
  })

  it('is an object that is being deleted, under the name that the removed one had', () => {
    const { object } = withRemoved(undefined, goneObject('x'), 1_000)
    const at = '1970-01-01T00:00:01Z'
    expect(object).toMatchObject({
      apiVersion: 'removed.a/v1',
      kind: 'K',
      metadata: { name: 'n', namespace: 'default', uid: 'x', generation: 1, deletionTimestamp: at },
    })
    const { namespace: _, ...metadata } = goneObject('x').metadata
    const clustered = withRemoved(undefined, { ...goneObject('x'), metadata }, 1_000)
    expect('namespace' in clustered.object.metadata).toBe(false)
  })

  it('is of a kind that nobody serves, of the core group, too', () => {
    const name = { kind: 'Pod', name: 'n', namespace: 'default' }
    expect(recordKey({ ...name, group: '' })).toEqual({ ...name, group: 'removed.core' })
    expect(recordKey({ ...name, group: 'a.dev' })).toEqual({ ...name, group: 'removed.a.dev' })
    for (const namespaced of [true, false])
      expect(recordKind({ group: 'a.dev', kind: 'Page', namespaced })).toMatchObject({
        group: 'removed.a.dev',
        plural: 'page',
        namespaced,
        hasStatus: false,
        schema: { 'x-kubernetes-preserve-unknown-fields': true },
      })
  })

  it('lets go of an object that was seen off, unless it is another record by now', () => {
    const [x, y] = [goneObject('x'), goneObject('y')]
    const both = withRemoved(withRemoved(undefined, x, 1_000), y, 2_000)
    const left = withoutRemoved(both, both.object, x)
    expect((left.object as RemovedRecord).removed).toEqual([y])
    expect(left.object.metadata).toBe(both.object.metadata)
    expect(withoutRemoved(left, both.object, x)).toBe(left)
    expect(withoutRemoved(both, goneObject('other'), x)).toBe(both)
  })

  it('forgets the effects and notes of who was seen off, and those of nobody else', () => {
    const [x, y] = [goneObject('x'), goneObject('y')]
    const record = { of: 'digest', state: 'done' } as const
    const once = { [ownKey(x, 'drop')]: record, [ownKey(x, 'tell')]: record, [ownKey(y, 'drop')]: record }
    const { object } = withRemoved(withRemoved(undefined, x, 1_000), y, 2_000)
    const both = { object, engine: { wakeAtMs: 7, memory: { once, notes: { x: 1, y: 1 } } } }
    const { engine } = withoutRemoved(both, object, x)
    expect(engine).toEqual({ wakeAtMs: 7, memory: { once: { [ownKey(y, 'drop')]: record }, notes: { y: 1 } } })
    expect(withoutRemoved({ object, engine }, object, x).engine).toBe(engine)
    expect(withoutRemoved({ object, engine }, object, y).engine).toEqual({ wakeAtMs: 7 })
  })

  it('tells that objects came after the first', () => {
    const one = withRemoved(undefined, goneObject('x'), 1_000)
    expect([one, withRemoved(one, goneObject('y'), 2_000)].map(({ object }) => isMarked(object))).toEqual([false, true])
    expect(isMarked(goneObject('x'))).toBe(false)
  })

  it('is of another generation with each object, and the same if it is told twice', () => {
    const one = withRemoved(undefined, goneObject('x'), 1_000)
    const two = withRemoved(one, goneObject('y'), 2_000)
    expect([one, two].map(({ object }) => object.metadata.generation)).toEqual([1, 2])
    expect(withRemoved(two, goneObject('x'), 3_000)).toBe(two)
    expect(withHold(two)).toBe(two)
    expect(withoutMarks(one, one.object)).toBe(one)
  })
})
