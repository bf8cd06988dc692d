import { parseJson } from '../../../model/parse-json.ts'
import { createHash } from 'node:crypto'
import type { JsonObject } from '../../../model/json.ts'
import { keyText, parseKeyText } from '../../../model/object-key.ts'
import type { Delivery, Lane, Origin, WakeUp } from '../../../ports/work-queue.ts'

/**
 * A wake-up as a message of SQS FIFO. Its body names the control loop, because loops may share a queue; it says which
 * key is to be looked at and never what it should look like, so that a message that is late, doubled or replayed says
 * nothing wrong.
 */
export interface SqsMessage {
  readonly MessageBody: string
  /** One group per loop and key: its messages have one holder. */
  readonly MessageGroupId: string
  readonly MessageDeduplicationId: string
}

export interface LoopDelivery {
  readonly loop: string
  readonly delivery: Delivery
  /** When it came into the queue, where that is said. */
  readonly sentAtMs?: number
}

/** What SQS hands out, in the words of a Lambda event (`SQSRecord`). */
export interface ReceivedMessage {
  readonly body: string
  readonly receiptHandle: string
  readonly attributes: {
    readonly ApproximateReceiveCount: string
    /** Milliseconds since the epoch. */
    readonly ApproximateFirstReceiveTimestamp?: string
    readonly SentTimestamp?: string
  }
}

/**
 * A message that is none of ours: nothing can be said of its key, and it will be the same when it comes again. Whoever
 * takes dead letters drops it with an alarm; the key, if it was one, is found by the resync.
 */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage'
}

/** Below 1 KB whatever the names are: a reason is cut to what is left for it. SQS bills each 64 KB. */
const bodyBytesMax = 1_024
/** SQS takes 128 characters; EventBridge and its pipes take 100 for groups. */
const idCharactersMax = 128

export function messageOf(loop: string, wakeUp: WakeUp): SqsMessage {
  const group = hash(`${loop} ${keyText(wakeUp.key)}`)
  // With the group in it, since SQS, without high throughput, remembers ids for the whole queue.
  const id = `${group}:${wakeUp.dedupId}`
  return {
    MessageBody: bodyOf(loop, wakeUp),
    MessageGroupId: group,
    MessageDeduplicationId: isId(id) ? id : hash(id),
  }
}

/** The wake-up in a message, and of which loop. Throws MalformedMessage. */
export function deliveryOf({ body, receiptHandle, attributes }: ReceivedMessage): LoopDelivery {
  const { loop, ...fields } = fieldsOf(body)
  const receiveCount = Number(attributes.ApproximateReceiveCount)
  const { ApproximateFirstReceiveTimestamp: first, SentTimestamp: sent } = attributes
  return {
    loop,
    delivery: {
      wakeUp: wakeUpOf(fields),
      handle: receiptHandle,
      receiveCount,
      ...(first === undefined ? {} : { firstReceivedAtMs: Number(first) }),
    },
    ...(sent === undefined ? {} : { sentAtMs: Number(sent) }),
  }
}

/** 43 characters that are allowed in ids. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

function isId(text: string): boolean {
  return text.length <= idCharactersMax && /^[!-~]+$/.test(text)
}

function bodyOf(loop: string, { key, reason, ...rest }: WakeUp): string {
  const fields = { loop, key: keyText(key), ...rest }
  const left = bodyBytesMax - ascii({ ...fields, reason: '' }).length
  return ascii({ ...fields, reason: cut(reason, left) })
}

/** The beginning of a text, if need be, that takes so many bytes in the body. */
function cut(text: string, bytesMax: number): string {
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += ascii(character).length - 2
    if (bytes > bytesMax) break
    end += character.length
  }
  return text.slice(0, end)
}

/** SQS refuses some characters that names and reasons may have; as ASCII, every JSON is a body. */
function ascii(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[^ -~]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

interface Fields {
  readonly loop: string
  readonly key: string
  readonly origin: Origin
  readonly dedupId: string
  readonly lane: Lane
  readonly reason: string
  readonly resourceVersion?: string
  readonly notBeforeMs?: number
  readonly timerAtMs?: number
  readonly ticket?: string
}

function fieldsOf(body: string): Fields {
  const value = parseBody(body)
  if (value !== undefined && isFields(value)) return value as unknown as Fields
  throw new MalformedMessage(`not a wake-up: ${body.slice(0, 200)}`)
}

function parseBody(body: string): JsonObject | undefined {
  try {
    const value: unknown = parseJson(body)
    return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined
  } catch {
    // What is no JSON is malformed like what is the wrong JSON.
    return undefined
  }
}

/** Not what a later version adds, so that messages outlive a deployment in both directions. */
function isFields(value: JsonObject): boolean {
  const { loop, key, dedupId, reason, resourceVersion = '', ticket = '' } = value
  const texts = [loop, key, dedupId, reason, resourceVersion, ticket]
  const times = [value['notBeforeMs'] ?? 0, value['timerAtMs'] ?? 0]
  return (
    texts.every((text) => typeof text === 'string') &&
    times.every((time) => typeof time === 'number') &&
    ['change', 'resync', 'timer'].includes(String(value['origin'])) &&
    ['urgent', 'background'].includes(String(value['lane'])) &&
    String(key).split('/').length === 4
  )
}

function wakeUpOf({ key, origin, dedupId, lane, reason, ...fields }: Omit<Fields, 'loop'>): WakeUp {
  const { resourceVersion, notBeforeMs, timerAtMs, ticket } = fields
  return {
    key: parseKeyText(key),
    origin,
    dedupId,
    lane,
    reason,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
    ...(timerAtMs === undefined ? {} : { timerAtMs }),
    ...(ticket === undefined ? {} : { ticket }),
  }
}
