import { describe, expect, it } from 'vitest'
import { mergeWakeUps } from '../../../../../shared/adapters/local/queue/merge-wake-ups.ts'
import type { WakeUp } from '../../../../../shared/ports/work-queue.ts'

const key = { group: '', kind: 'K', namespace: '', name: 'n' }
const wakeUp = (more: Partial<WakeUp>): WakeUp => ({
  key,
  origin: 'change',
  dedupId: 'id',
  lane: 'background',
  reason: 'r',
  ...more,
})

describe('merging two wake-ups of a key', () => {
  const rows = [
    { a: { lane: 'urgent' }, b: {}, merged: { lane: 'urgent' }, because: 'the first is urgent' },
    { a: {}, b: { lane: 'urgent' }, merged: { lane: 'urgent' }, because: 'the second is urgent' },
    { a: {}, b: {}, merged: { lane: 'background' }, because: 'neither is urgent' },
    { a: { origin: 'timer' }, b: { origin: 'resync' }, merged: { origin: 'resync' }, because: 'a timer is a hint' },
    { a: { origin: 'resync' }, b: { origin: 'timer' }, merged: { origin: 'resync' }, because: 'a timer is a hint' },
    { a: { origin: 'resync' }, b: {}, merged: { origin: 'change' }, because: 'a change runs in any case' },
    { a: {}, b: { origin: 'timer' }, merged: { origin: 'change' }, because: 'a change runs in any case' },
    {
      a: { resourceVersion: '9' },
      b: { resourceVersion: '10' },
      merged: { resourceVersion: '10' },
      because: 'versions are numbers',
    },
    {
      a: { resourceVersion: '10' },
      b: { resourceVersion: '9' },
      merged: { resourceVersion: '10' },
      because: 'the higher one counts',
    },
    { a: { resourceVersion: '9' }, b: {}, merged: { resourceVersion: '9' }, because: 'a timer has no version' },
    {
      a: { notBeforeMs: 5 },
      b: { notBeforeMs: 3 },
      merged: { notBeforeMs: 3 },
      because: 'the earlier time serves both',
    },
    { a: { reason: 'x' }, b: { reason: 'y' }, merged: { reason: 'x; y' }, because: 'both are told' },
    { a: { reason: 'x; y' }, b: { reason: 'y' }, merged: { reason: 'x; y' }, because: 'it is told already' },
    {
      a: { reason: 'x'.repeat(200) },
      b: { reason: 'y'.repeat(200) },
      merged: { reason: 'x'.repeat(200) },
      because: 'people read the first',
    },
    {
      a: { reason: 'x'.repeat(200) },
      b: { reason: 'y'.repeat(100) },
      merged: { reason: `${'x'.repeat(200)}; ${'y'.repeat(100)}` },
      because: 'three hundred letters are few enough',
    },
    {
      a: { reason: 'x'.repeat(200) },
      b: { reason: 'y'.repeat(101) },
      merged: { reason: 'x'.repeat(200) },
      because: 'one letter more is too many',
    },
  ] as const
  it.each(rows)('gives $merged: $because', ({ a, b, merged }) => {
    expect(mergeWakeUps(wakeUp(a), wakeUp(b))).toMatchObject(merged)
  })

  it('has no time if one of them has none', () => {
    expect(mergeWakeUps(wakeUp({ notBeforeMs: 5 }), wakeUp({}))).not.toHaveProperty('notBeforeMs')
    expect(mergeWakeUps(wakeUp({}), wakeUp({ notBeforeMs: 5 }))).not.toHaveProperty('notBeforeMs')
  })

  it('has the earlier of two timers, and says nothing of what neither has', () => {
    expect(mergeWakeUps(wakeUp({ timerAtMs: 5 }), wakeUp({ timerAtMs: 3 })).timerAtMs).toBe(3)
    expect(Object.keys(mergeWakeUps(wakeUp({ timerAtMs: 5 }), wakeUp({}))).toSorted()).toEqual([
      'dedupId',
      'key',
      'lane',
      'origin',
      'reason',
    ])
  })
})
