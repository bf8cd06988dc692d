import { convertIfPossible } from '../../resources/await-conversion.ts'
import { keyOf, keyText } from '../../model/object-key.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import { inPortions } from './in-portions.ts'
import { endOfView, shownIn } from './shown-changes.ts'
import type { Asked, Past, Stream } from './stream-state.ts'
import type { Text } from './text-pieces.ts'
import { pastChangesText } from './texts.ts'

/** A refusal that comes by then is the status of the response; a watch of a quiet kind begins so much later. */
const soonMs = 5

/** Asks for the first batch. Throws EXPIRED if the feed says soon that it does not reach back so far. */
export async function beginPast(stream: Stream, clock: Clock): Promise<Past> {
  const past: Past = { changes: stream.follow(stream.position), asked: undefined }
  past.asked = ask(stream, past)
  if (await inPortions(past.asked.result, clock)(soonMs)) await past.asked.result
  return past
}

/**
 * The place among the live changes is taken before the log is asked. So what is told by neither would have to come
 * between two looks of which the second is later.
 */
function ask(stream: Stream, { changes }: Past): Asked {
  stream.live.rejoin(stream)
  const liveAt = stream.at?.resourceVersion ?? stream.position
  return { liveAt, result: changes.next() }
}

/** The lines of the next batch of the log. With the one that reaches the live changes the watch goes live. */
export async function readPast(stream: Stream, past: Past): Promise<Text | undefined> {
  const { liveAt, result } = past.asked ?? ask(stream, past)
  past.asked = undefined
  const { value, done } = await result
  if (done === true || stream.signal.aborted) {
    stream.isCut = true
    return undefined
  }
  if (stream.kind.conversion?.prepare !== undefined)
    await convertIfPossible(
      stream.kind,
      value.changes.map(({ stored }: Change) => stored),
    )
  const { changes, unshown } = shownIn(stream.kind, value.changes)
  stream.position = value.resourceVersion
  noteOverlap(stream, changes, BigInt(liveAt))
  if (stream.at !== undefined && BigInt(value.resourceVersion) >= BigInt(liveAt)) {
    stream.past = undefined
    await past.changes.return?.()
  } else stream.at = undefined
  endOn(stream, endOfView(unshown, stream.membership))
  const lines = pastChangesText(stream, changes)
  return lines === undefined ? undefined : stream.wire.encode(lines, false)
}

/** What is known to be told is told first. */
export function endOn(stream: Stream, end: Error | undefined): void {
  if (end === undefined) return
  stream.isCut = true
  stream.failure = end
}

function noteOverlap(stream: Stream, changes: readonly Change[], liveAt: bigint): void {
  const { overlap, reachBack } = stream
  stream.pastEnd = BigInt(stream.position)
  stream.mayRepeat = stream.pastEnd + reachBack > liveAt
  if (reachBack === 0n) return
  for (const { stored } of changes) {
    const version = BigInt(stored.object.metadata.resourceVersion)
    if (version > liveAt - reachBack) overlap.set(keyText(keyOf(stored.object)), version)
  }
}
