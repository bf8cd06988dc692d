import { hasCode, OperatingError } from '../model/errors.ts'
import { keyOf, keyText, type ObjectKey } from '../model/object-key.ts'
import { parseApiVersion, type ApiObject } from '../model/object.ts'
import { isOvertakenWrite, onNewest } from '../model/on-newest.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject, Touched } from '../model/stored-object.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { keepReading, type KeptReading } from '../model/keep-reading.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { listPages } from './list-pages.ts'
import { limitNamesOf, resourceQuotaKind } from './quota-kind.ts'
import { askForCount, release, reserve, secondOf, type Counted } from './quota-usage.ts'
import { forbiddenFor } from './refusals.ts'

/** The quotas of namespaces: what is created is held against them, and what is removed is taken off. */
export interface StoredQuotas {
  /**
   * Room for an object that is about to be created; undefined, at once as a rule, where no quota is. Throws FORBIDDEN
   * where there is none left, THROTTLED where too many processes ask at once.
   */
  reserve(kind: ServedKind, object: ApiObject, dryRun: boolean): Reservation | Promise<Reservation> | undefined
  /** The store, whose removals are noted. */
  follow(store: ObjectStore): ObjectStore
  /** What is known counts no longer: something was written past `follow`. */
  forget(): void
}

export type Reservation =
  | undefined
  | {
      /** The object was not created. */
      cancel(): Promise<void>
    }

export interface StoredQuotasOptions {
  readonly store: ObjectStore
  readonly catalog: Pick<KindCatalog, 'byKind'>
  readonly clock: Clock
  readonly logger: Logger
  /** How long a quota that others made may stay unseen; Infinity where every write goes by `follow`. */
  readonly maxAgeMs: number
}

export function createStoredQuotas(options: StoredQuotasOptions): StoredQuotas {
  const quotas = new Quotas(options)
  return {
    reserve: (...asked) => quotas.reserve(...asked),
    follow: (store) => quotas.follow(store),
    forget: () => quotas.forget(),
  }
}

/** More of them in a namespace would make each creation in it slow. */
const perNamespaceMax = 20

type Names = ReadonlySet<string>
type ByNamespace = ReadonlyMap<string, Names>

class Quotas {
  readonly #options: StoredQuotasOptions
  readonly #names: KeptReading<ByNamespace>
  readonly #lanes = new Map<string, Lane>()

  constructor(options: StoredQuotasOptions) {
    this.#options = options
    this.#names = keepReading({ ...options, read: () => readNames(options.store) })
  }

  reserve(kind: ServedKind, object: ApiObject, dryRun: boolean): ReturnType<StoredQuotas['reserve']> {
    const { namespace = '' } = object.metadata
    const known = this.#names.peek()
    if (known === undefined)
      return this.#names.get().then((all) => this.#reserveIn(all.get(namespace), { kind, object }, dryRun))
    const quotas = known.get(namespace)
    return quotas && this.#reserveIn(quotas, { kind, object }, dryRun)
  }

  forget(): void {
    this.#names.forget()
  }

  follow(store: ObjectStore): ObjectStore {
    const { forget } = this.#names
    const isQuota = ({ object }: StoredObject): boolean => object.kind === resourceQuotaKind.kind && isCore(object)
    return {
      ...store,
      create: (stored) => (isQuota(stored) ? store.create(stored).finally(forget) : store.create(stored)),
      remove: async (stored) => {
        const removed = await (isQuota(stored) ? store.remove(stored).finally(forget) : store.remove(stored))
        const { namespace = '' } = removed.object.metadata
        if (namespace !== '') await this.#noteRemoval(removed.object, namespace)
        return removed
      },
    }
  }

  async #reserveIn(quotas: Names | undefined, wanted: Wanted, dryRun: boolean): Promise<Reservation> {
    if (quotas === undefined) return undefined
    const { kind, object } = wanted
    const { namespace = '', name } = object.metadata
    if (kind === resourceQuotaKind && quotas.size >= perNamespaceMax)
      throw forbiddenFor(kind, name, `a namespace has ${perNamespaceMax} ResourceQuotas at most`)
    const counted = { atS: secondOf(object), names: limitNamesOf(kind) }
    const keys = [...quotas].toSorted().map((quota) => quotaKey(namespace, quota))
    const why = await (dryRun ? this.#look(keys, counted) : this.#laneOf(namespace).reserve(keys, counted))
    if (why !== '') throw forbiddenFor(kind, name, why)
    const takeOff = (): Promise<void> => this.#laneOf(namespace).takeOff(keys, counted)
    return { cancel: () => this.#noteOf(object, 'a reservation stays', takeOff) }
  }

  async #look(keys: readonly ObjectKey[], counted: Counted): Promise<string> {
    for (const key of keys) {
      const quota = await this.#options.store.get(key)
      const why = quota && reserve(quota, [counted], this.#nowS()).refused.get(counted)
      if (why !== undefined) return why
    }
    return ''
  }

  #laneOf(namespace: string): Lane {
    const lane =
      this.#lanes.get(namespace) ??
      new Lane({
        reserve: (key, all) => this.#reserve(key, all),
        takeOff: (key, all) => this.#takeOff(key, all),
        giveBack: (key, all) => this.#giveBack(key, all),
        end: () => this.#lanes.delete(namespace),
      })
    this.#lanes.set(namespace, lane)
    return lane
  }

  /** Reserves for as many as there is room for, in one write. */
  async #reserve(key: ObjectKey, all: readonly Counted[]): Promise<ReadonlyMap<Counted, string>> {
    const { store } = this.#options
    try {
      return await onNewest(async () => {
        const quota = await store.get(key)
        if (quota === undefined) return new Map()
        const { next, refused } = reserve(quota, all, this.#nowS())
        if (next !== quota) await store.replace(next, touchedIn(quota, next))
        return refused
      }, overtaken)
    } catch (error) {
      if (!hasCode(error, 'VERSION_CONFLICT')) throw error
      throw new OperatingError('THROTTLED', `the ResourceQuota ${key.name} is changed by too many at once: try again`)
    }
  }

  async #noteRemoval(object: ApiObject, namespace: string): Promise<void> {
    await this.#noteOf(object, 'a removal is not noted', async () => {
      const quotas = (this.#names.peek() ?? (await this.#names.get())).get(namespace)
      if (quotas === undefined) return
      const kind = await this.#options.catalog.byKind(parseApiVersion(object.apiVersion).group, object.kind)
      if (kind === undefined) return
      const keys = [...quotas].map((quota) => quotaKey(namespace, quota))
      await this.#laneOf(namespace).takeOff(keys, { atS: secondOf(object), names: limitNamesOf(kind) })
    })
  }

  /** What became of the object is answered, whatever becomes of its note: the next count finds what is not noted. */
  async #noteOf(object: ApiObject, otherwise: string, note: () => Promise<void>): Promise<void> {
    try {
      await note()
    } catch (error) {
      const fields = { object: keyText(keyOf(object)), error: String(error) }
      this.#options.logger.warn(`${otherwise} in the quotas of its namespace until the next count`, fields)
    }
  }

  async #giveBack(key: ObjectKey, all: readonly Counted[]): Promise<void> {
    try {
      await this.#takeOff(key, all)
    } catch (error) {
      const fields = { quota: keyText(key), error: String(error) }
      this.#options.logger.warn('a reservation is not given back to a quota until the next count', fields)
    }
  }

  /** What is young is taken off at once, the rest by a count. */
  async #takeOff(key: ObjectKey, all: readonly Counted[]): Promise<void> {
    const { store, clock } = this.#options
    await onNewest(async () => {
      const quota = await store.get(key)
      if (quota === undefined) return
      let next = quota
      for (const counted of all) next = release(next, counted, this.#nowS()) ?? askForCount(next, clock.nowMs())
      if (next !== quota) await store.replace(next, touchedIn(quota, next))
    }, overtaken)
  }

  #nowS(): number {
    return Math.floor(this.#options.clock.nowMs() / 1_000)
  }
}

/** The next look finds no quota if somebody has removed it, and a quota that is gone limits nothing. */
const overtaken = { isConflict: isOvertakenWrite }

/**
 * Until a quota was counted, what is reserved is noted, and its status says nothing yet. That a count is asked for the
 * relay is to hear, which is not told of other notes.
 */
function touchedIn(before: StoredObject, next: StoredObject): Touched {
  const isCountAsked = next.engine.wakeAtMs !== before.engine.wakeAtMs
  return [
    ...(next.object === before.object ? [] : ['status' as const]),
    'engine',
    ...(isCountAsked ? ['timer' as const] : []),
  ]
}

interface Wanted {
  readonly kind: ServedKind
  readonly object: ApiObject
}

interface LaneWork {
  reserve(key: ObjectKey, all: readonly Counted[]): Promise<ReadonlyMap<Counted, string>>
  takeOff(key: ObjectKey, all: readonly Counted[]): Promise<void>
  /** Takes off what has not come about. Says if that fails, and does not reject. */
  giveBack(key: ObjectKey, all: readonly Counted[]): Promise<void>
  end(): void
}

interface Waiting<Answer> {
  readonly counted: Counted
  readonly keys: readonly ObjectKey[]
  readonly answer: PromiseWithResolvers<Answer>
}

/** All notes of one namespace: those that come while one is written are written together. */
class Lane {
  readonly #work: LaneWork
  #arriving: Waiting<string>[] = []
  #leaving: Waiting<void>[] = []
  #isBusy = false

  constructor(work: LaneWork) {
    this.#work = work
  }

  /** Why there is no room; empty if there is, which is reserved then. */
  reserve(keys: readonly ObjectKey[], counted: Counted): Promise<string> {
    return this.#wait(this.#arriving, keys, counted)
  }

  takeOff(keys: readonly ObjectKey[], counted: Counted): Promise<void> {
    return this.#wait(this.#leaving, keys, counted)
  }

  #wait<Answer>(all: Waiting<Answer>[], keys: readonly ObjectKey[], counted: Counted): Promise<Answer> {
    const answer = Promise.withResolvers<Answer>()
    all.push({ counted, keys, answer })
    if (!this.#isBusy) void this.#serve()
    return answer.promise
  }

  async #serve(): Promise<void> {
    this.#isBusy = true
    while (this.#arriving.length + this.#leaving.length > 0) {
      const [leaving, arriving] = [this.#leaving.splice(0), this.#arriving.splice(0)]
      await this.#takeOffTogether(leaving)
      try {
        await this.#reserveTogether(arriving)
      } catch (error) {
        for (const { answer } of arriving) answer.reject(error)
      }
    }
    // The next request makes a new lane.
    this.#work.end()
  }

  /** Of each quota by itself: one that cannot be written keeps back none of the others. */
  async #takeOffTogether(batch: readonly Waiting<void>[]): Promise<void> {
    const failures = new Map<Waiting<void>, unknown>()
    const keys = new Map(batch.flatMap((one) => one.keys.map((key) => [keyText(key), key] as const)))
    for (const [text, key] of keys) {
      const concerned = batch.filter((one) => one.keys.some((other) => keyText(other) === text))
      try {
        await this.#work.takeOff(
          key,
          concerned.map(({ counted }) => counted),
        )
      } catch (error) {
        for (const one of concerned) failures.set(one, error)
      }
    }
    for (const one of batch) {
      if (failures.has(one)) one.answer.reject(failures.get(one))
      else one.answer.resolve()
    }
  }

  /** Who came last knows the quotas best. Where one quota has no room, what others have reserved is given back. */
  async #reserveTogether(batch: readonly Waiting<string>[]): Promise<void> {
    const keys = batch.at(-1)?.keys ?? []
    let open = batch
    for (const [i, key] of keys.entries()) {
      const wanted = open.map(({ counted }) => counted)
      const giveBack = (all: readonly Counted[]): Promise<unknown> =>
        Promise.all(keys.slice(0, i).map((before) => this.#work.giveBack(before, all)))
      const refused = await this.#work.reserve(key, wanted).catch(async (error: unknown): Promise<never> => {
        await giveBack(wanted)
        throw error
      })
      if (refused.size > 0) await giveBack([...refused.keys()])
      for (const { counted, answer } of open) {
        const why = refused.get(counted)
        if (why !== undefined) answer.resolve(why)
      }
      open = open.filter(({ counted }) => !refused.has(counted))
    }
    for (const { answer } of open) answer.resolve('')
  }
}

function isCore({ apiVersion }: ApiObject): boolean {
  return apiVersion === 'v1'
}

function quotaKey(namespace: string, name: string): ObjectKey {
  return { group: '', kind: resourceQuotaKind.kind, namespace, name }
}

async function readNames(store: ObjectStore): Promise<ByNamespace> {
  const all = new Map<string, Set<string>>()
  // One that is damaged counts: what asks it is refused, where it would else be passed over.
  for await (const { items, damaged = [] } of listPages(store, { group: '', kind: resourceQuotaKind.kind }))
    for (const { namespace, name } of [...items.map(({ object }) => keyOf(object)), ...damaged])
      all.set(namespace, (all.get(namespace) ?? new Set()).add(name))
  return all
}
