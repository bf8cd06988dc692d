import { durationMs } from '../../model/duration.ts'
import { hasCode, OperatingError } from '../../model/errors.ts'
import { foreignPart } from '../../model/foreign-part.ts'
import { copyJson, isObject, type JsonObject } from '../../model/json.ts'
import { keyOf, keyText, type ObjectKey } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import { keyIn } from '../../resources/conditional-writes.ts'
import { refuseIncomplete } from '../../resources/damaged.ts'
import type { Place, Written } from '../../resources/resources.ts'
import { asRead } from '../state/as-read.ts'
import { childrenOf } from './children.ts'
import type { Applied, At, Context, WriteOutcome } from '../../reconciler/context.ts'
import type { Controller } from '../../reconciler/controller.ts'
import type { Kind } from '../../reconciler/kind.ts'
import { refuseAnothersChild, withOwner } from './owners.ts'
import type { EngineOptions } from './engine-options.ts'

export interface ContextOptions extends Pick<
  Context,
  'signal' | 'deadlineMs' | 'attempt' | 'expectations' | 'notes' | 'once'
> {
  readonly controller: Controller
  /** The object that is reconciled. */
  readonly object: ApiObject
  readonly engine: EngineOptions
}

/** The context of one run. */
export function createContext({ controller, object, engine, ...run }: ContextOptions): Context {
  const { clock, events, logger } = engine
  const seen = createSeen()
  const scope: Scope = {
    object,
    engine,
    seen,
    signal: run.signal,
    write: { manager: controller.name, fieldValidation: 'Strict' },
  }
  return {
    ...run,
    log: logger,
    removed: false,
    outside: createOutside(controller, scope),
    now: () => clock.nowMs(),
    sleep: (duration) => clock.sleep(durationMs(duration), run.signal),
    event: (type, reason, message) => events.record(object, { type, reason, message, component: controller.name }),
    outcomeOf: seen.outcomeOf,
    ...createReads(scope),
    ...createWrites(scope),
  }
}

/** What the verbs of one run share. */
interface Scope {
  readonly object: ApiObject
  readonly engine: EngineOptions
  readonly seen: Seen
  readonly signal: AbortSignal
  readonly write: { readonly manager: string; readonly fieldValidation: 'Strict' }
}

type Seen = ReturnType<typeof createSeen>

function createOutside({ name: component }: Controller, { object, engine }: Scope): Context['outside'] {
  return {
    recordCall: (verb, result) => engine.outside?.recordCall(verb, result),
    recordDrift: async (message) => {
      engine.outside?.recordDrift()
      engine.logger.info('drift mended', { outside: message })
      await engine.events.record(object, { type: 'Normal', reason: 'DriftMended', message, component })
    },
  }
}

function createReads(scope: Scope): Pick<Context, 'get' | 'list' | 'children'> {
  const { object, engine, seen } = scope
  const { resources } = engine
  return {
    get: async <Read>(kind: Kind<Read, unknown>, at: string | At, { cached = false } = {}) => {
      const type = await requireServed(scope, kind)
      const place = placeFor(object, at)
      const key = keyIn(type, place)
      if (cached && seen.has(key)) return seen.get(key) as Read | undefined
      const found = await absentIfNotFound(resources.get(type, place))
      return seen.read(key, found && copyJson(asRead(kind, found.object))) as Read | undefined
    },

    list: async <Read>(
      kind: Kind<Read, unknown>,
      { namespace = object.metadata.namespace ?? '', labels = {} } = {},
    ) => {
      const wanted = Object.entries(labels)
      const selector = (one: ApiObject): boolean =>
        wanted.every(([label, value]) => one.metadata.labels?.[label] === value)
      const found = await resources.list(await requireServed(scope, kind), {
        selector,
        ...(namespace === '' ? {} : { namespace }),
      })
      refuseIncomplete(found)
      return found.items.map((item) => copyJson(asRead(kind, item.object)) as unknown as Read)
    },

    children: async <Read>(kind: Kind<Read, unknown>) => {
      const found = await childrenOf(object, await requireServed(scope, kind), engine)
      return found.map((child) => copyJson(asRead(kind, child)) as unknown as Read)
    },
  }
}

function createWrites(scope: Scope): Pick<Context, 'apply' | 'create' | 'patch' | 'delete'> {
  const { object, engine, seen, write } = scope
  const { resources } = engine
  return {
    apply: async <Read, Body>(kind: Kind<Read, Body>, given: Applied<Body>, { owned = true } = {}) => {
      const type = await requireServed(scope, kind)
      const { place, body, isChild } = aim(object, type, { given, owned })
      const check = (live: ApiObject): void => refuseAnothersChild(live, object)
      const patch = { type: 'apply', body, force: true } as const
      return seen.wrote(await resources.patch(type, place, patch, isChild ? { ...write, check } : write)) as Read
    },

    create: async <Read, Body>(kind: Kind<Read, Body>, given: Applied<Body>, { owned = true } = {}) => {
      const type = await requireServed(scope, kind)
      const { place, body } = aim(object, type, { given, owned })
      return seen.wrote(await resources.create(type, inNamespace(type, body, place), write)) as Read
    },

    patch: async <Read>(
      kind: Kind<Read, unknown>,
      at: string | At,
      body: JsonObject,
      path: { readonly subresource?: 'status' } = {},
    ) => {
      const type = await requireServed(scope, kind)
      const place = placeFor(object, at)
      const patch = { type: 'merge', body: writable(type, place, body) } as const
      return seen.wrote(await resources.patch(type, place, patch, { ...write, ...path })) as Read
    },

    delete: async (kind, at) => {
      const type = await requireServed(scope, kind)
      const place = placeFor(object, at)
      const deleted = await absentIfNotFound(resources.delete(type, place))
      if (deleted !== undefined) seen.read(keyIn(type, place), deleted.gone ? undefined : deleted.stored.object)
      return deleted !== undefined
    },
  }
}

/** Every verb passes here: a run whose time is over has no say any more. */
async function requireServed(scope: Scope, { group, kind }: Kind<unknown, unknown>): Promise<ServedKind> {
  const { signal, object, engine } = scope
  if (signal.aborted) throw lateCallError(signal.reason, object)
  const found = await engine.catalog.byKind(group, kind)
  if (found !== undefined) return found
  throw new OperatingError(
    'NOT_FOUND',
    `no kind ${kind} in group ${group || 'core'} is served; apply its CustomResourceDefinition`,
  )
}

function placeFor(object: ApiObject, at: string | At): Place {
  return { namespace: object.metadata.namespace ?? '', ...(typeof at === 'string' ? { name: at } : at) }
}

/** Where an object is to be, and what it is to be. */
function aim(object: ApiObject, kind: ServedKind, { given, owned }: { given: Applied<unknown>; owned: boolean }) {
  const { name, namespace } = given.metadata
  const place = placeFor(object, namespace === undefined ? name : { name, namespace })
  const isChild = owned && keyText(keyIn(kind, place)) !== keyText(keyOf(object))
  return { place, isChild, body: writable(kind, place, isChild ? withOwner(given, place, object) : given) }
}

/** What a call gets that comes too late. */
function lateCallError(reason: unknown, { kind, metadata: { namespace, name } }: ApiObject): unknown {
  if (!hasCode(reason, 'DEADLINE_EXCEEDED')) return reason
  const whose = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
  return new OperatingError(
    'DEADLINE_EXCEEDED',
    `the run of ${whose} is over, and this call of its context comes too late: an await is missing, or the run took too long`,
  )
}

/** What a run has read and written so far. */
function createSeen() {
  const objects = new Map<string, ApiObject | undefined>()
  const outcomes = new WeakMap<object, WriteOutcome>()
  const read = (key: ObjectKey, object: ApiObject | undefined): unknown => {
    objects.set(keyText(key), object)
    return object
  }
  return {
    has: (key: ObjectKey): boolean => objects.has(keyText(key)),
    get: (key: ObjectKey): unknown => objects.get(keyText(key)),
    read,
    wrote: ({ stored, outcome }: Written): unknown => {
      const object = copyJson(stored.object)
      outcomes.set(object, outcome)
      return read(keyOf(object), object)
    },
    outcomeOf: (object: object): WriteOutcome | undefined => outcomes.get(object),
  }
}

/**
 * What an author's code made: of what is no JSON some would be lost, and what is written would never be what is there.
 */
function writable({ kind }: ServedKind, { name }: Place, body: JsonObject): JsonObject {
  const foreign = foreignPart(body, '')
  // The author may go on changing it.
  if (foreign === undefined) return copyJson(body)
  throw new TypeError(`${kind} ${name} cannot be written: ${foreign}`)
}

function inNamespace({ namespaced }: ServedKind, body: JsonObject, { namespace = '' }: Place): JsonObject {
  const metadata = isObject(body['metadata']) ? body['metadata'] : {}
  return namespaced ? { ...body, metadata: { ...metadata, namespace } } : body
}

async function absentIfNotFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (hasCode(error, 'NOT_FOUND')) return undefined
    throw error
  }
}
