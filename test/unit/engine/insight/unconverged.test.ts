import { describe, expect, it } from 'vitest'
import { createUnconverged } from '../../../../shared/engine/insight/unconverged.ts'

describe('the oldest change that is not observed', () => {
  it('is none at first, and none again once all are', () => {
    const changes = createUnconverged()
    expect(changes.oldestMs(1_000)).toBe(0)
    changes.note('a', { sinceMs: 0, untilMs: 10_000 })
    expect(changes.oldestMs(1_000)).toBe(1_000)
    changes.noteObserved('a')
    expect(changes.oldestMs(1_000)).toBe(0)
  })

  it('is the oldest, whoever was met last', () => {
    const changes = createUnconverged()
    changes.note('young', { sinceMs: 800, untilMs: 10_000 })
    changes.note('old', { sinceMs: 300, untilMs: 10_000 })
    expect(changes.oldestMs(1_000)).toBe(700)
  })

  it('is forgotten when its object gives no sign of life, but not while it was told to wait', () => {
    const changes = createUnconverged()
    changes.note('gone', { sinceMs: 0, untilMs: 500 })
    changes.note('waiting', { sinceMs: 100, untilMs: 500 })
    changes.waits('waiting', 5_000)
    expect(changes.oldestMs(1_000)).toBe(900)
    expect(changes.oldestMs(6_000)).toBe(0)
  })

  it('is of those that were met since others may have observed them', () => {
    const changes = createUnconverged()
    changes.note('a', { sinceMs: 0, untilMs: 10_000 })
    changes.forget()
    expect(changes.oldestMs(1_000)).toBe(0)
    changes.note('b', { sinceMs: 400, untilMs: 10_000 })
    expect(changes.oldestMs(1_000)).toBe(600)
  })

  it('takes memory for ten thousand objects at most, those that were first', () => {
    const changes = createUnconverged()
    for (let i = 0; i < 10_000; i++) changes.note(`uid-${i}`, { sinceMs: 500, untilMs: 10_000 })
    changes.note('one-too-many', { sinceMs: 0, untilMs: 10_000 })
    expect(changes.oldestMs(1_000)).toBe(500)
  })

  it('of an object that is known is noted anew however many there are', () => {
    const changes = createUnconverged()
    for (let i = 0; i < 10_000; i++) changes.note(`uid-${i}`, { sinceMs: 500, untilMs: 1_000 })
    changes.note('uid-7', { sinceMs: 400, untilMs: 9_000 })
    expect(changes.oldestMs(1_000)).toBe(600)
    expect(changes.oldestMs(1_001)).toBe(601)
    expect(changes.oldestMs(9_001)).toBe(0)
  })

  it('takes ten thousand', () => {
    const changes = createUnconverged()
    for (let i = 0; i < 9_999; i++) changes.note(`uid-${i}`, { sinceMs: 500, untilMs: 10_000 })
    changes.note('the-last', { sinceMs: 0, untilMs: 10_000 })
    expect(changes.oldestMs(1_000)).toBe(1_000)
  })

  it('is not made by a wait of an object that is not known, and keeps the longer of two waits', () => {
    const changes = createUnconverged()
    changes.waits('nobody', 5_000)
    expect(changes.oldestMs(1_000)).toBe(0)
    changes.note('a', { sinceMs: 0, untilMs: 8_000 })
    changes.waits('a', 2_000)
    expect(changes.oldestMs(8_000)).toBe(8_000)
  })

  it('takes others in the place of those that are forgotten', () => {
    const changes = createUnconverged()
    for (let i = 0; i < 10_000; i++) changes.note(`uid-${i}`, { sinceMs: 0, untilMs: 500 })
    expect(changes.oldestMs(1_000)).toBe(0)
    changes.note('new', { sinceMs: 900, untilMs: 10_000 })
    expect(changes.oldestMs(1_000)).toBe(100)
  })
})
