import { describe, expect, it } from 'vitest'
import {
  beginTrial,
  decideCanary,
  isInShare,
  type TrialProgress,
  type TrialLook,
} from '../../../../shared/reconciler/canary/decide-canary.ts'

const spec = { version: 'v2', shares: [10, 50], hold: '10m', grace: '2m', tolerance: 0 }
const minute = 60_000
const first = beginTrial(spec, 0)
const second: TrialProgress = { ...first, share: 50, shareSinceMs: 10 * minute }

function seen(
  [objects, ran, unready]: readonly [number, number, number],
  others: readonly [number, number],
  /** Of both: those that are unready for a shorter time, too. */
  now: readonly [number, number] = [unready, others[1]],
): TrialLook {
  return {
    trial: { objects, ran, unready },
    others: { objects: others[0], unready: others[1] },
    unreadyNow: { trial: now[0], others: now[1] },
  }
}

describe('a trial', () => {
  it('begins with the first share', () => {
    expect(first).toEqual({ phase: 'Trial', share: 10, startedAtMs: 0, shareSinceMs: 0, why: '' })
  })

  it.each([
    ['waits for objects that have not run', spec, first, seen([5, 4, 0], [45, 0]), 60, 'Trial', 10],
    ['waits for the hold to be over', spec, first, seen([5, 5, 0], [45, 0]), 9, 'Trial', 10],
    ['goes on to the next share', spec, first, seen([5, 5, 0], [45, 0]), 10, 'Trial', 50],
    ['goes on although no object is in the share', spec, first, seen([0, 0, 0], [3, 0]), 10, 'Trial', 50],
    ['is promoted after the last share', spec, second, seen([25, 25, 0], [25, 0]), 20, 'Promoted', 100],
    [
      'is promoted after the last share, though there are no objects',
      spec,
      second,
      seen([0, 0, 0], [0, 0]),
      20,
      'Promoted',
      100,
    ],
    ['is not promoted before any object has run it', spec, second, seen([0, 0, 0], [3, 0]), 60, 'Trial', 50],
    ['holds each share anew', spec, second, seen([25, 25, 0], [25, 0]), 19, 'Trial', 50],
    ['goes back at once when it does worse', spec, first, seen([5, 3, 1], [45, 0]), 1, 'RolledBack', 0],
    ['goes on when the others do as badly', spec, first, seen([10, 10, 1], [90, 9]), 10, 'Trial', 50],
    ['goes back when a few more are unready', spec, first, seen([10, 10, 2], [90, 9]), 10, 'RolledBack', 0],
    ['goes back when there are no others', spec, first, seen([100, 99, 1], [0, 0]), 1, 'RolledBack', 0],
    ['goes back when the only one is unready', spec, first, seen([1, 1, 1], [10, 0]), 1, 'RolledBack', 0],
    ['goes on when the only other one is as bad', spec, first, seen([2, 2, 2], [1, 1]), 10, 'Trial', 50],
    ['waits for what is not ready yet', spec, first, seen([5, 5, 0], [45, 0], [1, 0]), 60, 'Trial', 10],
    ['waits for it at the last share, too', spec, second, seen([25, 25, 0], [25, 0], [1, 0]), 60, 'Trial', 50],
    ['goes on when the others are as unready now', spec, first, seen([10, 10, 0], [90, 0], [1, 9]), 10, 'Trial', 50],
    ['is not rolled back for what is not ready yet', spec, first, seen([5, 5, 0], [45, 0], [5, 0]), 1, 'Trial', 10],
    [
      'tolerates a few that are not ready yet',
      { ...spec, tolerance: 10 },
      first,
      seen([10, 10, 0], [90, 0], [1, 0]),
      10,
      'Trial',
      50,
    ],
    ['tolerates a few more', { ...spec, tolerance: 10 }, first, seen([10, 10, 2], [90, 9]), 10, 'Trial', 50],
    [
      'is promoted by a person',
      { ...spec, decision: 'Promote' as const },
      first,
      seen([5, 5, 5], [1, 0]),
      0,
      'Promoted',
      100,
    ],
    [
      'is rolled back by a person',
      { ...spec, decision: 'RollBack' as const },
      first,
      seen([5, 5, 0], [1, 0]),
      0,
      'RolledBack',
      0,
    ],
    [
      'stays rolled back',
      spec,
      { ...first, phase: 'RolledBack' as const, share: 0 },
      seen([0, 0, 0], [9, 0]),
      99,
      'RolledBack',
      0,
    ],
    [
      'stays promoted',
      spec,
      { ...first, phase: 'Promoted' as const, share: 100 },
      seen([9, 9, 9], [0, 0]),
      99,
      'Promoted',
      100,
    ],
  ] as const)('%s', (...[, of, progress, looks, minutes, phase, share]) => {
    expect(decideCanary(of, progress, looks, minutes * minute).progress).toMatchObject({ phase, share })
  })
})

describe('the share of an object', () => {
  const uids = Array.from({ length: 10_000 }, (_, i) => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`)

  it.each([1, 10, 50, 99])('of %s in a hundred is about that many, though their ids are alike', (share) => {
    const inside = uids.filter((uid) => isInShare(uid, share)).length / 100
    expect(Math.abs(inside - share)).toBeLessThan(2)
  })

  it.each([
    ['uid-0', 44],
    ['uid-1', 31],
    ['5f0c4a1e-7c1d-4b8e-9a55-0d3f4f1f7a10', 60],
    ['', 67],
  ])('of the id %j begins at %s in a hundred, in every version of this program', (uid, from) => {
    expect(Array.from({ length: 101 }, (_, share) => share).find((share) => isInShare(uid, share))).toBe(from)
  })

  it('is kept when shares grow; none of nothing, all of a hundred', () => {
    for (const uid of uids.slice(0, 1_000)) {
      if (isInShare(uid, 10)) expect(isInShare(uid, 50)).toBe(true)
      expect(isInShare(uid, 0)).toBe(false)
      expect(isInShare(uid, 100)).toBe(true)
    }
  })
})
