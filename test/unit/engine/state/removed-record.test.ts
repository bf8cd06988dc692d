import { describe, expect, it } from 'vitest'
import { toReleasedState } from '../../../../shared/engine/state/begun-state.ts'
import {
  recordFinalizer,
  withHold,
  withoutMarks,
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

/** What a record still holds, or `undefined` if it went. */
function play(steps: readonly RecordStep[]): readonly string[] | undefined {
  const runs = new Map<string, StoredObject>()
  let live: StoredObject | undefined
  for (const [what, which] of steps) {
    if (what === 'removed') live = withRemoved(live, goneObject(which), 1_000)
    else if (live === undefined) return undefined
    else if (what === 'begins') runs.set(which, (live = withHold(live)))
    else live = toReleasedState(withoutMarks(live, runs.get(which)?.object as ApiObject), recordFinalizer)
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

  it('goes with a run that had a mark of before there was one for each object', () => {
    const record = withRemoved(undefined, goneObject('x'), 1_000)
    const finalizers = [recordFinalizer, 'setpoint.dev/removed-meanwhile']
    const metadata = { ...record.object.metadata, finalizers }
    const begun = withHold({ ...record, object: { ...record.object, metadata } })
    const ended = toReleasedState(withoutMarks(begun, begun.object), recordFinalizer)
    expect(ended.object.metadata.finalizers).toBeUndefined()
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
