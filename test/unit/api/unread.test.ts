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
})
