import { keyOf, keyText } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import { eventLine } from './event-lines.ts'
import type { Segment } from './live-changes.ts'
import type { EventType } from './membership.ts'
import type { SegmentPart, Stream } from './stream-state.ts'
import { pieceMax, type Text } from './text-pieces.ts'

/** What a watch says of objects and changes, and what of it all watchers of the same view share. */

export function initialText(stream: Stream, page: readonly StoredObject[]): string {
  return page
    .map((stored) => {
      stream.membership.knows(stored.object)
      return eventLine('ADDED', eventObject(stream, stored))
    })
    .join('')
}

/** Of changes that this watcher alone has read. */
export function pastChangesText(stream: Stream, changes: readonly Change[]): string | undefined {
  const lines = linesOf(stream, changes)
  return lines === '' ? undefined : lines
}

function linesOf(stream: Stream, changes: readonly Change[]): string {
  let lines = ''
  for (const change of changes) {
    const event = stream.membership.eventOf(change)
    if (event !== undefined) lines += eventLine(event, eventObject(stream, change.stored))
  }
  return lines
}

/**
 * Of a segment, which is made once for all who are told the same. Others are told it in parts, each of which is made
 * when the one before it is taken: so a client that does not read keeps no text of its own but a short one.
 */
export function segmentText(stream: Stream, segment: Segment): Text | undefined {
  const { sharedAs, mayRepeat, view } = stream
  const { changes, texts, length, resourceVersion } = segment
  if (sharedAs === undefined || mayRepeat || (view.introduces && !stream.hasSent)) {
    stream.part = { changes, texts, length, resourceVersion, from: 0, line: undefined }
    return partText(stream, stream.part)
  }
  const text = shareLines(stream, segment, sharedAs)
  moveOn(stream, resourceVersion)
  return text === '' ? undefined : text
}

/** What is told next of a segment; `undefined` if that is nothing. With the last part the watch moves on. */
export function partText(stream: Stream, part: SegmentPart): Text | undefined {
  const text = nextLines(stream, part)
  if (part.from === part.changes.length && part.line === undefined) {
    stream.part = undefined
    moveOn(stream, part.resourceVersion)
  }
  return text
}

/** Short lines together, up to a piece, or one that is longer. */
function nextLines(stream: Stream, part: SegmentPart): Text | undefined {
  let lines = ''
  for (let line = takeLine(stream, part); line !== undefined; line = takeLine(stream, part)) {
    if (lines !== '' && (typeof line !== 'string' || lines.length + line.length > pieceMax)) {
      part.line = line
      break
    }
    if (typeof line !== 'string') return line
    lines += line
  }
  return lines === '' ? undefined : stream.wire.encode(lines, false)
}

/** The next line; `undefined` behind the last one. */
function takeLine(stream: Stream, part: SegmentPart): Text | undefined {
  const { line } = part
  part.line = undefined
  if (line !== undefined) return line
  while (part.from < part.changes.length) {
    const i = part.from++
    const change = part.changes[i] as Change
    if (isTold(stream, change)) continue
    const event = stream.membership.eventOf(change)
    if (event !== undefined) return shareLine(stream, part, i, event)
  }
  return undefined
}

/** The live changes may be behind what the log has told. */
export function moveOn(stream: Stream, resourceVersion: string): void {
  const { overlap, pastEnd, reachBack } = stream
  const version = BigInt(resourceVersion)
  if (version >= pastEnd) stream.position = resourceVersion
  if (version < pastEnd + reachBack) return
  stream.mayRepeat = false
  overlap.clear()
}

/** For the first who asks it may be a text, which costs one watcher the least; all others get the same bytes. */
function shareLines(stream: Stream, segment: Segment, sharedAs: string): Text {
  const known = segment.texts.get(sharedAs)
  if (known !== undefined && typeof known !== 'string') return known
  const lines = known ?? linesOf(stream, segment.changes)
  const text = stream.wire.encode(lines, known !== undefined)
  segment.texts.set(sharedAs, text)
  return text
}

/** Whether the log has told this state of the object, or a later one. */
function isTold({ mayRepeat, pastEnd, reachBack, overlap }: Stream, { stored: { object } }: Change): boolean {
  if (!mayRepeat) return false
  const version = BigInt(object.metadata.resourceVersion)
  return version <= pastEnd - reachBack || version <= (overlap.get(keyText(keyOf(object))) ?? -1n)
}

/** The line of one change, which those share who are told of different changes: one that is long as bytes. */
function shareLine(stream: Stream, { changes, texts }: SegmentPart, i: number, event: EventType): Text {
  const { stored } = changes[i] as Change
  const { view, wire } = stream
  if (view.introduces && !stream.hasSent) return wire.encode(eventLine(event, eventObject(stream, stored)), false)
  const name = `${i} ${event} ${view.name} ${wire.name}`
  const known = texts.get(name)
  if (known !== undefined) return known
  const line = eventLine(event, eventObject(stream, stored))
  const text = line.length > pieceMax ? wire.encode(line, true) : line
  texts.set(name, text)
  return text
}

function eventObject(stream: Stream, stored: StoredObject): string {
  const { hasSent, view } = stream
  stream.hasSent = true
  return view.event(stored, !hasSent)
}
