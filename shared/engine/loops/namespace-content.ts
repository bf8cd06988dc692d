import { hasCode } from '../../model/errors.ts'
import { namespaceKeyOf } from '../../model/object-key.ts'
import { isDeleting } from '../../model/object.ts'
import { parseTimestamp } from '../../model/time.ts'
import type { Change } from '../../ports/change-feed.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { isOf } from '../../reconciler/kind.ts'
import { namespaceKind } from '../../resources/built-in-kinds.ts'
import { freshKindsMs, type KindCatalog } from '../../resources/kind-catalog.ts'
import type { Resources } from '../../resources/resources.ts'
import type { Turn, TurnRunner } from '../state/turn.ts'
import type { Route } from '../wake/routes.ts'
import type { Target } from '../wake/wake-up.ts'
import { deleteContent } from './delete-all.ts'
import { garbageGroup } from './garbage-collector.ts'

/**
 * Objects that are written into a namespace after its end are deleted, too. A creation reads its namespace right before
 * it writes, and a process may stand still between the two.
 *
 * - Half a minute after the end of a namespace the engine looks at its content once more. Most late writes are done by
 *   then.
 * - A creation may take longer. When the relay sees it, the relay reads the namespace.
 * - They go in the order of deleteContent. When the relay sees that one is gone after its clean-up, the relay reads the
 *   namespace, too: what the clean-up may have needed goes then.
 * - Once a day the look for garbage reads the namespace of each object.
 *
 * If a new namespace has the same name by then, it keeps the objects.
 */
export interface NamespaceContentOptions {
  readonly store: Pick<ObjectStore, 'get'>
  readonly resources: Resources
  readonly catalog: Pick<KindCatalog, 'listStored'>
  readonly clock: Pick<Clock, 'nowMs'>
}

/** From when an object is made until a change tells of it, as a rule. */
const promptMsMax = 5_000
/** Longer than that, by clocks that differ by seconds. */
const waitMs = 30_000

/** `name`: whose queue the keys go to. */
export function contentRoutes(
  name: string,
  { store, clock }: Pick<NamespaceContentOptions, 'store' | 'clock'>,
): readonly Route[] {
  const route = (debounceMs: number, targets: Route['targets']): Route => ({
    name,
    debounceMs,
    isNeverHeld: true,
    targets,
  })
  const wasThere = createMemory({ store, clock })
  const isLate = ({ type, stored }: Change): boolean => {
    const madeMs = parseTimestamp(stored.object.metadata.creationTimestamp) ?? 0
    return type === 'added' && clock.nowMs() - madeMs > promptMsMax
  }
  return [
    route(waitMs, ({ type, stored: { object } }) =>
      type === 'removed' && isOf(object, namespaceKind)
        ? [target(object.metadata.name, object.metadata.uid, 'their namespace is gone')]
        : [],
    ),
    route(0, async (change) => {
      const { namespace } = change.stored.object.metadata
      const isAsked = isLate(change) || isCleanedUp(change)
      if (namespace === undefined || !isAsked || (await wasThere(namespace))) return []
      return [
        target(namespace, '', `their namespace was gone when one was ${isCleanedUp(change) ? 'cleaned up' : 'made'}`),
      ]
    }),
  ]
}

/** What goes at once was never seen to be deleted. */
function isCleanedUp({ type, stored: { object } }: Change): boolean {
  return type === 'removed' && isDeleting(object)
}

/**
 * Remembers for a moment which namespaces are there. A relay that is behind sees many late creations, and reads each
 * namespace once. The look after the end of a namespace finds the objects of that moment.
 */
function createMemory({ store, clock }: Pick<NamespaceContentOptions, 'store' | 'clock'>) {
  let there = new Set<string>()
  let sinceMs = -Infinity
  return async (namespace: string): Promise<boolean> => {
    const nowMs = clock.nowMs()
    if (Math.abs(nowMs - sinceMs) > rememberedMs) [there, sinceMs] = [new Set(), nowMs]
    const known = there
    if (known.has(namespace)) return true
    const isKnown = await isThere(store, namespace)
    if (isKnown) known.add(namespace)
    return isKnown
  }
}

const rememberedMs = 2_000

/** No object is of this kind: all content of a namespace. */
const contentKind = { group: garbageGroup, kind: 'Content' }

/** `uid`: of the namespace that is gone. Keys of two sorts do not share their times. */
function target(name: string, uid: string, reason: string): Target {
  return { key: { ...contentKind, namespace: uid, name }, lane: 'background', reason }
}

/** Runs the keys of the content of namespaces, and hands all others on. */
export function createContentRunner(options: NamespaceContentOptions, next: TurnRunner): TurnRunner {
  return async (turn, signal) => {
    const { key } = turn
    if (key.group !== contentKind.group) {
      if (isDaily(turn) && key.namespace !== '') await removeContent(options, key.namespace)
      return next(turn, signal)
    }
    if (key.kind !== contentKind.kind) return next(turn, signal)
    const leftMs = notBeforeMs(turn) - options.clock.nowMs()
    if (leftMs > 0 && !turn.isNearReceiveLimit) return turn.delay(leftMs)
    await removeContent(options, key.name)
    return turn.settle()
  }
}

function isDaily({ wakeUps }: Turn): boolean {
  return wakeUps.some(({ origin }) => origin === 'resync')
}

function notBeforeMs({ wakeUps }: Turn): number {
  return Math.min(...wakeUps.map((one) => one.notBeforeMs ?? 0))
}

async function removeContent({ store, resources, catalog }: NamespaceContentOptions, namespace: string): Promise<void> {
  const isDoomed = async (): Promise<boolean> => !(await isThere(store, namespace))
  if (!(await isDoomed())) return
  const kinds = (await catalog.listStored(freshKindsMs)).filter(({ namespaced }) => namespaced)
  await deleteContent(resources, kinds, { namespace, isDoomed })
}

async function isThere(store: Pick<ObjectStore, 'get'>, name: string): Promise<boolean> {
  try {
    return (await store.get(namespaceKeyOf(name))) !== undefined
  } catch (error) {
    // One that is damaged is there.
    if (hasCode(error, 'DAMAGED')) return true
    throw error
  }
}
