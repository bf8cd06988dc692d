import { parseTimestamp } from '../../model/time.ts'
import { conditionOf, isCondition } from '../../model/conditions.ts'
import { reconcileRequestAnnotation } from '../../model/control-annotations.ts'
import { clockErrorMsMax } from '../../model/clock-error.ts'
import { acceptCrd } from '../../model/crd/accept-crd.ts'
import { sharersOf } from '../../model/crd/accept-names.ts'
import { hasCode } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { ObjectKey } from '../../model/object-key.ts'
import { isOvertakenWrite, onNewest } from '../../model/on-newest.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { customResourceDefinitionKind, eventKind } from '../../resources/built-in-kinds.ts'
import { storedKindOf } from '../../resources/custom-kinds.ts'
import type { KindCatalog } from '../../resources/kind-catalog.ts'
import type { Resources } from '../../resources/resources.ts'
import { crdFinalizer, eventEndMs } from '../../resources/strategies.ts'
import type { CustomResourceDefinition } from '../../model/custom-resource-definition.ts'
import type { Context } from '../../reconciler/context.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { again, done, withReport } from '../../reconciler/outcome.ts'
import { deleteAll, deleteSeen, doomedWith } from './delete-all.ts'
import type { TurnRunner } from '../state/turn.ts'

/** The life cycles of built-in kinds: what they hold goes before they do. They are controllers like any other. */
export interface LifecycleOptions {
  readonly resources: Resources
  readonly catalog: KindCatalog
  /** By then every process knows that a definition is being deleted, and takes no more objects. Default 0: at once. */
  readonly definitionGraceMs?: number
}

/**
 * A CustomResourceDefinition goes once no object of its kind is left, and none can come any more. One whose names are
 * taken waits for them. Of two that were written in the same moment both may have got them: each looks again.
 */
export function definitionController({
  resources,
  definitionGraceMs = 0,
}: Pick<LifecycleOptions, 'resources' | 'definitionGraceMs'>): Controller {
  const definitions = async (): Promise<readonly CustomResourceDefinition[]> => {
    const { items } = await resources.list(customResourceDefinitionKind)
    return items.map(({ object }) => object as unknown as CustomResourceDefinition)
  }
  const cleanup: Controller['reconcile'] = async (object, ctx) => {
    const definition = object as unknown as CustomResourceDefinition
    if (storedKindOf(definition) === undefined) return done()
    // An earlier definition that has its names has its objects.
    const kind = storedKindOf(acceptCrd(definition, ctx.now(), await definitions()))
    if (kind === undefined) return done()
    const graceMs = graceLeftMs(object, ctx, definitionGraceMs)
    // What is found behind the grace is all there is.
    const isDoomed = doomedWith(resources, customResourceDefinitionKind, object)
    if ((await deleteAll(resources, kind, { isDoomed })).count > 0) return again(lookAgainMs(-graceMs))
    // It may have been marked by a clock that is a little ahead.
    return graceMs > 0 ? again(`${Math.ceil(Math.min(graceMs, definitionGraceMs))}ms`) : done()
  }
  /** Any write looks at the names anew, and is none if nothing has changed. */
  const lookAnew = (name: string, body: JsonObject): Promise<unknown> =>
    resources.patch(customResourceDefinitionKind, { name }, { type: 'merge', body }, { manager: 'setpoint' })
  const reconcile: Controller['reconcile'] = async (definition, ctx) => {
    const { name, uid } = definition.metadata
    const sharers = sharersOf(definition as unknown as CustomResourceDefinition, await definitions())
    if (sharers.length === 0 && isCondition(definition, 'NamesAccepted')) return done()
    await lookAnew(name, {})
    // They look by their own runs, and wait if they have lost.
    const wake = { metadata: { annotations: { [reconcileRequestAnnotation]: uid } } }
    for (const { metadata } of sharers) {
      await lookAnew(metadata.name, wake).catch((error: unknown) => {
        if (!hasCode(error, 'NOT_FOUND')) throw error
      })
    }
    return again(namesAgainMs(definition, ctx.now()))
  }
  return { ...lifecycle(customResourceDefinitionKind, crdFinalizer, cleanup), reconcile }
}

/** Nobody tells when names are free again: a wait of days looks every few minutes. */
function namesAgainMs(definition: ApiObject, nowMs: number): number {
  const { lastTransitionTime = '' } = conditionOf(definition, 'NamesAccepted') ?? {}
  const waitedMs = nowMs - (parseTimestamp(lastTransitionTime) ?? nowMs)
  return Math.ceil(Math.min(5 * 60_000, Math.max(5_000, waitedMs / 10)))
}

/**
 * How much of the grace is left, or how long it is over. A deletion time that a wrong clock has set does not tell that:
 * then the grace begins with the first look at it.
 */
function graceLeftMs(
  { metadata: { deletionTimestamp = '' } }: ApiObject,
  { now, notes }: Pick<Context, 'now' | 'notes'>,
  graceMs: number,
): number {
  const leftMs = (parseTimestamp(deletionTimestamp) ?? 0) + graceMs - now()
  if (leftMs <= graceMs + clockErrorMsMax) return leftMs
  const seenMs = notes.get(graceNote)
  if (typeof seenMs === 'number' && seenMs <= now()) return seenMs + graceMs - now()
  notes.set(graceNote, now())
  return graceMs
}

const graceNote = 'graceSinceMs'

/**
 * When to look again for what is held by the finalizers of others, who tell nobody when they are done: after a tenth of
 * the time that it has taken so far, between a second and half a minute.
 */
export function lookAgainMs(takenMs: number): number {
  return Math.ceil(Math.min(30_000, Math.max(1_000, takenMs / 10)))
}

/** A controller of a built-in kind whose objects go when their clean-up is done. */
export function lifecycle(
  kind: ServedKind,
  finalizer: string,
  cleanup: NonNullable<Controller['cleanup']>,
): Controller {
  return {
    name: `${kind.singular}-lifecycle`,
    kind,
    when: () => true,
    owns: [],
    references: [],
    maps: [],
    // What they need they have beside their context.
    rights: new Map(),
    debounceMs: 0,
    objectLimit: undefined,
    controllerLimit: undefined,
    finalizer,
    resyncMs: 0,
    concurrency: 4,
    timeoutMs: 60_000,
    reportsStatus: false,
    reconcile: async () => done(),
    cleanup: async (object, ctx) => {
      try {
        return await cleanup(object, ctx)
      } catch (error) {
        // Nothing tells of what was in the way, when it is so no more.
        throw error instanceof Error ? withReport(error, { retryWithin: '15s' }) : error
      }
    },
  }
}

/** Events go an hour after they last happened. Their timer is set when they are made. */
export function createEventExpiry({
  store,
  resources,
  clock,
}: {
  readonly store: ObjectStore
  readonly resources: Resources
  readonly clock: Clock
}): TurnRunner {
  /** One that happens again in this moment stays. */
  const expire = async (key: ObjectKey): Promise<void> => {
    const stored = await store.get(key)
    if (stored === undefined) return
    const dueAtMs = eventEndMs(stored.object)
    if (dueAtMs <= clock.nowMs()) await deleteSeen(resources, eventKind, stored.object)
    else if (stored.engine.wakeAtMs !== dueAtMs)
      await store.replace({ ...stored, engine: { wakeAtMs: dueAtMs } }, ['engine'])
  }
  return async (turn) => {
    await onNewest(() => expire(turn.key), { isConflict: isOvertakenWrite })
    return turn.settle()
  }
}
