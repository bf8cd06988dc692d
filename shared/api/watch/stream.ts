import { keyText } from '../../model/object-key.ts'
import { toOperatingError, failureStatus, isOurs } from '../failure.ts'
import type { Pages } from '../select-objects.ts'
import { bookmarkLine, eventLine } from './event-lines.ts'
import { endOn, readPast } from './past.ts'
import { endOfView } from './shown-changes.ts'
import type { Stream } from './stream-state.ts'
import { cut, pieceMax, type Text } from './text-pieces.ts'
import { initialText, segmentText } from './texts.ts'

/** Says nothing but that the server is there. */
const sign = ' '
const silenceMs = 10_000
export const bookmarkMs = 60_000

/**
 * The lines of a watch, in pieces. A first space makes every gateway send the headers; a space in ten seconds of
 * silence tells a client that the server is there (client-node gives up after thirty). JSON allows a space ahead of a
 * value, and every client takes it, whereas the Python client from 34.1 on fails on an empty line. Nothing is read
 * ahead of the client.
 */
export async function* pieces(stream: Stream): AsyncGenerator<string | Uint8Array> {
  try {
    stream.rest = sign
    for (;;) {
      while (stream.rest !== undefined) yield takePiece(stream, stream.rest)
      stream.isTaken = true
      if (isOver(stream)) break
      stream.rest = dueText(stream) ?? (await nextText(stream))
    }
    if (stream.failure !== undefined) throw stream.failure
    if (stream.bookmarks && !stream.isCut && !stream.signal.aborted) yield bookmark(stream, stream.position)
  } catch (error) {
    yield failureLine(stream, error)
  } finally {
    stream.onEnd()
  }
}

function isOver({ isCut, signal, clock, endsAtMs }: Stream): boolean {
  return isCut || signal.aborted || clock.nowMs() >= endsAtMs
}

/** The next piece of what is to be sent. */
function takePiece(stream: Stream, text: Text): string | Uint8Array {
  stream.isTaken = false
  stream.wroteAtMs = stream.clock.nowMs()
  stream.dueAtMs = dueMs(stream)
  stream.rest = undefined
  if (typeof text === 'string' && text.length <= pieceMax) return text
  const [piece = '', ...others] = typeof text === 'string' ? cut(text) : text
  if (others.length > 0) stream.rest = others
  return piece
}

/** What is told next; `undefined` when the wait for it is over, whatever ended it. */
async function nextText(stream: Stream): Promise<Text | undefined> {
  const { initial, past, at } = stream
  if (initial !== undefined) return nextInitial(stream, initial)
  if (past !== undefined) return readPast(stream, past)
  if (at === undefined) {
    // Too far behind the others: the log has what they had.
    stream.past = { changes: stream.follow(stream.position), asked: undefined }
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
  stream.position = at.resourceVersion
  return undefined
}

async function nextInitial(stream: Stream, nextPage: Pages): Promise<string | undefined> {
  const page = await nextPage()
  if (page !== undefined) {
    stream.leftOut.push(...(page.damaged ?? []).slice(0, leftOutMax - stream.leftOut.length))
    return page.items.length === 0 ? undefined : initialText(stream, page.items)
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
export function dueMs({ wroteAtMs, endsAtMs, bookmarks, bookmarkAtMs }: DueOptions): number {
  return Math.min(wroteAtMs + silenceMs, endsAtMs, bookmarks ? bookmarkAtMs : Infinity)
}

type DueOptions = Pick<Stream, 'wroteAtMs' | 'endsAtMs' | 'bookmarks' | 'bookmarkAtMs'>

function dueText(stream: Stream): string | undefined {
  const nowMs = stream.clock.nowMs()
  if (stream.bookmarks && nowMs >= stream.bookmarkAtMs) {
    stream.bookmarkAtMs = nowMs + bookmarkMs
    return bookmark(stream, stream.position)
  }
  return nowMs - stream.wroteAtMs >= silenceMs ? sign : undefined
}

function bookmark(stream: Stream, resourceVersion: string, annotations: Record<string, string> = {}): string {
  const { kind, view, hasSent } = stream
  stream.hasSent = true
  return bookmarkLine({ kind, view, resourceVersion, isFirst: !hasSent, annotations })
}

function failureLine({ onFailure }: Stream, error: unknown): string {
  const told = toOperatingError(error)
  if (isOurs(told)) onFailure(error)
  return eventLine('ERROR', JSON.stringify(failureStatus(told)))
}
