import { conditionsOf } from '../../../model/conditions.ts'
import {
  deletionPolicyAnnotation,
  ownResyncMs,
  pausedAnnotation,
  resyncAnnotation,
  unreadPause,
} from '../../../model/control-annotations.ts'
import { attemptsOf, failureOf, retryAtMsOf } from '../../../model/engine-state.ts'
import { humanDuration } from '../../../model/human-duration.ts'
import { isDeleting, type ApiObject } from '../../../model/object.ts'
import { nextPassMs } from '../../../model/wheel.ts'
import type { Controller } from '../../../reconciler/controller.ts'
import type { Facts } from './facts.ts'
import { currentWait, foreignFinalizers, mayBeLetPass, objectSituationOf } from './situation.ts'
import { agoText, section, until, withMessage } from './words.ts'

/** The questions about what follows: what is done, when it runs next, and what it says of itself. */

export function explainAction(facts: Facts): readonly string[] {
  return [work(facts), ...notPaused(facts), ...finalizers(facts)]
}

function notPaused({ controller, stored: { object } }: Facts): readonly string[] {
  const given = unreadPause(object)
  if (controller === undefined || given === undefined) return []
  return [
    `Its annotation ${pausedAnnotation} is "${given}", not "true", so it has no effect: the object is not paused.`,
  ]
}

function work(facts: Facts): string {
  const { controller, stored } = facts
  if (controller === undefined) return 'None: no reconciler handles this kind.'
  const { name, timeoutMs, finalizer = '' } = controller
  switch (objectSituationOf(facts)) {
    case 'paused':
      return 'None while the object is paused.'
    case 'stopped':
      return `None: ${name} has given generation ${stored.object.metadata.generation} up.`
    case 'held':
      return `None by ${name}: its clean-up is done, or there was none.`
    default:
      return isDeleting(stored.object)
        ? `${name} ${cleanup(facts)}; after that, the finalizer ${finalizer} goes.`
        : `${name} runs its reconcile function: one run at a time, none longer than ${humanDuration(timeoutMs)}.`
  }
}

function cleanup({ controller, stored: { object } }: Facts): string {
  const policy = object.metadata.annotations?.[deletionPolicyAnnotation] ?? controller?.deletionPolicy
  return policy === 'Retain' ? 'leaves what it made outside, as its policy says' : 'runs its clean-up'
}

function finalizers(facts: Facts): readonly string[] {
  if (!isDeleting(facts.stored.object)) return []
  return foreignFinalizers(facts).map(
    (name) => builtInFinalizers[name] ?? `It stays until somebody takes ${name} away.`,
  )
}

const builtInFinalizers: Readonly<Record<string, string>> = {
  foregroundDeletion: 'Its children that block its deletion are deleted first (foregroundDeletion).',
  orphan: 'Its children are orphaned first (orphan).',
}

export function explainRequeue(facts: Facts): readonly string[] {
  const { controller, stored, nowMs } = facts
  if (controller === undefined) return ['Never: no reconciler handles this kind.']
  const { wakeAtMs } = stored.engine
  return [
    nextRun(facts),
    ...laterRetry(facts),
    ...(wakeAtMs === undefined ? [] : [`Another run was asked for: ${until(wakeAtMs, nowMs)}.`]),
    resync(controller, facts),
    ...unreadResync(facts),
    ...sooner(facts),
  ]
}

/** What runs it ahead of all timers; nothing does where no run takes place at all. */
function sooner(facts: Facts): readonly string[] {
  const situation = objectSituationOf(facts)
  if (situation === 'paused') return ['No change runs it before the pause ends.']
  if (situation === 'held') return []
  return [
    `A change of the object, of a child, or of an object that it refers to runs it ${delay(facts)}. An edit of the spec resets the backoff.`,
  ]
}

function delay({ controller, stored }: Facts): string {
  const debounceMs = controller?.debounceMs ?? 0
  if (currentWait(stored) === 'RateLimited') return 'as soon as its rate limit allows'
  return debounceMs > 0 ? `within ${humanDuration(debounceMs)}, the time of its debounce` : 'at once'
}

function nextRun(facts: Facts): string {
  const { stored, nowMs } = facts
  const { wait, memory } = stored.engine
  const attempt = failureOf(stored.engine)?.attempt ?? 1
  const at = capital(until(wait?.atMs ?? nowMs, nowMs))
  switch (currentWait(stored)) {
    case 'Backoff':
      return `${at}, after failure ${attempt}: the wait doubles from 1 s to 1000 s.`
    case 'RetryAfter':
      return `${at}, which is the time that the remote API asked for.`
    case 'RateLimited':
      return memory?.reservedMs === undefined
        ? `${at}: its own rate limit holds it back.`
        : `${at}: the rate limit of its controller lets others run first.`
    case 'HotLoop':
      return `${at}: it runs in a loop and is slowed down.`
    case 'Expectation':
      return `${at} at the latest, when its expectation must be met.`
    case 'Resync':
      return `${at} at the latest, for the resync.`
    case 'Stopped':
      return wait?.atMs === undefined
        ? 'No timer is set: it has stopped.'
        : `${at}: it has stopped, and is looked at again then.`
    case undefined:
      return objectSituationOf(facts) === 'changed' && !mayBeLetPass(facts)
        ? 'Now: its wake-up is in the queue, or on the way to it.'
        : 'No timer is set.'
    default:
      return `${at} at the latest, as its last run asked for.`
  }
}

/** A run that a limit has put off is no retry yet: a failure of it leaves the time of the retry as it was. */
function laterRetry({ stored: { object, engine }, nowMs }: Facts): readonly string[] {
  const attempt = attemptsOf(engine, object.metadata.generation)
  const retryAtMs = retryAtMsOf(engine) ?? 0
  if (attempt === 0 || retryAtMs <= Math.max(nowMs, engine.wait?.atMs ?? 0)) return []
  return [`If that run fails, the retry after failure ${attempt} comes at its time: ${until(retryAtMs, nowMs)}.`]
}

function resync({ resyncMs }: Controller, { stored, nowMs }: Facts): string {
  const { object } = stored
  const ownMs = ownResyncMs(object)
  const periodMs = ownMs ?? resyncMs
  if (periodMs === 0) return `There is no resync${ownMs === undefined ? '' : `: ${byAnnotation}`}.`
  const every = `every ${humanDuration(periodMs)}${ownMs === undefined ? '' : `, ${byAnnotation}`}`
  const wait = currentWait(stored)
  // A period of its own is a timer, and these waits take the timer's place.
  if (ownMs !== undefined && (wait === 'Backoff' || wait === 'RetryAfter'))
    return `Once that wait is over, the resync runs it ${every}.`
  const passMs = nextPassMs(object.metadata.uid, nowMs, periodMs)
  return `The resync runs it ${every}: next ${until(passMs, nowMs)}.`
}

function unreadResync({ stored: { object } }: Facts): readonly string[] {
  const given = object.metadata.annotations?.[resyncAnnotation]
  if (given === undefined || ownResyncMs(object) !== undefined) return []
  return [`Its annotation ${resyncAnnotation} is "${given}", which is not a duration such as 5m, so it has no effect.`]
}

const byAnnotation = `by its own annotation ${resyncAnnotation}`

export function explainReports({ stored: { object, engine }, events, nowMs }: Facts): readonly string[] {
  const failure = failureOf(engine)
  const conditions = conditionsOf(object).map(({ type, status, reason, message, lastTransitionTime }) => {
    const since = agoText(lastTransitionTime, nowMs)
    return `${type}=${status}${since === undefined ? '' : `, since ${since}`}  ${withMessage(reason, message)}`
  })
  return [
    ...(conditions.length === 0 ? ['It has no conditions.'] : conditions),
    ...(failure === undefined ? [] : [`Last error: ${failure.error}`]),
    ...(events.length === 0 ? ['No events in the last hour.'] : []),
    ...section(
      'Events of the last hour:',
      events.map((event) => eventLine(event, nowMs)),
    ),
  ]
}

function eventLine(event: ApiObject, nowMs: number): string {
  const count = Number(event['count'] ?? 1)
  const seen = agoText(String(event['lastTimestamp']), nowMs) ?? 'at an unknown time'
  const reason = `${String(event['type'])} ${String(event['reason'])}${count > 1 ? ` (${count} times)` : ''}`
  return `${seen}  ${withMessage(reason, String(event['message'] ?? ''))}`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
