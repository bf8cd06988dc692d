import { digest } from '../../model/digest.ts'
import { absentIfNotFound, hasCode, isAway } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import { isOvertakenWrite, onNewest } from '../../model/on-newest.ts'
import { formatOrderedTimestamp } from '../../model/time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { eventKind } from '../../resources/built-in-kinds.ts'
import type { Resources } from '../../resources/resources.ts'

export interface RecordedEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** Who reports: the controller's name. */
  readonly component: string
}

/**
 * Tells people what happened to an object. Equal events become one with a count, and their times keep the order in
 * which they were recorded. A lost event is logged. Resolves false if it was lost to a failure that passes, so that it
 * may be recorded later; what is refused is refused for good.
 */
export interface EventRecorder {
  record(about: ApiObject, event: RecordedEvent): Promise<boolean>
}

export function createEventRecorder(options: {
  readonly resources: Resources
  readonly clock: Clock
  readonly logger: Logger
}): EventRecorder {
  const { resources, clock, logger } = options
  const manager = { manager: 'setpoint-events' }
  let last: { readonly ms: number; readonly place: number } | undefined

  /** kubectl sorts by these times, and events of one run often are of one moment. */
  function nextTime(): string {
    const ms = clock.nowMs()
    last = { ms, place: last?.ms === ms ? last.place + 1 : 0 }
    return formatOrderedTimestamp(ms, last.place)
  }

  async function count(about: ApiObject, event: RecordedEvent, now: string): Promise<void> {
    const at = placeOf(about, event)
    const there = await absentIfNotFound(resources.get(eventKind, at))
    // The write before, whose answer was lost, was done.
    if (there?.object['lastTimestamp'] === now) return
    if (there === undefined) {
      await resources.create(eventKind, body(about, event, { at, now }), manager)
      return
    }
    const { resourceVersion } = there.object.metadata
    const again = { count: Number(there.object['count'] ?? 1) + 1, lastTimestamp: now, metadata: { resourceVersion } }
    await resources.patch(eventKind, at, { type: 'merge', body: again }, manager)
  }

  return {
    record: async (about, event) => {
      const now = nextTime()
      try {
        await onNewest(() => count(about, event, now), { isConflict: isToBeReadAgain })
        return true
      } catch (error) {
        logger.warn('event not recorded', { reason: event.reason, name: about.metadata.name, error: String(error) })
        return !isAway(error)
      }
    },
  }
}

/** An equal event was recorded just now, or was removed; or the answer to the write was lost. */
function isToBeReadAgain(error: unknown): boolean {
  return isOvertakenWrite(error) || hasCode(error, 'ALREADY_EXISTS', 'WRITE_UNKNOWN')
}

interface EventPlace {
  readonly namespace: string
  readonly name: string
}

/** Events of cluster-scoped objects are in the default namespace. The name is the same for equal events. */
function placeOf({ metadata }: ApiObject, event: RecordedEvent): EventPlace {
  const id = digest(`${metadata.uid} ${event.component} ${event.type} ${event.reason} ${event.message}`)
  // A part of a name may end with a mark, which no name does.
  const name = metadata.name.slice(0, 236).replace(/[-.]+$/, '')
  return { namespace: metadata.namespace ?? 'default', name: `${name}.${id}` }
}

function body(
  about: ApiObject,
  { type, reason, message, component }: RecordedEvent,
  { at, now }: { readonly at: EventPlace; readonly now: string },
) {
  const { name, namespace, uid, resourceVersion } = about.metadata
  return {
    metadata: { ...at },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      uid,
      resourceVersion,
    },
    type,
    reason,
    message: message.slice(0, messageLengthMax),
    count: 1,
    firstTimestamp: now,
    lastTimestamp: now,
    source: { component },
    reportingComponent: component,
    reportingInstance: component,
  }
}

/** Kubernetes' own limit. */
const messageLengthMax = 1_024
