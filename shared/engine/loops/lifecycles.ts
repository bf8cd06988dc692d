import { isCondition } from '../../model/conditions.ts'
import { hasCode } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import { customResourceDefinitionKind, eventKind, namespaceKind } from '../../resources/built-in-kinds.ts'
import { storedKindOf } from '../../resources/custom-kinds.ts'
import type { KindCatalog } from '../../resources/kind-catalog.ts'
import type { Resources } from '../../resources/resources.ts'
import { crdFinalizer, eventEndMs, namespaceFinalizer } from '../../resources/strategies.ts'
import type { CustomResourceDefinition } from '../../model/custom-resource-definition.ts'
import type { Controller } from '../../reconciler/controller.ts'
import { again, done, type Outcome } from '../../reconciler/outcome.ts'
import type { TurnRunner } from '../state/turn.ts'

/** The life cycles of built-in kinds: what they hold goes before they do. They are controllers like any other. */
export interface LifecycleOptions {
  readonly resources: Resources
  readonly catalog: KindCatalog
}

/** A namespace goes once nothing is in it. */
export function namespaceController({ resources, catalog }: LifecycleOptions): Controller {
  return lifecycle(namespaceKind, namespaceFinalizer, async ({ metadata: { name } }) => {
    const kinds = (await catalog.listStored()).filter(({ namespaced }) => namespaced)
    const left = await Promise.all(kinds.map((kind) => deleteAll(resources, kind, name)))
    return untilNoneIsLeft(left.reduce((a, b) => a + b, 0))
  })
}

/** A CustomResourceDefinition goes once no object of its kind is left. One whose names are taken waits for them. */
export function definitionController({ resources }: Pick<LifecycleOptions, 'resources'>): Controller {
  const cleanup = async (definition: ApiObject): Promise<Outcome> => {
    const kind = storedKindOf(definition as unknown as CustomResourceDefinition)
    return untilNoneIsLeft(kind === undefined ? 0 : await deleteAll(resources, kind))
  }
  const reconcile = async (definition: ApiObject): Promise<Outcome> => {
    if (isCondition(definition, 'NamesAccepted')) return done()
    // Any write looks at the names anew, and is none if nothing has changed.
    await resources.patch(
      customResourceDefinitionKind,
      definition.metadata,
      { type: 'merge', body: {} },
      { manager: 'setpoint' },
    )
    return again('5s')
  }
  return { ...lifecycle(customResourceDefinitionKind, crdFinalizer, cleanup), reconcile }
}

function lifecycle(kind: ServedKind, finalizer: string, cleanup: (object: ApiObject) => Promise<Outcome>): Controller {
  return {
    name: `${kind.singular}-lifecycle`,
    kind,
    when: () => true,
    owns: [],
    references: [],
    maps: [],
    debounceMs: 0,
    objectLimit: undefined,
    controllerLimit: undefined,
    finalizer,
    resyncMs: 0,
    concurrency: 4,
    timeoutMs: 60_000,
    reportsStatus: false,
    reconcile: async () => done(),
    cleanup,
  }
}

function untilNoneIsLeft(left: number): Outcome {
  return left === 0 ? done() : again('1s')
}

/** Asks for the deletion of every object of a kind; how many are still there, waiting for their finalizers. */
async function deleteAll(resources: Resources, kind: ServedKind, namespace?: string): Promise<number> {
  let left = 0
  let token: string | undefined
  do {
    const page = await resources.list(kind, {
      limit: 500,
      ...(namespace === undefined ? {} : { namespace }),
      ...(token === undefined ? {} : { continue: token }),
    })
    const gone = await Promise.all(page.items.map(({ object }) => deleteOne(resources, kind, object)))
    left += gone.filter((isGone) => !isGone).length + (page.damaged?.length ?? 0)
    token = page.continue
  } while (token !== undefined)
  return left
}

async function deleteOne(
  resources: Resources,
  kind: ServedKind,
  { metadata: { name, namespace = '' } }: ApiObject,
): Promise<boolean> {
  try {
    return (await resources.delete(kind, { name, namespace })).gone
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return true
    throw error
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
  return async (turn) => {
    const stored = await store.get(turn.key)
    if (stored === undefined) return turn.settle()
    const dueAtMs = eventEndMs(stored.object)
    if (dueAtMs <= clock.nowMs()) await deleteOne(resources, eventKind, stored.object)
    else if (stored.engine.wakeAtMs !== dueAtMs)
      await store.replace({ ...stored, engine: { wakeAtMs: dueAtMs } }, ['engine'])
    return turn.settle()
  }
}
