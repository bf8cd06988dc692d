import { createRequire } from 'node:module'
import type { Writable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createClientFrames } from '../../../shared/api/websocket/client-frames.ts'
import { share } from '../../support/strength.ts'

/** What a client says over a websocket, read by us and by the receiver of `ws`. */

type Told = readonly [what: 'ping' | 'end', said: string | number | undefined]

interface FrameOptions {
  readonly isLast?: boolean
  readonly reserved?: number
  readonly isMasked?: boolean
  /** What the head says, if it lies. */
  readonly length?: number
  /** 7, 16 or 64 bits for the length, whatever it needs. */
  readonly bits?: 16 | 64
}

function frame(code: number, payload: Uint8Array, options: FrameOptions = {}): Buffer {
  const { isLast = true, reserved = 0, isMasked = true, length = payload.length, bits } = options
  const mask = isMasked ? [7, 0, 255, 128] : []
  const size = bits ?? (length < 126 ? 7 : length < 65_536 ? 16 : 64)
  const extended = Buffer.alloc(size === 7 ? 0 : size / 8)
  if (size === 16) extended.writeUInt16BE(length)
  if (size === 64) extended.writeBigUInt64BE(BigInt(length))
  const small = size === 7 ? length : size === 16 ? 126 : 127
  const head = [(isLast ? 0x80 : 0) | (reserved << 4) | code, (isMasked ? 0x80 : 0) | small]
  const body = isMasked ? payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0)) : payload
  return Buffer.concat([Buffer.from(head), extended, Buffer.from(mask), body])
}

const text = (said: string): Buffer => Buffer.from(said)
const close = (status: number, reason = ''): Buffer =>
  Buffer.concat([Buffer.from([status >> 8, status & 0xff]), Buffer.from(reason)])

function heardIn(pieces: readonly Uint8Array[]): readonly Told[] {
  const told: Told[] = []
  const read = createClientFrames({
    onPing: (payload) => told.push(['ping', Buffer.from(payload).toString('latin1')]),
    onEnd: (status) => told.push(['end', status]),
  })
  for (const piece of pieces) read(piece)
  return told
}

/** How the receiver of `ws` names the status of what it refuses. */
const { Receiver } = createRequire(import.meta.url)('ws') as { Receiver: new (options: object) => Writable }

async function heardByWs(pieces: readonly Uint8Array[], skipUTF8Validation = false): Promise<readonly Told[]> {
  const told: Told[] = []
  const receiver = new Receiver({ isServer: true, maxPayload: 65_536, skipUTF8Validation })
  receiver.on('ping', (payload: Buffer) => told.push(['ping', payload.toString('latin1')]))
  receiver.on('conclude', (status: number) => told.push(['end', status === 1005 ? undefined : status]))
  receiver.on('error', (error: Error) => {
    const status = Object.getOwnPropertySymbols(error).find(({ description }) => description === 'status-code')
    told.push(['end', (error as unknown as Record<symbol, number>)[status ?? Symbol('none')]])
  })
  for (const piece of pieces) {
    if (receiver.destroyed || told.at(-1)?.[0] === 'end') break
    // It takes the mask off in place.
    await new Promise<void>((resolve) => receiver.write(Buffer.from(piece), () => resolve()))
  }
  return told
}

describe('frames of a client', () => {
  it.each<[string, Buffer, readonly Told[]]>([
    ['a ping', frame(9, text('here')), [['ping', 'here']]],
    ['the longest ping', frame(9, Buffer.alloc(125, 'x')), [['ping', 'x'.repeat(125)]]],
    ['a ping that is too long', frame(9, Buffer.alloc(126)), [['end', 1002]]],
    ['a ping in parts', frame(9, text(''), { isLast: false }), [['end', 1002]]],
    ['a pong that nobody asked for', frame(10, text('x')), []],
    ['a message', frame(1, text('{}')), []],
    ['a message in parts with a ping between them', parts(), [['ping', '']]],
    ['the longest message', frame(2, Buffer.alloc(65_536)), []],
    ['a longer one, by its head alone', frame(2, nothing(), { length: 65_537 }), [['end', 1009]]],
    ['one of 9 petabytes', frame(2, nothing(), { length: 2 ** 53 }), [['end', 1009]]],
    ['a rest without a beginning', frame(0, text('x')), [['end', 1002]]],
    ['a beginning within a message', Buffer.concat([part(), frame(1, text('x'))]), [['end', 1002]]],
    ['one, by the first two bytes of its head', Buffer.concat([part(), Buffer.from([1, 128])]), [['end', 1002]]],
    ['a frame without a mask', frame(1, text('x'), { isMasked: false }), [['end', 1002]]],
    ['an extension that was not agreed on', frame(1, text('x'), { reserved: 4 }), [['end', 1002]]],
    ['an opcode that there is not', frame(3, text('x')), [['end', 1002]]],
    ['a message after one in parts', Buffer.concat([parts(), frame(1, text('x'))]), [['ping', '']]],
    ['a message that begins with nothing', Buffer.concat([empty(), frame(0, text('x'))]), []],
    [
      'a message of three hundred bytes, and what follows',
      Buffer.concat([long(300), frame(9, nothing())]),
      [['ping', '']],
    ],
    ['a message of 70,000 bytes in two parts', Buffer.concat([first(35_000), rest(35_000)]), [['end', 1009]]],
    ['two messages of 70,000 bytes together', Buffer.concat([long(35_000), long(35_000)]), []],
    ['the longest message in two parts', Buffer.concat([first(65_000), rest(536)]), []],
    ['a close within a message', Buffer.concat([part(), frame(8, close(1000))]), [['end', 1000]]],
    ...[1000, 1003, 1007, 1014, 3000, 4999].map(given),
    ...[0, 999, 1004, 1005, 1006, 1015, 2999, 5000].map(notGiven),
    ['a close', frame(8, close(1000, 'bye')), [['end', 1000]]],
    ['a close of the application', frame(8, close(4999)), [['end', 4999]]],
    ['a close without a status', frame(8, nothing()), [['end', undefined]]],
    ['a close with half a status', frame(8, text('x')), [['end', 1002]]],
    ['a close with a status that is never sent', frame(8, close(1005)), [['end', 1002]]],
    ['a close with a reason that is no text', frame(8, Buffer.from([3, 232, 0xff])), [['end', 1007]]],
    ['a close in parts', frame(8, close(1000), { isLast: false }), [['end', 1002]]],
    ['a close that is too long', frame(8, close(1000, 'x'.repeat(124))), [['end', 1002]]],
    ['what follows a close', Buffer.concat([frame(8, close(1000)), frame(9, text('x'))]), [['end', 1000]]],
  ])('%s', async (_, bytes, told) => {
    expect(heardIn([bytes])).toEqual(told)
    expect(heardIn([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(told)
    expect(await heardByWs([bytes])).toEqual(told)
  })

  it('are dropped without a look at their text, unlike those of ws', async () => {
    const bytes = Buffer.concat([frame(1, Buffer.from([0xff])), frame(9, text('x'))])
    expect(heardIn([bytes])).toEqual([['ping', 'x']])
    expect(await heardByWs([bytes])).toEqual([['end', 1007]])
  })

  it('are heard as ws hears them, whatever they are and however they are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyFrame, { maxLength: 8 }), fc.infiniteStream(fc.integer({ min: 1, max: 40 })), check),
      { numRuns: share(3_000) },
    )
  })

  async function check(frames: readonly Buffer[], sizes: Iterable<number>): Promise<void> {
    const bytes = Buffer.concat(frames)
    const heard = heardIn([bytes])
    expect(heardIn(cutInto(bytes, sizes))).toEqual(heard)
    const told = await heardByWs([bytes])
    // Messages are dropped here without a look, and ws looks at their text, or at none, not at that of a close either.
    const isOfText = told.at(-1)?.[1] === 1007 && heard.at(-1)?.[1] !== 1007
    expect(heard).toEqual(isOfText ? await heardByWs([bytes], true) : told)
  }
})

function nothing(): Buffer {
  return Buffer.alloc(0)
}

function part(): Buffer {
  return frame(1, text('a'), { isLast: false })
}

function empty(): Buffer {
  return frame(1, nothing(), { isLast: false })
}

function long(size: number): Buffer {
  return frame(2, Buffer.alloc(size))
}

function first(size: number): Buffer {
  return frame(2, Buffer.alloc(size), { isLast: false })
}

function rest(size: number): Buffer {
  return frame(0, Buffer.alloc(size))
}

function given(status: number): [string, Buffer, readonly Told[]] {
  return [`a close with ${status}`, frame(8, close(status)), [['end', status]]]
}

function notGiven(status: number): [string, Buffer, readonly Told[]] {
  return [`a close with ${status}, which nobody sends`, frame(8, close(status)), [['end', 1002]]]
}

function parts(): Buffer {
  return Buffer.concat([part(), frame(9, nothing()), frame(0, text('b'), { isLast: false }), frame(0, text('c'))])
}

const anyFrame = fc.oneof(
  { weight: 6, arbitrary: fc.record({ code: fc.constantFrom(1, 2, 9, 10), size: fc.nat(200) }).map(plain) },
  { weight: 2, arbitrary: fc.record({ code: fc.constantFrom(0, 1), isLast: fc.boolean() }).map(inParts) },
  { weight: 1, arbitrary: fc.record({ code: fc.nat(15), reserved: fc.nat(7), isMasked: fc.boolean() }).map(odd) },
  { weight: 1, arbitrary: fc.record({ status: fc.nat(65_535), reason: fc.string({ maxLength: 20 }) }).map(closing) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)) },
)

function plain({ code, size }: { readonly code: number; readonly size: number }): Buffer {
  return frame(code, Buffer.alloc(size, 'x'), size % 3 === 0 ? { bits: 16 } : {})
}

function inParts({ code, isLast }: { readonly code: number; readonly isLast: boolean }): Buffer {
  return frame(code, text('part'), { isLast })
}

function odd(options: { readonly code: number; readonly reserved: number; readonly isMasked: boolean }): Buffer {
  return frame(options.code, text('odd'), options)
}

function closing({ status, reason }: { readonly status: number; readonly reason: string }): Buffer {
  return frame(8, close(status, reason))
}

function cutInto(bytes: Buffer, sizes: Iterable<number>): readonly Buffer[] {
  const pieces: Buffer[] = []
  let at = 0
  for (const size of sizes) {
    if (at >= bytes.length) break
    pieces.push(bytes.subarray(at, at + size))
    at += size
  }
  return pieces
}
