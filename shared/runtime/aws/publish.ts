import { createEventBridgeClient, createEventBridgePublisher } from '../../adapters/aws/eventbridge-publisher.ts'
import { hasCode, OperatingError } from '../../model/errors.ts'
import { transitionsOf, type Transition } from '../../model/transitions.ts'
import type { Change } from '../../ports/change-feed.ts'
import { steadyMsOf, type Clock } from '../../ports/clock.ts'
import type { AwsBoundary, Seeing } from './boundary.ts'
import { busOf } from './environment.ts'

/** Until when whoever publishes must have come to its end, by its clock. */
export type Publish = (changes: readonly Change[], untilMs: number) => Promise<void>

/**
 * Tells the event bus, if there is one, what became ready and what failed. All wake-ups of a shard come behind it, so
 * the bus has half a second. A bus that is away is left alone for half a minute, and what happens meanwhile is not
 * told. The log says how many events that are: the status says it all, and reconciles must not wait for a bus.
 */
export function openPublish({ environment, eventbridge, clock, random }: AwsBoundary, { logger }: Seeing): Publish {
  const bus = busOf(environment)
  if (bus === undefined) return async () => {}
  const client = createEventBridgeClient(eventbridge)
  const publish = createEventBridgePublisher({ client, bus, clock, random })
  let answerMs = firstAnswerMs
  let restsUntilMs = 0
  let skipped = 0

  async function tell(transitions: readonly Transition[], untilMs: number): Promise<void> {
    const isResting = steadyMsOf(clock) < restsUntilMs
    const isSkipped = isResting || clock.nowMs() + answerMs + spareMs > untilMs
    if (isSkipped) skipped += transitions.length
    if (skipped > 0 && !isResting) {
      logger.error('transitions not published: the event bus was left alone', { bus, events: skipped })
      skipped = 0
    }
    if (!isSkipped) await put(transitions)
  }

  async function put(transitions: readonly Transition[]): Promise<void> {
    let events = transitions.length
    const onTaken = (count: number): void => void (events -= count)
    try {
      await endWithin(answerMs, clock, (signal) => publish(transitions, { signal, onTaken }))
    } catch (error) {
      // What the bus refuses for good took no time, and says nothing of the next.
      if (hasCode(error, 'THROTTLED', 'UNAVAILABLE')) restsUntilMs = steadyMsOf(clock) + restMs
      logger.error('transitions not published on the event bus', { bus, events, error: String(error) })
    }
    answerMs = laterAnswerMs
  }

  return async (changes, untilMs) => {
    try {
      const transitions = changes.flatMap(({ before, stored }) => transitionsOf(before?.object, stored.object))
      if (transitions.length > 0) await tell(transitions, untilMs)
    } catch (error) {
      logger.error('transitions not published: they cannot be told', { bus, error: String(error) })
    }
  }
}

/** With the connection, and all else that only the first request of a process needs. */
const firstAnswerMs = 2_000
const laterAnswerMs = 500
/** For what comes behind it. */
const spareMs = 1_000
const restMs = 30_000

/** What is not done by then is told to end. It says why it was not done, unless it does not hear, either. */
async function endWithin(ms: number, clock: Clock, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const ending = new AbortController()
  const waiting = new AbortController()
  const working = work(ending.signal)
  const late = clock
    .sleep(ms, waiting.signal)
    .then(() => ending.abort())
    .then(() => clock.sleep(graceMs, waiting.signal))
    .then(() => {
      throw new OperatingError('UNAVAILABLE', `no answer within ${ms} ms`)
    })
  try {
    await Promise.race([working, late])
  } finally {
    waiting.abort()
  }
}

const graceMs = 50
