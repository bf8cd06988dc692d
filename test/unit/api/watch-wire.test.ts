import { describe, expect, it } from 'vitest'
import { createMessageWire, lineWire } from '../../../shared/api/watch/wire.ts'
import { createVirtualClock } from '../../support/virtual-clock.ts'

const mask = [1, 2, 3, 4]
/** A frame of a client, as it is sent. */
function clientFrame(code: number, payload: readonly number[] = []): Uint8Array {
  const masked = payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0))
  return Uint8Array.from([0x80 | code, 0x80 | payload.length, ...mask, ...masked])
}

describe('a watch in lines', () => {
  const { encode, opening, sign, reply, closing, hear, name } = lineWire
  it('begins with a space, and says no more than its lines', () => {
    hear({ onOwed: () => expect.fail('nobody'), onEnd: () => expect.fail('nobody') })
    expect([name, opening, sign, reply(), closing(true)]).toEqual(['lines', ' ', ' ', undefined, undefined])
  })

  it('is a text if it is short and for one watcher, and pieces of bytes otherwise', () => {
    expect(encode('x'.repeat(16_384), false)).toBe('x'.repeat(16_384))
    expect(encode('x'.repeat(16_385), false)).toMatchObject([{ length: 16_384 }, { length: 1 }])
    expect(encode('x', true)).toEqual([Uint8Array.of(120)])
    expect([encode('', true), encode('', false)]).toEqual(['', ''])
  })
})

describe('a watch in messages', () => {
  function open() {
    const clock = createVirtualClock(0)
    const told: string[] = []
    let send = (_bytes: Uint8Array) => {}
    const hear = (onBytes: (bytes: Uint8Array) => void) => void (send = onBytes)
    const wire = createMessageWire({ hear }, clock)
    wire.hear({ onOwed: () => void told.push('owed'), onEnd: () => void told.push('end') })
    return { wire, clock, told, send: (bytes: Uint8Array) => send(bytes) }
  }
  const closed = (status: number) => [Uint8Array.of(0x88, 2, status >> 8, status & 0xff)]

  it('begins with nothing, and pings in silence', () => {
    const { wire } = open()
    expect([wire.name, wire.opening, wire.reply()]).toEqual(['messages', undefined, undefined])
    expect(wire.sign).toEqual([Uint8Array.of(0x89, 0)])
  })

  it('has a message for each line', () => {
    const { wire } = open()
    expect(wire.encode('', false)).toBe('')
    expect(wire.encode('a\n', false)).toEqual([Uint8Array.of(0x81, 1, 97)])
  })

  it('answers the last ping of its client, once', () => {
    const { wire, told, send } = open()
    send(clientFrame(9, [7]))
    send(clientFrame(9, [8, 9]))
    expect(told).toEqual(['owed', 'owed'])
    expect([wire.reply(), wire.reply()]).toEqual([[Uint8Array.of(0x8a, 2, 8, 9)], undefined])
  })

  it('ends when its client says so, once, with the status of the client', () => {
    const { wire, told, send } = open()
    send(clientFrame(8, [3, 232]))
    send(clientFrame(8, [3, 233]))
    send(clientFrame(9))
    expect(told).toEqual(['end'])
    expect([wire.closing(true), wire.closing(false), wire.reply()]).toEqual([closed(1000), closed(1000), undefined])
  })

  it('says why it ends if its client did not', () => {
    const { wire } = open()
    expect([wire.closing(true), wire.closing(false)]).toEqual([closed(1001), closed(1000)])
  })

  it('takes 64 KiB of its client in a second', async () => {
    const { wire, told, send, clock } = open()
    const pongs = Uint8Array.from(Array.from({ length: 4_096 }, () => [...clientFrame(10, Array(10).fill(0))]).flat())
    expect(pongs).toHaveLength(65_536)
    send(pongs)
    await clock.advance(1_000)
    send(pongs)
    await clock.advance(999)
    expect(told).toEqual([])
    send(clientFrame(10))
    expect(told).toEqual(['end'])
    send(clientFrame(9))
    expect([told, wire.closing(false)]).toEqual([['end'], closed(1008)])
  })

  it('counts the bytes of a second together', async () => {
    const { told, send, clock } = open()
    const half = new Uint8Array(32_769).fill(0)
    half.set(clientFrame(10))
    const pongs = Uint8Array.from(Array.from({ length: 2_049 }, () => [...clientFrame(10, Array(10).fill(0))]).flat())
    send(pongs)
    await clock.advance(500)
    send(pongs)
    expect(told).toEqual(['end'])
  })

  it('counts anew when the clock is set back', () => {
    const told: string[] = []
    let send = (_bytes: Uint8Array) => {}
    let nowMs = 5_000
    const clock = { ...createVirtualClock(0), nowMs: () => nowMs }
    const wire = createMessageWire({ hear: (onBytes) => void (send = onBytes) }, clock)
    wire.hear({ onOwed: () => {}, onEnd: () => void told.push('end') })
    const pongs = Uint8Array.from(Array.from({ length: 4_096 }, () => [...clientFrame(10, Array(10).fill(0))]).flat())
    send(pongs)
    nowMs = 4_999
    send(pongs)
    expect(told).toEqual([])
    send(clientFrame(10))
    expect(told).toEqual(['end'])
  })
})
