import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { followTail } from '../../../../../shared/adapters/local/sqlite/change-tail.ts'
import type { PublishedChange, SqliteChangeLog } from '../../../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { objectText } from '../../../../../shared/model/object-text.ts'
import { storedWidget, withSpec } from '../../../../support/stored-object.ts'

const wanted = 1
const other = 2

function open() {
  const listeners = new Set<(published: PublishedChange) => void>()
  let latest = 100
  const log = {
    latest: () => latest,
    subscribe: (listener: (published: PublishedChange) => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  } as unknown as SqliteChangeLog
  const tail = followTail(log, (kindId) => kindId === wanted)
  const change = (length: number): PublishedChange['change'] => {
    const stored = length === 0 ? storedWidget('a') : withSpec(storedWidget('a'), { text: 'x'.repeat(length) })
    return { type: 'modified', touched: ['spec'], stored }
  }
  const publish = (count = 1, { kindId = wanted, length = 0 } = {}): void => {
    const one = change(length)
    for (let i = 0; i < count; i++) for (const tell of listeners) tell({ rv: ++latest, kindId, change: one })
  }
  const abort = new AbortController()
  /** What the next batch says, or that there is none yet. */
  const next = async () => {
    const batch = await Promise.race([
      tail.next(abort.signal),
      new Promise<'waits'>((resolve) => setImmediate(() => resolve('waits'))),
    ])
    return typeof batch === 'object' ? `${batch.changes.length} to ${batch.resourceVersion}` : batch
  }
  return { tail, publish, next, abort, listeners }
}

describe('the tail of a log', () => {
  it('is what was committed since, in one batch', async () => {
    const { publish, next } = open()
    publish(3)
    publish(2, { kindId: other })
    expect([await next(), await next()]).toEqual(['3 to 105', 'waits'])
  })

  it('is what is committed next', async () => {
    const { publish, next } = open()
    const waiting = next()
    publish()
    expect(await waiting).toBe('1 to 101')
    expect(await next()).toBe('waits')
  })

  it('says now and then how far it is, though nothing is for it', async () => {
    const { publish, next } = open()
    publish(999, { kindId: other })
    expect(await next()).toBe('waits')
    publish(1, { kindId: other })
    expect([await next(), await next()]).toEqual(['0 to 1100', 'waits'])
    const waiting = next()
    publish(1_000, { kindId: other })
    expect(await waiting).toBe('0 to 2100')
  })

  it.each([
    [1_000, 0, '1000 to 1100'],
    [1_001, 0, undefined],
    [1, 1_200_000, '1 to 101'],
    [2, 400_000, '2 to 102'],
    [2, 600_000, undefined],
  ])('gives up when it holds %d changes of %d letters more: %s', async (count, length, end) => {
    const { publish, next } = open()
    publish(count, { length })
    expect(await next()).toBe(end)
  })

  it.each([
    [0, '2 to 102', '2 to 104'],
    [1, undefined, undefined],
  ])('holds a million characters and no more, in each batch: %d more', async (more, first, second) => {
    const { publish, next } = open()
    const half = 500_000 - objectText(withSpec(storedWidget('a'), { text: '' }).object).length
    const publishBoth = (): void => {
      publish(1, { length: half })
      publish(1, { length: half + more })
    }
    publishBoth()
    expect(await next()).toBe(first)
    publishBoth()
    expect(await next()).toBe(second)
  })

  it('leaves nothing at the signal of its reader', async () => {
    const { publish, next, abort } = open()
    const waiting = next()
    expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1)
    publish()
    await waiting
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
  })

  it('has given up for good, and keeps nothing', async () => {
    const { publish, next } = open()
    publish(1_001)
    publish(1)
    expect([await next(), await next()]).toEqual([undefined, undefined])
  })

  it('counts anew after each batch', async () => {
    const { publish, next } = open()
    for (let i = 0; i < 3; i++) {
      publish(1, { length: 600_000 })
      expect(await next()).toBe(`1 to ${101 + i}`)
    }
    publish(700)
    expect(await next()).toBe('700 to 803')
    publish(700)
    expect(await next()).toBe('700 to 1503')
  })

  it('ends when its reader goes, at once or while it waits', async () => {
    const { tail, publish, next, abort, listeners } = open()
    const waiting = tail.next(abort.signal)
    abort.abort()
    expect(await waiting).toBeUndefined()
    publish()
    expect(await next()).toBeUndefined()
    expect(listeners.size).toBe(1)
    tail.end()
    expect(listeners.size).toBe(0)
  })
})
