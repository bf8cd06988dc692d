import { keyOf, keyText } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { Change } from '../../ports/change-feed.ts'
import { eventLine } from './event-lines.ts'
import type { Segment } from './live-changes.ts'
import type { EventType } from './membership.ts'
import type { Stream } from './stream-state.ts'
import type { Text } from './text-pieces.ts'

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
  let lines = ''
  for (const change of changes) {
    const event = stream.membership.eventOf(change)
    if (event !== undefined) lines += eventLine(event, eventObject(stream, change.stored))
  }
  return lines === '' ? undefined : lines
}

/** Of a segment, which is made once for all who are told the same. */
export function segmentText(stream: Stream, segment: Segment): Text | undefined {
  const { sharedAs, mayRepeat, view } = stream
  const isAlone = sharedAs === undefined || mayRepeat || (view.introduces && !stream.hasSent)
  const text = isAlone ? stream.wire.encode(ownLines(stream, segment), false) : shareLines(stream, segment, sharedAs)
  moveOn(stream, segment.resourceVersion)
  return text === '' ? undefined : text
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
  const lines = known ?? ownLines(stream, segment)
  const text = stream.wire.encode(lines, known !== undefined)
  segment.texts.set(sharedAs, text)
  return text
}

function ownLines(stream: Stream, segment: Segment): string {
  let lines = ''
  for (const [i, change] of segment.changes.entries()) {
    if (isTold(stream, change)) continue
    const event = stream.membership.eventOf(change)
    if (event !== undefined) lines += shareLine(stream, segment, i, event)
  }
  return lines
}

/** Whether the log has told this state of the object, or a later one. */
function isTold({ mayRepeat, pastEnd, reachBack, overlap }: Stream, { stored: { object } }: Change): boolean {
  if (!mayRepeat) return false
  const version = BigInt(object.metadata.resourceVersion)
  return version <= pastEnd - reachBack || version <= (overlap.get(keyText(keyOf(object))) ?? -1n)
}

/** The line of one change, which those share who are told of different changes. */
function shareLine(stream: Stream, { changes, texts }: Segment, i: number, event: EventType): string {
  const { stored } = changes[i] as Change
  const { view, sharedAs } = stream
  if (sharedAs !== undefined || (view.introduces && !stream.hasSent))
    return eventLine(event, eventObject(stream, stored))
  const name = `${i} ${event} ${view.name}`
  const known = texts.get(name)
  if (typeof known === 'string') return known
  const line = eventLine(event, eventObject(stream, stored))
  texts.set(name, line)
  return line
}

function eventObject(stream: Stream, stored: StoredObject): string {
  const { hasSent, view } = stream
  stream.hasSent = true
  return view.event(stored, !hasSent)
}
