import {
  EventBridgeClient,
  PutEventsCommand,
  type EventBridgeClientConfig,
  type PutEventsRequestEntry,
  type PutEventsResultEntry,
} from '@aws-sdk/client-eventbridge'
import type { Condition } from '../../model/conditions.ts'
import { OperatingError } from '../../model/errors.ts'
import type { Transition } from '../../model/transitions.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { inBatches, type EntryRefusal } from './client/batches.ts'
import { clientTimeouts } from './client/client-timeouts.ts'
import { isThrottle, serviceFailure } from './client/service-failure.ts'

/** A client that gives up on a request after three seconds. */
export function createEventBridgeClient(config: EventBridgeClientConfig = {}): EventBridgeClient {
  return new EventBridgeClient({ requestHandler: clientTimeouts({ connectMs: 1_000, answerMs: 3_000 }), ...config })
}

export interface EventBridgePublisherOptions {
  readonly client: EventBridgeClient
  /** Name or ARN of the bus. */
  readonly bus: string
  readonly clock: Clock
  readonly random: Random
}

/**
 * Puts transitions on an event bus, for people's own rules: source `setpoint`, detail-type `Ready`, `NotReady` or
 * `Failed`, and in the detail `group`, `kind`, `namespace`, `name`, `uid`, `generation`, `resourceVersion` and the
 * `condition` with its states `before` and `after`. A rule may see one twice, with the same uid and resourceVersion.
 * Rejects once some could not be put: THROTTLED or UNAVAILABLE for what may work later, INTERNAL for what is refused
 * for good. The signal ends the wait; the bus may still take the entries of the last request.
 */
export type PublishTransitions = (transitions: readonly Transition[], telling?: Telling) => Promise<void>

export interface Telling {
  readonly signal?: AbortSignal
  /** The bus has taken so many more. */
  readonly onTaken?: (count: number) => void
}

export function createEventBridgePublisher(options: EventBridgePublisherOptions): PublishTransitions {
  const { client, bus, clock, random } = options
  const attempt = `put events on the bus ${bus}`

  async function call(
    batch: readonly PutEventsRequestEntry[],
    { signal, onTaken }: Telling,
  ): Promise<readonly EntryRefusal<PutEventsRequestEntry>[]> {
    if (signal?.aborted === true) throw new OperatingError('UNAVAILABLE', `cannot ${attempt}: it took too long`)
    const { Entries = [] } = await client
      .send(new PutEventsCommand({ Entries: [...batch] }), { ...(signal && { abortSignal: signal }) })
      .catch((error: unknown): never => {
        throw serviceFailure(error, attempt)
      })
    const refused = refusals(batch, Entries)
    onTaken?.(batch.length - refused.length)
    return refused
  }

  return (transitions, telling = {}) =>
    inBatches(
      transitions.map((transition) => entryOf(transition, bus)),
      {
        attempt,
        sizeMax: 10,
        call: (batch) => call(batch, telling),
        signal: telling.signal,
        clock,
        random,
      },
    )
}

/**
 * A request may have 256 KB, by ten entries (EventBridge User Guide, "Calculating PutEvents event entry size"). With
 * texts of this length, ten entries are below it whatever they say, and none need be counted.
 */
const charactersMax = { message: 1_000, reason: 200, other: 50 }

function entryOf({ type, key, condition, ...identity }: Transition, bus: string): PutEventsRequestEntry {
  const { before, after } = condition
  const states = { before: before === undefined ? null : shorten(before), after: shorten(after) }
  const Detail = JSON.stringify({ ...key, ...identity, condition: { type: condition.type, ...states } })
  return { EventBusName: bus, Source: 'setpoint', DetailType: type, Detail }
}

/** A status says what its writer likes, where the schema of its kind is loose. */
function shorten(condition: Condition): Condition {
  const { type, status, reason, message, lastTransitionTime, observedGeneration } = condition
  return {
    type: cut(type),
    status: cut(status) as Condition['status'],
    reason: cut(reason, charactersMax.reason),
    message: cut(message, charactersMax.message),
    lastTransitionTime: cut(lastTransitionTime),
    ...(typeof observedGeneration === 'number' && { observedGeneration }),
  }
}

function cut(text: unknown, length = charactersMax.other): string {
  return (typeof text === 'string' ? text : (JSON.stringify(text) ?? '')).slice(0, length)
}

/** The answer has an entry for each of the request's, in its order. */
function refusals(
  batch: readonly PutEventsRequestEntry[],
  results: readonly PutEventsResultEntry[],
): readonly EntryRefusal<PutEventsRequestEntry>[] {
  return batch.flatMap((entry, i) => {
    const { ErrorCode: code, ErrorMessage: message = '' } = results[i] ?? {}
    return code === undefined ? [] : [{ entry, code, message, isFinal: !isPassing(code) }]
  })
}

function isPassing(code: string): boolean {
  return isThrottle(code) || /^(Internal|ServiceUnavailable)/.test(code)
}
