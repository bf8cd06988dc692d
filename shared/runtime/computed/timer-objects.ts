import { timerKind } from '../../api/computed/computed-kinds.ts'
import {
  computedObject,
  type ComputedObjects,
  type ComputedPage,
  type ComputedPlace,
  type ComputedQuery,
} from '../../api/computed/computed-objects.ts'
import { dueAtMs, failureOf } from '../../model/engine-state.ts'
import { hasCode, OperatingError } from '../../model/errors.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import { microTimestamp } from '../../model/time.ts'
import type { DueTimer, ObjectIndex } from '../../ports/object-index.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { clusterNamespace, describeKey, isToldIn, placeAbout } from './about-key.ts'

export interface TimersSource {
  readonly controllers: readonly Controller[]
  readonly index: Pick<ObjectIndex, 'due'>
  readonly store: Pick<ObjectStore, 'get'>
}

/** Each costs the read of an object. */
const timersMax = 100
/** So many entries of the index are looked at for one page. */
const entriesMax = 1_000
/** More timers of one millisecond than this are not paged through. */
const sameTimeMax = 5_000

/** The timers of objects, the soonest first. Pages go on from the time of the last timer. */
export function timerObjects(source: TimersSource): ComputedObjects {
  return {
    kind: timerKind,
    list: (query) => listTimers(source, query),
    find: (place) => findTimer(source, place),
  }
}

async function findTimer(source: TimersSource, { namespace, name }: ComputedPlace): Promise<ApiObject | undefined> {
  for (const controller of source.controllers.filter((one) => name.startsWith(`${one.name}.`))) {
    const at = { ...placeOf(controller, namespace), name: name.slice(controller.name.length + 1) }
    const { group, kind } = controller.kind
    const found = await describeTimer({ controller, key: { group, kind, ...at } }, source)
    if (found !== undefined && found.metadata.namespace === namespace) return found
  }
  return undefined
}

function placeOf({ kind }: Controller, namespace: string): { readonly namespace: string } {
  return { namespace: !kind.namespaced && namespace === clusterNamespace ? '' : namespace }
}

async function listTimers(source: TimersSource, { namespace, limit, after }: ComputedQuery): Promise<ComputedPage> {
  const [fromMs, told] = after ?? [0, 0]
  if (told > sameTimeMax)
    throw new OperatingError('BAD_REQUEST', `more than ${sameTimeMax} timers are due at one moment: list one namespace`)
  const wanted = Math.min(limit, timersMax)
  const many = told + (namespace === '' ? wanted : entriesMax) + 1
  const read = await Promise.all(
    source.controllers.map((controller) => readTimers(source, { controller, many, fromMs })),
  )
  const soonest = read.flat().toSorted((a, b) => a.dueAtMs - b.dueAtMs)
  const page = soonest.slice(told, many - 1)
  const { chosen, looked } = choose(page, { namespace, wanted })
  const shown = await Promise.all(chosen.map((timer) => describeTimer(timer, source)))
  const items = shown.filter((one) => one !== undefined)
  const last = page[looked - 1]
  if (last === undefined || told + looked >= soonest.length) return { items }
  const same = soonest.slice(0, told + looked).filter((timer) => timer.dueAtMs === last.dueAtMs).length
  return { items, end: [last.dueAtMs, same] }
}

interface FoundTimer {
  readonly controller: Controller
  readonly key: ObjectKey
}

type Entry = FoundTimer & DueTimer

async function readTimers(
  { index }: TimersSource,
  { controller, many, fromMs }: { readonly controller: Controller; readonly many: number; readonly fromMs: number },
): Promise<readonly Entry[]> {
  const timers = await index.due(controller.kind, Number.MAX_SAFE_INTEGER, many, fromMs)
  return timers.map((timer) => ({ controller, ...timer }))
}

/** The first ones of a namespace, and how many were looked at for them. */
function choose(
  page: readonly Entry[],
  { namespace, wanted }: { readonly namespace: string; readonly wanted: number },
): { readonly chosen: readonly Entry[]; readonly looked: number } {
  const chosen: Entry[] = []
  let looked = 0
  for (const entry of page) {
    if (chosen.length === wanted) break
    looked++
    if (isToldIn(namespace, entry.key)) chosen.push(entry)
  }
  return { chosen, looked }
}

/** Undefined for an object that is gone, waits for nothing any more, or cannot be read. */
async function describeTimer({ controller, key }: FoundTimer, { store }: TimersSource): Promise<ApiObject | undefined> {
  const stored = await readStored(store, key)
  const dueMs = stored && dueAtMs(stored.engine)
  if (stored === undefined || dueMs === undefined) return undefined
  const error = failureOf(stored.engine)?.error
  return computedObject(timerKind, placeAbout(controller.name, key), {
    controller: controller.name,
    object: describeKey(key),
    dueTime: microTimestamp(dueMs),
    waiting: stored.engine.wait?.kind ?? 'Change',
    ...(error === undefined ? {} : { error }),
  })
}

async function readStored(store: Pick<ObjectStore, 'get'>, key: ObjectKey): Promise<StoredObject | undefined> {
  try {
    return await store.get(key)
  } catch (error) {
    if (hasCode(error, 'DAMAGED')) return undefined
    throw error
  }
}
