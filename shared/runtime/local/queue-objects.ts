import type { LocalWorkQueue } from '../../adapters/local/queue/local-work-queue.ts'
import { queuedKeyKind, queueKind } from '../../api/computed/computed-kinds.ts'
import {
  computedObject,
  type ComputedObjects,
  type ComputedPage,
  type ComputedPlace,
  type ComputedQuery,
} from '../../api/computed/computed-objects.ts'
import { OperatingError } from '../../model/errors.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import { microTimestamp } from '../../model/time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { Kind } from '../../reconciler/kind.ts'
import { clusterNamespace, describeKey, isToldIn, placeAbout } from '../computed/about-key.ts'
import { pageOf } from '../computed/page-of.ts'

export interface QueuesSource {
  readonly queues: ReadonlyMap<string, LocalWorkQueue>
  readonly controllers: readonly Controller[]
  readonly clock: Clock
}

type Queued = ReturnType<LocalWorkQueue['list']> extends Iterable<infer One> ? One : never

/** So many keys of the queues are looked at for one page. */
const keysMax = 10_000

/** The queues of a process, each with its length. */
export function queueObjects({ queues }: QueuesSource): ComputedObjects {
  const describe = ([name, queue]: [string, LocalWorkQueue]): ApiObject =>
    computedObject(queueKind, { namespace: '', name }, lengthOf(name, queue))
  return {
    kind: queueKind,
    list: async (query) => pageOf([...queues].map(describe), query),
    find: async ({ name }) => {
      const queue = queues.get(name)
      return queue && describe([name, queue])
    },
  }
}

function lengthOf(name: string, queue: LocalWorkQueue) {
  const oldestSeconds = Math.round(queue.longestWaitMs() / 1_000)
  return { controllers: [name], waiting: queue.depth(), oldestSeconds }
}

/** What stands in the queues of a process: which objects run, which can run, and which wait in the queue. */
export function queuedKeyObjects(source: QueuesSource): ComputedObjects {
  return {
    kind: queuedKeyKind,
    list: async (query) => listKeys(source, query),
    find: async (place) => findKey(source, place),
  }
}

/** Pages go on behind the last key that was looked at, by the order in which keys came into its queue. */
function listKeys(source: QueuesSource, { namespace, limit, after }: ComputedQuery): ComputedPage {
  const [fromQueue, order] = after ?? [0, 0]
  const items: ApiObject[] = []
  let looked = 0
  for (const [i, [name, queue]] of [...source.queues].entries()) {
    if (i < fromQueue) continue
    let last = i === fromQueue ? order : 0
    for (const queued of queue.list(last)) {
      if (items.length === limit || looked === keysMax) return { items, end: [i, last] }
      looked++
      last = queued.order
      if (isToldIn(namespace, queued.key)) items.push(describeQueued(source, name, queued))
    }
  }
  return { items }
}

function findKey(source: QueuesSource, place: ComputedPlace): ApiObject | undefined {
  for (const [name, queue] of source.queues) {
    if (!place.name.startsWith(`${name}.`)) continue
    const kind = source.controllers.find((one) => one.name === name)?.kind
    const found = kind === undefined ? findAmong(source, { name, queue }, place) : findOf(kind, { name, queue }, place)
    if (found !== undefined) return describeQueued(source, name, found)
  }
  return undefined
}

interface NamedQueue {
  readonly name: string
  readonly queue: LocalWorkQueue
}

/** The queue of a controller has keys of one kind, so the name of what is told says the key. */
function findOf({ group, kind }: Kind, { name, queue }: NamedQueue, place: ComputedPlace): Queued | undefined {
  const key = { group, kind, name: place.name.slice(name.length + 1) }
  const found = queue.find({ ...key, namespace: place.namespace })
  // Entries of objects without a namespace are in this one.
  return found ?? (place.namespace === clusterNamespace ? queue.find({ ...key, namespace: '' }) : undefined)
}

/** A queue of the engine has keys of any kind. Throws TOO_LARGE where more wait than may be looked at. */
function findAmong(source: QueuesSource, { name, queue }: NamedQueue, place: ComputedPlace): Queued | undefined {
  let looked = 0
  for (const queued of queue.list()) {
    if (looked++ === keysMax)
      throw new OperatingError('TOO_LARGE', `more than ${keysMax} keys wait in ${name}: list queuedkeys, page by page`)
    if (!isToldIn(place.namespace, queued.key)) continue
    if (placeAbout(partOf(source, name, queued.key), queued.key).name === place.name) return queued
  }
  return undefined
}

function describeQueued(source: QueuesSource, name: string, { key, state, ms, lane, reason }: Queued): ApiObject {
  const isAhead = state === 'held' || state === 'delayed'
  const nowMs = source.clock.nowMs()
  const when = isAhead ? { until: microTimestamp(nowMs + ms) } : { since: microTimestamp(nowMs - ms) }
  const status = { controller: name, object: describeKey(key), state, ...when, lane, reason }
  return computedObject(queuedKeyKind, placeAbout(partOf(source, name, key), key), status)
}

/** The queue of a controller has keys of one kind; those of the engine have any. */
function partOf({ controllers }: QueuesSource, name: string, { kind }: ObjectKey): string {
  return controllers.some((one) => one.name === name) ? name : `${name}.${kind.toLowerCase()}`
}
