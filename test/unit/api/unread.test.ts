import { describe, expect, it } from 'vitest'
import type { Text } from '../../../shared/api/watch/text-pieces.ts'
import { createUnread, type Reader } from '../../../shared/api/watch/unread.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

const textOf = (...lengths: readonly number[]): Text => lengths.map((length) => new Uint8Array(length))

function open(most = 100) {
  const clock = createVirtualClock(1_000)
  const unread = createUnread(clock, most)
  const cut: string[] = []
  const readerOf = (name: string, isTaken = false): Reader & { wroteAtMs: number; isTaken: boolean } => ({
    wroteAtMs: clock.nowMs(),
    isTaken,
    cut: () => void cut.push(name),
  })
  return { clock, unread, cut, readerOf }
}

describe('what clients have not taken', () => {
  it('may be as much as the bound; beyond it who has waited longest is cut off, and no more than have to be', async () => {
    const { clock, unread, cut, readerOf } = open()
    for (const name of ['a', 'b', 'c']) {
      unread.hold(readerOf(name), textOf(20, 10))
      await clock.advance(1_000)
    }
    expect(cut).toEqual([])
    unread.hold(readerOf('d'), textOf(11))
    expect(cut).toEqual(['a'])
    await clock.advance(1_000)
    unread.hold(readerOf('e'), textOf(80))
    expect(cut).toEqual(['a', 'b', 'c'])
  })

  it('counts once for all who are told the same, and no more once they have it', async () => {
    const { clock, unread, cut, readerOf } = open()
    const text = textOf(60)
    const [one, other] = [readerOf('one'), readerOf('other')]
    unread.hold(one, text)
    unread.hold(other, text)
    await clock.advance(1_000)
    unread.hold(readerOf('third'), textOf(40))
    expect(cut).toEqual([])
    for (const reader of [one, other]) unread.hold(reader, 'a short one')
    unread.hold(readerOf('fourth'), textOf(60))
    expect(cut).toEqual([])
  })

  it('is nobody else’s fault: who reads is not cut off, though it is much', async () => {
    const { clock, unread, cut, readerOf } = open()
    const [slow, quick, done] = [readerOf('slow'), readerOf('quick'), readerOf('done', true)]
    unread.hold(slow, textOf(50))
    unread.hold(quick, textOf(50))
    unread.hold(done, textOf(50))
    await clock.advance(1_000)
    quick.wroteAtMs = clock.nowMs() - 999
    unread.hold(readerOf('more'), textOf(200))
    expect(cut).toEqual(['slow'])
  })

  it('counts once what is told in parts, for as long as somebody has not had the last of them', async () => {
    const { clock, unread, cut, readerOf } = open()
    const source = { texts: {}, length: 60 }
    const [one, other] = [readerOf('one'), readerOf('other')]
    for (const reader of [one, other, one]) unread.hold(reader, source)
    await clock.advance(1_000)
    unread.hold(readerOf('third'), textOf(40))
    expect(cut).toEqual([])
    unread.hold(one, 'a short one')
    unread.hold(readerOf('fourth'), textOf(1))
    expect(cut).toEqual(['other'])
  })

  it('leaves no room for what is read alone until somebody has taken his, or is cut off', async () => {
    const { clock, unread, cut, readerOf } = open(5_000_000)
    const { signal } = new AbortController()
    const [one, other, third, fourth] = [
      readerOf('one'),
      readerOf('other'),
      readerOf('third', true),
      readerOf('fourth'),
    ]
    const reserved: string[] = []
    const reserve = (reader: Reader, name: string): void => {
      void unread.reserve(reader, signal).then((isTaken) => reserved.push(`${name} ${isTaken}`))
    }
    reserve(one, 'one')
    reserve(other, 'other')
    reserve(third, 'third')
    reserve(fourth, 'fourth')
    await clock.advance(99)
    expect(reserved).toEqual(['one true', 'other true'])
    unread.hold(other, 'a short one')
    await clock.advance(0)
    expect(reserved.slice(2)).toEqual(['third true'])
    await clock.advance(1)
    expect(reserved.slice(3)).toEqual(['fourth false'])
    unread.hold(one, textOf(3_000_000))
    await clock.advance(900)
    reserve(fourth, 'fourth')
    await clock.advance(100)
    expect([reserved.slice(4), cut]).toEqual([['fourth true'], ['one']])
  })

  it('keeps no place for who has left', async () => {
    const { clock, unread, readerOf } = open(2_000_000)
    const { signal } = new AbortController()
    const [one, left] = [readerOf('one'), readerOf('left')]
    expect(await unread.reserve(one, signal)).toBe(true)
    const waiting = unread.reserve(left, signal)
    unread.release(left)
    unread.release(one)
    await clock.advance(100)
    expect(await waiting).toBe(false)
    expect(await unread.reserve(one, signal)).toBe(true)
  })

  it('counts anew once nobody had it any more', async () => {
    const { clock, unread, cut, readerOf } = open()
    const [one, texts] = [readerOf('one'), {}]
    unread.hold(one, { texts, length: 90 })
    unread.hold(one, 'a short one')
    unread.hold(one, { texts, length: 10 })
    await clock.advance(1_000)
    unread.hold(readerOf('other'), textOf(80))
    expect(cut).toEqual([])
  })

  it('is nothing of who has left, nor what somebody had who reads on alone', async () => {
    const { clock, unread, cut, readerOf } = open()
    const left = readerOf('left')
    unread.hold(left, textOf(60))
    unread.release(left)
    await clock.advance(1_000)
    unread.hold(readerOf('other'), textOf(60))
    expect(cut).toEqual([])
    const wide = open(2_000_000)
    const one = wide.readerOf('one')
    wide.unread.hold(one, textOf(1_500_000))
    const reserved: boolean[] = []
    void wide.unread.reserve(one, new AbortController().signal).then((isTaken) => reserved.push(isTaken))
    await wide.clock.advance(0)
    expect(reserved).toEqual([true])
  })

  it('leaves room for one, however much that is', async () => {
    const { unread, readerOf } = open()
    expect(await unread.reserve(readerOf('one'), new AbortController().signal)).toBe(true)
  })

  it('is cut off from who takes a little now and then, if there is no room', async () => {
    const { clock, unread, cut, readerOf } = open()
    const [slow, source] = [readerOf('slow'), { texts: {}, length: 60 }]
    unread.hold(slow, source)
    await clock.advance(9_999)
    slow.wroteAtMs = clock.nowMs()
    unread.hold(slow, source)
    unread.hold(readerOf('more'), textOf(60))
    expect(cut).toEqual([])
    await clock.advance(1)
    unread.hold(readerOf('most'), textOf(60))
    expect(cut).toEqual(['slow'])
  })
})
