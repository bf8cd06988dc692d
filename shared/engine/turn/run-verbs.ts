import { absentIfNotFound, hasCode, OperatingError } from '../../model/errors.ts'
import { refuseForeign } from '../../model/foreign-part.ts'
import { copyJson, type JsonObject } from '../../model/json.ts'
import { keyOf, keyText, type ObjectKey } from '../../model/object-key.ts'
import { controllerOf, type ApiObject } from '../../model/object.ts'
import type { ServedKind } from '../../model/served-kind.ts'
import type { Applied, At, Context, WriteOutcome } from '../../reconciler/context.ts'
import type { Kind } from '../../reconciler/kind.ts'
import { requireRight, type Access, type Rights } from '../../reconciler/rights.ts'
import { keyIn } from '../../resources/conditional-writes.ts'
import { refuseIncomplete } from '../../resources/damaged.ts'
import { writtenKindsMs } from '../../resources/kind-catalog.ts'
import type { Deleted, Place, Resources, Written } from '../../resources/resources.ts'
import { concealBody } from '../insight/conceal-body.ts'
import type { ObservedRun } from '../insight/run-observer.ts'
import { asRead, findSpecFaults } from '../state/as-read.ts'
import { childrenOf } from './children.ts'
import type { EngineOptions } from './engine-options.ts'
import { applyChild, withOwner } from './owners.ts'
import type { RunTime } from './run-times.ts'

export interface VerbsOptions {
  /** The controller's name: who writes. */
  readonly manager: string
  readonly rights: Rights
  /** The object that is reconciled. */
  readonly object: ApiObject
  readonly engine: Pick<EngineOptions, 'catalog' | 'index' | 'store'>
  readonly seen: Pick<ObservedRun, 'resources' | 'noteSecret' | 'secrets'>
  readonly time: RunTime
}

/** The verbs of one run, and what it has read and written by them. */
export class RunVerbs {
  readonly #options: VerbsOptions
  #objects: Map<string, ApiObject | undefined> | undefined
  #outcomes: WeakMap<object, WriteOutcome> | undefined

  constructor(options: VerbsOptions) {
    this.#options = options
  }

  outcomeOf(object: object): WriteOutcome | undefined {
    return this.#outcomes?.get(object)
  }

  async get<Read>(
    kind: Kind<Read, unknown>,
    at: string | At,
    { cached = false }: { readonly cached?: boolean } = {},
  ): Promise<Read | undefined> {
    const type = await this.#requireServed(kind, 'read')
    const place = this.#place(at)
    const key = keyIn(type, place)
    const text = keyText(key)
    if (cached && this.#objects?.has(text) === true) return this.#objects.get(text) as Read | undefined
    const found = await absentIfNotFound(this.#resources.get(type, place))
    return this.#note(key, found && this.#read(kind, type, found.object)) as Read | undefined
  }

  async list<Read>(
    kind: Kind<Read, unknown>,
    { namespace = this.#options.object.metadata.namespace ?? '', labels = {} }: NonNullable<ListOptions> = {},
  ): Promise<readonly Read[]> {
    const wanted = Object.entries(labels)
    const selector = (one: ApiObject): boolean =>
      wanted.every(([label, value]) => one.metadata.labels?.[label] === value)
    const type = await this.#requireServed(kind, 'read')
    const found = await this.#resources.list(type, {
      selector,
      ...(namespace === '' ? {} : { namespace }),
    })
    const read = found.items.map(({ object }) => this.#read(kind, type, object) as unknown as Read)
    refuseIncomplete(found)
    return read
  }

  async children<Read>(kind: Kind<Read, unknown>): Promise<readonly Read[]> {
    const { object, engine } = this.#options
    const type = await this.#requireServed(kind, 'read')
    const found = await childrenOf(object, type, engine)
    return found.map((child) => this.#read(kind, type, child) as unknown as Read)
  }

  async apply<Read, Body>(
    kind: Kind<Read, Body>,
    applied: Applied<Body>,
    { owned = true }: { readonly owned?: boolean } = {},
  ): Promise<Read> {
    const type = await this.#requireServed(kind, 'write')
    const { at, body, isChild } = this.#placeBody(type, applied, owned)
    const { object, engine } = this.#options
    const patch = { type: 'apply', body, force: true } as const
    const apply = (check?: (live: ApiObject) => void): Promise<Written> =>
      this.#resources.patch(type, at, patch, check === undefined ? this.#write : { ...this.#write, check })
    return this.#noteWrite(type, await (isChild ? applyChild(object, engine.store, apply) : apply())) as Read
  }

  async create<Read, Body>(
    kind: Kind<Read, Body>,
    applied: Applied<Body>,
    { owned = true }: { readonly owned?: boolean } = {},
  ): Promise<Read> {
    const type = await this.#requireServed(kind, 'write')
    const { at, body } = this.#placeBody(type, applied, owned)
    return this.#noteWrite(type, await this.#resources.create(type, inNamespace(type, body, at), this.#write)) as Read
  }

  async patch<Read>(
    kind: Kind<Read, unknown>,
    at: string | At,
    body: JsonObject,
    path: { readonly subresource?: 'status' } = {},
  ): Promise<Read> {
    const type = await this.#requireServed(kind, 'write')
    const place = this.#place(at)
    const patch = { type: 'merge', body: this.#copyBody(type, place, body) } as const
    return this.#noteWrite(type, await this.#resources.patch(type, place, patch, { ...this.#write, ...path })) as Read
  }

  async delete(...[kind, at]: Parameters<Context['delete']>): Promise<boolean> {
    const type = await this.#requireServed(kind, 'write')
    const place = this.#place(at)
    const uid = typeof at === 'string' ? undefined : at.uid
    const deleted = await absentIfNotFound(this.#deleteOne(type, place, uid))
    if (deleted === undefined) return false
    this.#conceal(type, deleted.stored.object)
    this.#note(keyIn(type, place), deleted.gone ? undefined : deleted.stored.object)
    return true
  }

  /** With a uid, undefined if the name is another object's by now. */
  async #deleteOne(kind: ServedKind, place: Place, uid: string | undefined): Promise<Deleted | undefined> {
    const { manager } = this.#options
    const preconditions = uid === undefined ? {} : { preconditions: { uid } }
    try {
      return await this.#resources.delete(kind, place, { manager, ...preconditions })
    } catch (error) {
      if (uid === undefined || !hasCode(error, 'VERSION_CONFLICT')) throw error
      const there = await this.#resources.get(kind, place)
      if (there.object.metadata.uid === uid) throw error
      return undefined
    }
  }

  get #resources(): Resources {
    return this.#options.seen.resources
  }

  get #write(): { readonly manager: string; readonly fieldValidation: 'Strict' } {
    return { manager: this.#options.manager, fieldValidation: 'Strict' }
  }

  /** Every verb passes here: a run whose time is over has no say any more, nor has one without the right. */
  async #requireServed(kind: Kind<unknown, unknown>, access: Access): Promise<ServedKind> {
    const { time, object, engine, manager, rights } = this.#options
    if (time.isOver) throw lateCallError(time.reason, object)
    requireRight(rights, { reconciler: manager, kind, access })
    // By an old definition a write would drop what the object has got by a new one.
    const oldestMs = access === 'write' ? writtenKindsMs : undefined
    const found = await engine.catalog.byKind(kind.group, kind.kind, oldestMs)
    if (found?.version === kind.version) return found
    if (found !== undefined) return (await engine.catalog.inVersion(found, kind.version)) ?? found
    const group = kind.group || 'core'
    throw new OperatingError(
      'NOT_FOUND',
      `no kind ${kind.kind} in group ${group} is served; apply its CustomResourceDefinition`,
    )
  }

  #place(at: string | At): Place {
    const namespace = this.#options.object.metadata.namespace ?? ''
    return typeof at === 'string' ? { namespace, name: at } : { namespace: at.namespace ?? namespace, name: at.name }
  }

  /** Where an object is to be, and what it is to be. */
  #placeBody(kind: ServedKind, applied: Applied<unknown>, owned: boolean) {
    const { object } = this.#options
    const { name, namespace } = applied.metadata
    const at = this.#place(namespace === undefined ? name : { name, namespace })
    const isChild = owned && keyText(keyIn(kind, at)) !== keyText(keyOf(object))
    const place = kind.namespaced ? at : { ...at, namespace: '' }
    return { at, isChild, body: this.#copyBody(kind, at, isChild ? withOwner(applied, place, object) : applied) }
  }

  /**
   * As the run gets it: a copy that is its own, and is what its type says. A child is given as it is stored: its owner
   * is who puts it right.
   */
  #read(kind: Kind<unknown, unknown>, served: ServedKind, object: ApiObject): ApiObject {
    this.#conceal(served, object)
    const isChild = controllerOf(object)?.uid === this.#options.object.metadata.uid
    const faults = isChild ? undefined : findSpecFaults(kind, object, served)
    if (faults !== undefined) throw new UnfitObjectError(object, faults)
    return copyJson(asRead(kind, object, served))
  }

  /** What is written: the author may go on changing their own. */
  #copyBody(kind: ServedKind, { name }: Place, body: JsonObject): JsonObject {
    refuseForeign(body, '', `${kind.kind} ${name} cannot be written`)
    const copy = copyJson(body)
    this.#conceal(kind, copy)
    return concealBody(kind, copy, this.#options.seen.secrets)
  }

  /** What the run says from now on is told without what a Secret holds. */
  #conceal({ isConfidential }: ServedKind, object: JsonObject): void {
    if (isConfidential === true) this.#options.seen.noteSecret(object)
  }

  #note(key: ObjectKey, object: ApiObject | undefined): unknown {
    this.#objects ??= new Map()
    this.#objects.set(keyText(key), object)
    return object
  }

  #noteWrite(kind: ServedKind, { stored, outcome }: Written): unknown {
    this.#conceal(kind, stored.object)
    const object = copyJson(stored.object)
    this.#outcomes ??= new WeakMap()
    this.#outcomes.set(object, outcome)
    return this.#note(keyOf(object), object)
  }
}

type ListOptions = Parameters<Context['list']>[1]

/** What a call gets that comes too late. */
function lateCallError(reason: unknown, { kind, metadata: { namespace, name } }: ApiObject): unknown {
  if (!hasCode(reason, 'DEADLINE_EXCEEDED')) return reason
  const whose = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
  return new OperatingError(
    'DEADLINE_EXCEEDED',
    `the run of ${whose} is over, and this call of its context comes too late: an await is missing, or the run took too long`,
  )
}

function inNamespace({ namespaced }: ServedKind, body: JsonObject, { namespace = '' }: Place): JsonObject {
  const metadata = body['metadata'] as JsonObject | undefined
  return namespaced ? { ...body, metadata: { ...metadata, namespace } } : body
}

/** What a run has asked for is not what its kind says. The run is tried again: somebody else must put that right. */
class UnfitObjectError extends Error {
  override readonly name = 'UnfitObjectError'
  readonly reason = 'UnfitObject'

  constructor(object: ApiObject, faults: string) {
    super(`${keyText(keyOf(object))} does not fit its kind: ${faults}`)
  }
}
