import { convertIfPossible } from '../../resources/await-conversion.ts'
import { keyOf, keyText } from '../../model/object-key.ts'
import type { Change } from '../../ports/change-feed.ts'
import { endOfView, shownIn } from './shown-changes.ts'
import type { Past, Stream } from './stream-state.ts'
import type { Text } from './text-pieces.ts'
import { pastChangesText } from './texts.ts'

/** A walk through the log from where the watch is. */
export function beginPast(stream: Stream): Past {
  return stream.follow(stream.position)
}

/**
 * The place among the live changes is taken before the log is asked. So what is told by neither would have to come
 * between two looks of which the second is later.
 *
 * Where a feed reaches back, a later look may see less: each is answered by another replica of the index. There the
 * place is kept until a look is so much later that it sees all that the live changes have told before this place.
 */
function takeLivePlace(stream: Stream): bigint {
  const { at, liveAt, reachBack } = stream
  if (at !== undefined && liveAt !== undefined && reachBack > 0n) return liveAt
  stream.live.rejoin(stream)
  return (stream.liveAt = BigInt(stream.at?.resourceVersion ?? stream.position))
}

/**
 * The lines of the next batch of the log. With the one that reaches the live changes the watch goes live. Throws
 * EXPIRED if the log does not reach back so far. As in Kubernetes, the client is told so by an event: if the answer has
 * that status, kube-rs and a RetryWatcher of client-go ask the same again for good.
 */
export async function readPast(stream: Stream, past: Past): Promise<Text | undefined> {
  const liveAt = takeLivePlace(stream)
  const { value, done } = await past.next()
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
  noteOverlap(stream, changes, liveAt)
  if (stream.at !== undefined && stream.pastEnd >= liveAt + stream.reachBack) {
    stream.past = undefined
    stream.liveAt = undefined
    await past.return?.()
  } else if (stream.reachBack === 0n) stream.at = undefined
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
