import { describe, expect, it } from 'vitest'
import { closeFrame, controlFrame, textFrames } from '../../../shared/api/websocket/server-frames.ts'

const bytesOf = (...values: readonly number[]) => Uint8Array.from(values)
const text = (value: string) => [...new TextEncoder().encode(value)]

describe('a frame of a server', () => {
  it.each<[number, readonly number[]]>([
    [0, [0x81, 0]],
    [1, [0x81, 1]],
    [125, [0x81, 125]],
    [126, [0x81, 126, 0, 126]],
    [255, [0x81, 126, 0, 255]],
    [256, [0x81, 126, 1, 0]],
    [65_535, [0x81, 126, 255, 255]],
    [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
    [65_537, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 1]],
  ])('of %i bytes begins with %j', (length, head) => {
    const frames = textFrames(`${'x'.repeat(length)}\n`)
    expect([...frames.subarray(0, head.length)]).toEqual(head)
    expect(frames).toHaveLength(head.length + length)
    expect(frames.subarray(head.length).every((byte) => byte === 120)).toBe(true)
  })

  it('is made of each line', () => {
    expect(textFrames('ab\nü\n\nc\n')).toEqual(
      bytesOf(0x81, 2, ...text('ab'), 0x81, 2, ...text('ü'), 0x81, 0, 0x81, 1, ...text('c')),
    )
    expect(textFrames('')).toEqual(bytesOf())
    expect(textFrames('no end')).toEqual(bytesOf())
    const long = 'y'.repeat(130)
    expect(textFrames(`a\n${long}\nb\n`)).toEqual(
      bytesOf(0x81, 1, ...text('a'), 0x81, 126, 0, 130, ...text(long), 0x81, 1, ...text('b')),
    )
  })

  it('of the protocol says its code, and what it is sent with', () => {
    expect(controlFrame(9)).toEqual(bytesOf(0x89, 0))
    expect(controlFrame(10, bytesOf(1, 2))).toEqual(bytesOf(0x8a, 2, 1, 2))
  })

  it.each<[number | undefined, readonly number[]]>([
    [undefined, [0x88, 0]],
    [1000, [0x88, 2, 3, 232]],
    [1001, [0x88, 2, 3, 233]],
    [4_095, [0x88, 2, 15, 255]],
  ])('that closes with %j is %j', (status, frame) => {
    expect([...closeFrame(status)]).toEqual(frame)
  })
})
