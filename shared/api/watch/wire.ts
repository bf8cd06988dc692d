import type { Clock } from '../../ports/clock.ts'
import type { WebsocketOffer } from '../../ports/http-handler.ts'
import { createClientFrames } from '../websocket/client-frames.ts'
import { closeFrame, closeStatus, controlFrame, opcode, textFrames } from '../websocket/server-frames.ts'
import { cut, cutBytes, pieceMax, type Text } from './text-pieces.ts'

/** How a watch speaks with its client: by lines of an answer, or by messages of a websocket. */
export interface Wire {
  readonly name: 'lines' | 'messages'
  /** Has every gateway send the headers. */
  readonly opening: Text | undefined
  /** Says nothing but that the server is there; `undefined` where that is never said. */
  readonly sign: Text | undefined
  /** Lines as they are sent; what several watchers are told is bytes. Of no lines nothing is sent. */
  encode(lines: string, isShared: boolean): Text
  /** Tells from now on that the client is owed a reply, or has ended the watch. */
  hear(client: WireClient): void
  /** What the client is owed ahead of more events. */
  reply(): Text | undefined
  /** The last word, if there is one. */
  closing(isServerClosing: boolean): Text | undefined
}

interface WireClient {
  onOwed(): void
  onEnd(): void
}

const space = ' '
const nothing = (): undefined => {}

/**
 * JSON allows a space ahead of a value, and every client takes it, whereas the Python client from 34.1 on fails on an
 * empty line.
 */
export const lineWire: Wire = {
  name: 'lines',
  opening: space,
  sign: space,
  encode: (lines, isShared) => (lines !== '' && (isShared || lines.length > pieceMax) ? cut(lines) : lines),
  hear: () => {},
  reply: nothing,
  closing: nothing,
}

/**
 * For a watch that ends by itself with no bookmark as its last word. A space without an event behind it is a line to
 * readers of lines: lightkube, kubernetes_asyncio and the official client of Java fail on it.
 */
export const silentLineWire: Wire = { ...lineWire, opening: undefined, sign: undefined }

const ping: Text = [controlFrame(opcode.ping)]
/** A watch wants nothing from its client but a sign of life. */
const bytesPerSecondMax = 65_536

/** One event is one message, as the apiserver sends them. Nothing of the client is kept but its last ping. */
export function createMessageWire(websocket: WebsocketOffer, clock: Clock): Wire {
  let owed: Uint8Array | undefined
  let ended: { readonly status: number | undefined } | undefined
  return {
    name: 'messages',
    opening: undefined,
    sign: ping,
    encode: (lines) => (lines === '' ? '' : cutBytes(textFrames(lines))),
    hear: ({ onOwed, onEnd }) => {
      const end = (status: number | undefined): void => {
        ended = { status }
        onEnd()
      }
      const read = createClientFrames({
        onPing: (payload) => {
          owed = controlFrame(opcode.pong, payload)
          onOwed()
        },
        onEnd: end,
      })
      const isWithin = createAllowance(clock)
      websocket.hear((bytes) => {
        if (ended !== undefined) return
        if (isWithin(bytes.length)) read(bytes)
        else end(closeStatus.policy)
      })
    },
    reply: () => {
      const reply = owed && [owed]
      owed = undefined
      return reply
    },
    closing: (isServerClosing) => {
      if (ended !== undefined) return [closeFrame(ended.status)]
      return [closeFrame(isServerClosing ? closeStatus.goingAway : closeStatus.normal)]
    },
  }
}

function createAllowance(clock: Clock): (bytes: number) => boolean {
  let fromMs = clock.nowMs()
  let used = 0
  return (bytes) => {
    const nowMs = clock.nowMs()
    if (nowMs - fromMs >= 1_000 || nowMs < fromMs) {
      fromMs = nowMs
      used = 0
    }
    used += bytes
    return used <= bytesPerSecondMax
  }
}
