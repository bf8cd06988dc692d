import type { LocalWorkQueue } from '../../adapters/local/queue/local-work-queue.ts'
import { queuedKeyKind, queueKind } from '../../api/computed/computed-kinds.ts'
import {
  computedObject,
  type ComputedObjects,
  type ComputedPage,
  type ComputedPlace,
  type ComputedQuery,
} from '../../api/computed/computed-objects.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import { microTimestamp } from '../../model/time.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { describeKey, isToldIn, placeAbout } from '../computed/about-key.ts'
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
    const found = place.name.startsWith(`${name}.`) ? findIn(source, { name, queue }, place) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function findIn(
  source: QueuesSource,
  { name, queue }: { readonly name: string; readonly queue: LocalWorkQueue },
  place: ComputedPlace,
): ApiObject | undefined {
  for (const queued of queue.list()) {
    if (!place.name.endsWith(queued.key.name) || !isToldIn(place.namespace, queued.key)) continue
    const found = describeQueued(source, name, queued)
    if (found.metadata.name === place.name) return found
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
