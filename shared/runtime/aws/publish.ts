import { createEventBridgeClient, createEventBridgePublisher } from '../../adapters/aws/eventbridge-publisher.ts'
import type { StreamChange } from '../../adapters/aws/dynamodb/dynamodb-stream.ts'
import { transitionsOf } from '../../model/transitions.ts'
import type { AwsBoundary, Seeing } from './boundary.ts'
import { busOf } from './environment.ts'

/**
 * Tells the event bus, if there is one, what became ready and what failed. What cannot be told in some seconds of tries
 * is logged and left: the status says it all, and reconciles must not wait for a bus.
 */
export function openPublish(
  { environment, eventbridge, clock, random }: AwsBoundary,
  { logger }: Seeing,
): (changes: readonly StreamChange[]) => Promise<void> {
  const bus = busOf(environment)
  if (bus === undefined) return async () => {}
  const client = createEventBridgeClient(eventbridge)
  const publish = createEventBridgePublisher({ client, bus, clock, random })
  return async (changes) => {
    try {
      await publish(changes.flatMap(({ before, stored }) => transitionsOf(before?.object, stored.object)))
    } catch (error) {
      logger.error('transitions not published on the event bus', { bus, error: String(error) })
    }
  }
}
