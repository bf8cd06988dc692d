import { keyText } from '../../model/object-key.ts'
import { OperatingError } from '../../model/errors.ts'
import { toOperatingError, failureStatus, isOurs } from '../failure.ts'
import type { Pages } from '../select-objects.ts'
import { bookmarkLine, eventLine } from './event-lines.ts'
import { beginPast, endOn, readPast } from './past.ts'
import { endOfView } from './shown-changes.ts'
import type { Stream } from './stream-state.ts'
import type { Text } from './text-pieces.ts'
import type { Wire } from './wire.ts'
import { initialText, moveOn, partText, segmentText } from './texts.ts'

const silenceMs = 10_000
export const bookmarkMs = 60_000
/** Who is let in no more is told changes for so long at most, and the time of a silence. */
const askMs = 60_000

/**
 * What a watch says, in pieces. A sign in ten seconds of silence tells a client that the server is there (client-node
 * gives up after thirty). Nothing is read ahead of the client.
 */
export async function* pieces(stream: Stream): AsyncGenerator<string | Uint8Array> {
  const { wire } = stream
  try {
    say(stream, wire.opening)
    for (;;) {
      while (stream.rest !== undefined) yield takePiece(stream, stream.rest)
      stream.isTaken = true
      stream.unread.hold(stream, stream.part)
      if (stream.part !== undefined) {
        say(stream, partText(stream, stream.part))
        continue
      }
      if (isOver(stream)) break
      if (isToAsk(stream) && !(await mayGoOn(stream))) break
      say(stream, wire.reply() ?? dueText(stream) ?? (await nextText(stream)))
    }
    if (stream.failure !== undefined) throw stream.failure
    if (endsWithMark(stream)) yield* said(bookmark(stream, stream.position))
    else if (hasOpenLine(stream)) throw new OperatingError('EXPIRED', 'the watch has ended: list again')
  } catch (error) {
    const text = failureText(stream, error)
    // Within a line it would be no event.
    if (!stream.isTorn) yield* said(text)
  } finally {
    stream.onEnd()
    // A look that came to the end of the log follows it from then on.
    await stream.past?.return?.()
  }
  if (!stream.isTorn) yield* said(wire.closing(stream.signal.aborted))
}

function say(stream: Stream, text: Text | undefined): void {
  stream.rest = text
  if (text !== undefined) stream.isLineOpen = text === stream.wire.sign && stream.wire.name === 'lines'
  stream.unread.hold(stream, stream.part ?? text)
}

/** Who comes back at a bookmark is told nothing of before it: by then all objects there are must have been told. */
function mayMark({ bookmarks, initial }: Pick<Stream, 'bookmarks' | 'initial'>): boolean {
  return bookmarks && initial === undefined
}

/** A server that stops cuts its watches off, and their clients come back where they were. */
function endsWithMark(stream: Stream): boolean {
  return mayMark(stream) && !stream.isTorn && (!stream.isCut || stream.signal.aborted)
}

function said(text: Text | undefined): readonly (string | Uint8Array)[] {
  return typeof text === 'string' ? [text] : (text ?? [])
}

/**
 * A sign without an event behind it is a line to readers of lines. kubernetes_asyncio and lightkube fail on it. They
 * know what to do at a 410.
 */
function hasOpenLine({ isLineOpen, isTorn }: Stream): boolean {
  return isLineOpen && !isTorn
}

function isOver({ isCut, signal, clock, endsAtMs }: Stream): boolean {
  return isCut || signal.aborted || clock.nowMs() >= endsAtMs
}

/** A clock that was put back says nothing of the time that has passed. */
function isToAsk({ isStillAllowed, clock, askedAtMs }: Stream): boolean {
  return isStillAllowed !== undefined && Math.abs(clock.nowMs() - askedAtMs) >= askMs
}

/** The client learns by its next request why its watch has ended. */
async function mayGoOn(stream: Stream): Promise<boolean> {
  stream.askedAtMs = stream.clock.nowMs()
  stream.isCut ||= (await stream.isStillAllowed?.()) === false
  return !stream.isCut
}

/** The next piece of what is to be sent. */
function takePiece(stream: Stream, text: Text): string | Uint8Array {
  stream.isTaken = false
  stream.wroteAtMs = stream.clock.nowMs()
  stream.dueAtMs = dueMs(stream)
  stream.live.remind(stream)
  stream.rest = undefined
  if (typeof text === 'string') return text
  const [piece = '', ...others] = text
  if (others.length > 0) stream.rest = others
  return piece
}

/** What is told next; `undefined` when the wait for it is over, whatever ended it. */
async function nextText(stream: Stream): Promise<Text | undefined> {
  const { initial, past, at } = stream
  if ((initial ?? past) !== undefined && !(await stream.unread.reserve(stream, stream.signal))) return undefined
  if (initial !== undefined) return nextInitial(stream, initial)
  if (past !== undefined) return readPast(stream, past)
  if (at === undefined) {
    // Too far behind the others: the log has what they had.
    stream.past = beginPast(stream)
    return undefined
  }
  if (at.next !== undefined) {
    stream.at = at.next
    endOn(stream, endOfView(at.next.unshown, stream.membership))
    return segmentText(stream, at.next)
  }
  await new Promise<void>((resolve) => {
    stream.resume = resolve
  })
  // Empty batches move the end on.
  moveOn(stream, at.resourceVersion)
  return undefined
}

async function nextInitial(stream: Stream, nextPage: Pages): Promise<Text | undefined> {
  const page = await nextPage()
  if (page !== undefined) {
    stream.leftOut.push(...(page.damaged ?? []).slice(0, leftOutMax - stream.leftOut.length))
    return page.items.length === 0 ? undefined : stream.wire.encode(initialText(stream, page.items), false)
  }
  stream.initial = undefined
  if (!stream.marksInitialEnd) return undefined
  const leftOut = stream.leftOut.map(keyText).join(' ')
  return bookmark(stream, stream.position, {
    'k8s.io/initial-events-end': 'true',
    ...(leftOut === '' ? {} : { 'setpoint.dev/left-out': leftOut }),
  })
}

/** So many objects that cannot be shown are named. */
const leftOutMax = 10

/** When it is to be woken though nothing happens. It never moves to an earlier time. */
export function dueMs(stream: DueOptions): number {
  const { wire, wroteAtMs, endsAtMs, bookmarkAtMs } = stream
  const signAtMs = wire.sign === undefined ? Infinity : wroteAtMs + silenceMs
  return Math.min(signAtMs, endsAtMs, mayMark(stream) ? bookmarkAtMs : Infinity)
}

type DueOptions = Pick<Stream, 'wroteAtMs' | 'endsAtMs' | 'bookmarks' | 'bookmarkAtMs' | 'initial'> & {
  readonly wire: Pick<Wire, 'sign'>
}

/** As at `isToAsk`, a clock may have been put back. */
function dueText(stream: Stream): Text | undefined {
  const { bookmarkAtMs, wroteAtMs } = stream
  const nowMs = stream.clock.nowMs()
  if (mayMark(stream) && (nowMs >= bookmarkAtMs || bookmarkAtMs - nowMs > bookmarkMs)) {
    stream.bookmarkAtMs = nowMs + bookmarkMs
    return bookmark(stream, stream.position)
  }
  return Math.abs(nowMs - wroteAtMs) >= silenceMs ? stream.wire.sign : undefined
}

function bookmark(stream: Stream, resourceVersion: string, annotations: Record<string, string> = {}): Text {
  const { kind, view, wire, hasSent } = stream
  stream.hasSent = true
  return wire.encode(bookmarkLine({ kind, view, resourceVersion, isFirst: !hasSent, annotations }), false)
}

function failureText({ onFailure, wire }: Stream, error: unknown): Text {
  const told = toOperatingError(error)
  if (isOurs(told)) onFailure(error)
  return wire.encode(eventLine('ERROR', JSON.stringify(failureStatus(told))), false)
}
