import { describe, expect, it } from 'vitest'
import {
  createRecentRows,
  type CommittedRow,
  type RecentRows,
  type RowPlace,
} from '../../../../../shared/adapters/local/sqlite/recent-rows.ts'
import { storedWidget } from '../../../../support/stored-object.ts'

function placeOf(name: string): RowPlace {
  return { kindId: 1, key: { group: 'test.setpoint.dev', kind: 'Widget', namespace: 'default', name } }
}

function rowOf(rv: number, characters = 10): CommittedRow {
  return { id: 1, uid: 'u', rv, owners: null, stored: storedWidget('w'), length: characters }
}

describe('recent rows', () => {
  it('gives back what was noted last, each by its own place', () => {
    const rows = createRecentRows()
    rows.note(placeOf('a'), rowOf(1))
    rows.note(placeOf('b'), rowOf(2))
    rows.note(placeOf('a'), rowOf(3))
    expect([rows.find(placeOf('a'))?.rv, rows.find(placeOf('b'))?.rv, rows.find(placeOf('c'))]).toEqual([
      3,
      2,
      undefined,
    ])
  })

  it('forgets a row at once, however long ago it was noted', () => {
    const rows = createRecentRows()
    rows.note(placeOf('a'), rowOf(1))
    rows.note(placeOf('big'), rowOf(2, 5_000_000))
    rows.forget(placeOf('a'))
    expect(rows.find(placeOf('a'))).toBeUndefined()
  })

  it('holds eight million characters and one document at most, and keeps what is looked for', () => {
    const rows = createRecentRows()
    rows.note(placeOf('wanted'), rowOf(1, 100_000))
    for (let rv = 2; rv < 500; rv++) {
      rows.note(placeOf(`filler-${rv}`), rowOf(rv, 100_000))
      expect(rows.find(placeOf('wanted'))?.rv).toBe(1)
    }
    const held = Array.from({ length: 500 }, (_, rv) => rows.find(placeOf(`filler-${rv}`))).filter(Boolean)
    expect(held.length).toBeLessThanOrEqual(81)
  })

  it('counts a row that is written again and again once', () => {
    const rows = createRecentRows()
    rows.note(placeOf('quiet'), rowOf(1))
    for (let rv = 2; rv < 1_000; rv++) rows.note(placeOf('busy'), rowOf(rv, 100_000))
    expect(rows.find(placeOf('quiet'))?.rv).toBe(1)
  })

  it('takes four million characters for one generation, and not one more', () => {
    const rows = createRecentRows()
    for (const [name, characters] of [
      ['a', 4_000_000],
      ['b', 1],
      ['c', 3_999_999],
      ['d', 1],
    ] as const)
      rows.note(placeOf(name), rowOf(1, characters))
    expect(rows.find(placeOf('a'))?.rv).toBe(1)
  })

  it.each(['nothing', 'what was never noted'])('counts each character, once it has forgotten %s', (what) => {
    const rows = createRecentRows()
    if (what !== 'nothing') rows.forget(placeOf('never noted'))
    for (const name of ['a', 'b']) rows.note(placeOf(name), rowOf(1, 4_000_001))
    expect([rows.find(placeOf('a')), rows.find(placeOf('b'))?.rv]).toEqual([undefined, 1])
  })

  it.each([
    ['forgotten', (rows: RecentRows) => rows.forget(placeOf('x'))],
    ['noted again', () => {}],
  ])('does not count what was %s', (_what, act) => {
    const rows = createRecentRows()
    rows.note(placeOf('a'), rowOf(1))
    for (let i = 0; i < 6; i++) {
      rows.note(placeOf('x'), rowOf(2, 3_900_000))
      act(rows)
      rows.forget(placeOf('never noted'))
    }
    expect(rows.find(placeOf('a'))?.rv).toBe(1)
  })
})
