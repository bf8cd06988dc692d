import { durationMs } from '../model/duration.ts'
import { hasCode, OperatingError } from '../model/errors.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { keyOf, keyText } from '../model/object-key.ts'
import type { ApiObject, OwnerReference } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { keyIn } from '../resources/conditional-writes.ts'
import type { Place } from '../resources/resources.ts'
import { childrenOf } from './children.ts'
import type { Applied, At, Context } from './context.ts'
import type { Controller } from './controller.ts'
import type { Kind } from './kind.ts'
import type { EngineOptions } from './reconcile-key.ts'

export interface ContextOptions {
  readonly controller: Controller
  /** The object that is reconciled. */
  readonly object: ApiObject
  readonly engine: EngineOptions
  readonly signal: AbortSignal
  readonly attempt: number
  readonly expectations: Map<string, number>
}

/** The context of one run. */
export function createContext(options: ContextOptions): Context {
  const { controller, object, engine, signal, attempt, expectations } = options
  const { resources, catalog, clock, events, logger } = engine
  const manager = { manager: controller.name }
  /** Every verb passes here: a run whose time is over has no say any more. */
  const served = async (kind: Kind<unknown, unknown>): Promise<ServedKind> => {
    signal.throwIfAborted()
    const found = await catalog.byKind(kind.group, kind.kind)
    if (found === undefined)
      throw new OperatingError(
        'NOT_FOUND',
        `no kind ${kind.kind} in group ${kind.group || 'core'} is served; apply its CustomResourceDefinition`,
      )
    return found
  }

  const place = (at: string | At): Place => ({
    namespace: object.metadata.namespace ?? '',
    ...(typeof at === 'string' ? { name: at } : at),
  })

  return {
    log: logger,
    signal,
    attempt,
    expectations,
    removed: false,
    now: () => clock.nowMs(),
    sleep: (duration) => clock.sleep(durationMs(duration), signal),
    event: (type, reason, message) => events.record(object, { type, reason, message, component: controller.name }),

    get: async <Read>(kind: Kind<Read, unknown>, at: string | At) => {
      const found = await absentIfNotFound(resources.get(await served(kind), place(at)))
      return found?.object as Read | undefined
    },

    list: async <Read>(
      kind: Kind<Read, unknown>,
      { namespace = object.metadata.namespace ?? '', labels = {} } = {},
    ) => {
      const wanted = Object.entries(labels)
      const selector = (one: ApiObject): boolean =>
        wanted.every(([label, value]) => one.metadata.labels?.[label] === value)
      const { items } = await resources.list(await served(kind), {
        selector,
        ...(namespace === '' ? {} : { namespace }),
      })
      return items.map((item) => item.object as unknown as Read)
    },

    apply: async <Read, Body>(kind: Kind<Read, Body>, given: Applied<Body>, { owned = true } = {}) => {
      const { name, namespace } = given.metadata
      const at = place(namespace === undefined ? name : { name, namespace })
      const type = await served(kind)
      const isChild = owned && keyText(keyIn(type, at)) !== keyText(keyOf(object))
      const body = isChild ? withOwner(given, at, object) : (given as JsonObject)
      const { stored } = await resources.patch(
        type,
        at,
        { type: 'apply', body, force: true },
        { ...manager, fieldValidation: 'Strict' },
      )
      return stored.object as unknown as Read
    },

    children: async <Read>(kind: Kind<Read, unknown>) =>
      (await childrenOf(object, await served(kind), engine)) as unknown as readonly Read[],

    patch: async <Read>(
      kind: Kind<Read, unknown>,
      at: string | At,
      body: JsonObject,
      path: { readonly subresource?: 'status' } = {},
    ) => {
      const { stored } = await resources.patch(
        await served(kind),
        place(at),
        { type: 'merge', body },
        { ...manager, ...path, fieldValidation: 'Strict' },
      )
      return stored.object as unknown as Read
    },

    delete: async (kind, at) => (await absentIfNotFound(resources.delete(await served(kind), place(at)))) !== undefined,
  }
}

async function absentIfNotFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined
    throw error
  }
}

/** A child names its owner; an owner with a namespace cannot own what is outside it. */
function withOwner(child: JsonObject, at: Place, owner: ApiObject): JsonObject {
  const { namespace } = owner.metadata
  if (namespace !== undefined && at.namespace !== namespace) {
    throw new OperatingError(
      'BAD_REQUEST',
      `${owner.kind} ${namespace}/${owner.metadata.name} cannot own ${at.name} outside its namespace; apply it with { owned: false }`,
    )
  }
  const metadata = isObject(child['metadata']) ? child['metadata'] : {}
  return { ...child, metadata: { ...metadata, ownerReferences: [ownerReference(owner)] } }
}

function ownerReference({ apiVersion, kind, metadata }: ApiObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}
