import type { ServedKind } from '../../model/served-kind.ts'
import { apiVersionOf, type ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { ChangeBatch } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import { expected, failureStatus, isOurs } from '../failure.ts'
import type { View } from '../view.ts'
import type { Membership } from './membership.ts'
import type { PendingBatches } from './pending-batches.ts'

/**
 * The lines of a watch. A first space makes every gateway send the headers; a space in ten seconds of silence tells a
 * client that the server is there (client-node gives up after thirty). JSON allows a space ahead of a value, and every client
 * takes it, whereas the Python client from 34.1 on fails on an empty line. Nothing is read ahead of the client.
 */
export interface Stream {
  readonly kind: ServedKind
  readonly view: View
  readonly clock: Clock
  /** Pages of the objects that are told first. */
  readonly initial: AsyncIterable<readonly StoredObject[]> | readonly (readonly StoredObject[])[]
  /** Where the initial objects end, if the client wants to know. */
  readonly initialEnd: string | undefined
  readonly membership: Membership
  readonly changes: PendingBatches
  readonly bookmarks: boolean
  readonly endsAtMs: number
  /** Told of failures that are not the client's. */
  readonly onFailure: (error: unknown) => void
}

/** Says nothing but that the server is there. */
const sign = ' '
const silenceMs = 10_000
const bookmarkMs = 60_000

export async function* eventLines(stream: Stream): AsyncGenerator<string> {
  try {
    yield sign
    yield* initialLines(stream)
    yield* changeLines(stream)
  } catch (error) {
    const told = expected(error)
    if (isOurs(told)) stream.onFailure(error)
    yield line('ERROR', JSON.stringify(failureStatus(told)))
  } finally {
    stream.changes.end()
  }
}

async function* initialLines(stream: Stream): AsyncGenerator<string> {
  const { initial, initialEnd, view, membership } = stream
  for await (const page of initial) {
    for (const { object } of page) membership.knows(object)
    if (page.length > 0) yield page.map((stored) => line('ADDED', view.next(stored))).join('')
  }
  if (initialEnd !== undefined) yield bookmarkLine(stream, initialEnd, { 'k8s.io/initial-events-end': 'true' })
}

async function* changeLines(stream: Stream): AsyncGenerator<string> {
  const { changes, clock, bookmarks, endsAtMs } = stream
  let wroteAtMs = clock.nowMs()
  let bookmarkAtMs = wroteAtMs + bookmarkMs
  for (;;) {
    const batch = await changes.next(Math.min(wroteAtMs + silenceMs, endsAtMs) - clock.nowMs())
    if (batch?.done === true) return
    const isOver = clock.nowMs() >= endsAtMs
    let lines = batch === undefined ? '' : batchLines(stream, batch.value)
    if (bookmarks && (isOver || clock.nowMs() >= bookmarkAtMs)) {
      lines += bookmarkLine(stream, changes.resourceVersion)
      bookmarkAtMs = clock.nowMs() + bookmarkMs
    }
    if (lines === '' && clock.nowMs() - wroteAtMs >= silenceMs) lines = sign
    if (lines !== '') {
      yield lines
      wroteAtMs = clock.nowMs()
    }
    if (isOver) return
  }
}

function batchLines({ membership, view, kind }: Stream, { changes }: ChangeBatch): string {
  let lines = ''
  for (const change of changes) {
    const event = membership.eventOf(change)
    if (event !== undefined) lines += line(event, view.next(inVersion(kind, change.stored)))
  }
  return lines
}

function line(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`
}

/** The feed tells objects in the version they are stored in. */
function inVersion(kind: ServedKind, stored: StoredObject): StoredObject {
  if (kind.version === kind.storageVersion) return stored
  return { ...stored, object: { ...stored.object, apiVersion: apiVersionOf(kind.group, kind.version) } }
}

/** An object of the kind that says nothing but a resourceVersion. */
function bookmarkLine({ kind, view }: Stream, resourceVersion: string, annotations?: Record<string, string>): string {
  const metadata = { resourceVersion, ...(annotations === undefined ? {} : { annotations }) }
  const object = {
    apiVersion: apiVersionOf(kind.group, kind.version),
    kind: kind.kind,
    metadata,
  } as unknown as ApiObject
  return line('BOOKMARK', view.next({ object, engine: {} }))
}
