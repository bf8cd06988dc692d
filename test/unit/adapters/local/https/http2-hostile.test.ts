import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createHttp2Sessions, type Http2Sessions } from '../../../../../shared/adapters/local/https/http2-sessions.ts'
import { share } from '../../../../support/strength.ts'
import { useUncaught } from '../../../../support/uncaught.ts'
import { fields, frame, preface } from './http2-frames.ts'
import { ok } from './server-harness.ts'

/** Whatever a client writes, and however it comes, no listener throws: that would end the process for everybody. */

const thrown = useUncaught()

const logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => logger }
const timing = { handshakeSeconds: 1, requestSeconds: 3, idleSeconds: 5 }

function open(): { readonly sessions: Http2Sessions; readonly near: Duplex } {
  const handler = async ({ body }: { body(max: number): Promise<unknown> }) => {
    await body(10)
    return ok('x')
  }
  const sessions = createHttp2Sessions({ handler, logger, timing })
  const [near, far] = duplexPair()
  near.on('error', () => {}).resume()
  sessions.serve(far as TLSSocket)
  return { sessions, near }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await turn()
}

/** Fields with one more, of so many letters. */
function longFields(letters: number): Buffer {
  const size = letters - 127
  const length = Buffer.of(127, (size & 127) | 128, size >> 7)
  return Buffer.concat([fields, Buffer.from([0, 1, 0x61]), length, Buffer.alloc(letters, 'x')])
}

/** Over the limit of 16,384, and below what node:http2 refuses itself. */
const tooLong = longFields(16_400)
const tooLongFrames = (stream: number): readonly Buffer[] => [
  frame(1, 1, stream, tooLong.subarray(0, 16_384)),
  frame(9, 4, stream, tooLong.subarray(16_384)),
]
const reset = (stream: number): Buffer => frame(3, 0, stream, Buffer.from([0, 0, 0, 8]))

it.each([
  ['alone', [...tooLongFrames(1)]],
  ['with its reset behind it', [...tooLongFrames(1), reset(1)]],
])('a head that is too long, %s', async (_, frames) => {
  const { sessions, near } = open()
  near.write(Buffer.concat([preface, ...frames]))
  await settle()
  sessions.close()
  expect(thrown()).toEqual([])
})

const stream = fc.constantFrom(0, 1, 1, 3, 3, 5, 7)
const flags = fc.constantFrom(0, 1, 4, 5)
const frames = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(flags, stream).map(([flag, id]) => [frame(1, flag, id, fields)]) },
  { weight: 2, arbitrary: stream.map(tooLongFrames) },
  { weight: 3, arbitrary: stream.map((id) => [reset(id)]) },
  { weight: 2, arbitrary: fc.tuple(flags, stream).map(([flag, id]) => [frame(0, flag, id, Buffer.from('body'))]) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.nat(10), fc.nat(255), stream, fc.uint8Array({ maxLength: 20 }))
      .map(([type, flag, id, payload]) => [frame(type, flag, id, Buffer.from(payload))]),
  },
)

it('frames of any kind, in any order and in any pieces', async () => {
  const drawn = fc.array(frames, { maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(drawn, fc.array(fc.integer({ min: 1, max: 40_000 }), { maxLength: 5 }), async (all, cuts) => {
      const { sessions, near } = open()
      let rest = Buffer.concat([preface, ...all.flat()])
      for (const cut of cuts) {
        near.write(rest.subarray(0, cut))
        rest = rest.subarray(cut)
        await turn()
      }
      near.write(rest)
      await settle()
      sessions.close()
      near.end()
      await settle()
      expect(thrown()).toEqual([])
    }),
    { numRuns: share(2_000) },
  )
})
