import type { ObjectKey } from '../../model/object-key.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { ChangeBatch } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Pages } from '../select-objects.ts'
import type { View } from '../view.ts'
import type { LiveChanges, Segment, Watcher } from './live-changes.ts'
import type { Membership } from './membership.ts'
import type { Text } from './text-pieces.ts'
import type { Unread } from './unread.ts'
import type { Wire } from './wire.ts'

/** One watch: what it was asked for, and how far it is. */
export interface Stream extends Watcher {
  readonly kind: ServedKind
  readonly view: View
  readonly wire: Wire
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly live: LiveChanges
  readonly membership: Membership
  /** Watchers of the same name are told the same of each change; `undefined` if no other watcher is sure to be. */
  readonly sharedAs: string | undefined
  readonly bookmarks: boolean
  /** Whether a bookmark says where the initial objects end. */
  readonly marksInitialEnd: boolean
  readonly endsAtMs: number
  /** The changes after a resourceVersion, for this watcher alone. */
  readonly follow: (after: string) => Past
  /** Whether the client would be let in now; asked each minute. Left out: it stays what it was. */
  readonly isStillAllowed: (() => Promise<boolean>) | undefined
  /** When that was asked last. */
  askedAtMs: number
  /** Told of failures that are not the client's. */
  readonly onFailure: (error: unknown) => void
  /** Called when the watch is over, perhaps more than once. */
  readonly onEnd: () => void

  /** Hands out the pages of the objects that are told first; `undefined` when they have been told. */
  initial: Pages | undefined
  /** Objects that were there at the start and cannot be shown. */
  readonly leftOut: ObjectKey[]
  /** What it reads by itself; `undefined` while it is live. */
  past: Past | undefined
  /** Everything up to here has been told. */
  position: string
  /** Where the live changes were when the place among them was taken that it goes live at. */
  liveAt: bigint | undefined
  /** How far the log has told. */
  pastEnd: bigint
  /** The live changes may tell what the log has told, or a state from before it. */
  mayRepeat: boolean
  /** What of that is less than `reachBack` before its end: the version of each object. */
  readonly overlap: Map<string, bigint>
  /** So far back a feed may reach, in versions. */
  readonly reachBack: bigint
  /** Whether the client has been told of an object. */
  hasSent: boolean
  /** What is to be sent. */
  rest: Text | undefined
  /** The last that was to be sent is a sign, and no event. */
  isLineOpen: boolean
  /** What is to be said of a segment behind that. */
  part: SegmentPart | undefined
  readonly unread: Unread
  bookmarkAtMs: number
  isCut: boolean
  /** Whether it was cut within a line, so that nothing more can be said. */
  isTorn: boolean
  failure: Error | undefined
  /** Ends the wait for something to tell. */
  resume: (() => void) | undefined
}

/** How far a watch that is told a segment in parts is. It does not hold what comes behind the segment. */
export interface SegmentPart extends Pick<Segment, 'changes' | 'texts' | 'length' | 'resourceVersion'> {
  /** The first change that was not looked at. */
  from: number
  /** The line of the one before it, if that is still to be sent. */
  line: Text | undefined
}

/** A walk through the log that is to end where the live changes begin. */
export type Past = AsyncIterator<ChangeBatch>

/** Of a watch that has said nothing yet. */
export function nothingSaid() {
  return {
    leftOut: [],
    past: undefined,
    at: undefined,
    liveAt: undefined,
    pastEnd: 0n,
    mayRepeat: false,
    overlap: new Map<string, bigint>(),
    hasSent: false,
    rest: undefined,
    isLineOpen: false,
    part: undefined,
    isTaken: true,
    isCut: false,
    isTorn: false,
    failure: undefined,
    resume: undefined,
  }
}
