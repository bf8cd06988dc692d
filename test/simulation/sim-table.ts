import { OperatingError } from '../../shared/model/errors.ts'
import { keyOf, keyText, type ObjectKey } from '../../shared/model/object-key.ts'
import type { StoredObject, Touched } from '../../shared/model/stored-object.ts'
import { wheelSlot } from '../../shared/model/wheel.ts'
import type { Change } from '../../shared/ports/change-feed.ts'
import type { ObjectIndex } from '../../shared/ports/object-index.ts'
import type { ObjectStore } from '../../shared/ports/object-store.ts'
import { dueAtMs } from '../../shared/model/stored-object.ts'
import type { World } from './world.ts'

/**
 * A DynamoDB table: single-item conditional writes, a stream that tells of each write in order per item, and indexes that lag
 * behind by a time of their own.
 */
export interface SimTable {
  readonly store: ObjectStore
  readonly index: ObjectIndex
  /** Every write there ever was, in order; a reader of the stream sees those whose time has come. */
  readonly stream: readonly StreamRecord[]
  /** Resolves when there is a record at this position whose time has come. */
  grown(position: number): Promise<void>
  /** For checkers: what is there now. */
  readonly items: ReadonlyMap<string, StoredObject>
}

export interface StreamRecord {
  readonly change: Change
  readonly key: ObjectKey
  readonly visibleAtMs: number
}

export interface SimTableOptions {
  readonly world: World
  readonly streamLagMsMax: number
  readonly indexLagMsMax: number
  /** Told of every write as it is made. */
  readonly onWrite?: (before: StoredObject | undefined, after: StoredObject) => void
}

export function createSimTable({ world, streamLagMsMax, indexLagMsMax, onWrite }: SimTableOptions): SimTable {
  const items = new Map<string, StoredObject>()
  const indexed = new Map<string, StoredObject>()
  const references = new Map<string, readonly string[]>()
  const stream: StreamRecord[] = []
  const lags = world.random.fork('lags')
  const indexingAtMs = new Map<string, number>()
  const waiting: (() => void)[] = []
  let version = world.nowMs() * 1_000

  /** resourceVersion = max(now in µs, previous + 1). */
  const numbered = ({ object, engine }: StoredObject): StoredObject => {
    version = Math.max(world.nowMs() * 1_000, version + 1)
    return { object: { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }, engine }
  }

  const tell = (type: Change['type'], touched: Touched, stored: StoredObject): void => {
    const key = keyOf(stored.object)
    stream.push({
      change: { type, touched, stored },
      key,
      visibleAtMs: world.nowMs() + Math.floor(lags.next() * streamLagMsMax),
    })
    void indexLater(keyText(key), type === 'removed' ? undefined : stored)
    for (const wake of waiting.splice(0)) wake()
  }

  /** In order per item, whatever the lags. */
  const indexLater = async (text: string, stored: StoredObject | undefined): Promise<void> => {
    const atMs = Math.max(indexingAtMs.get(text) ?? 0, world.nowMs() + Math.floor(lags.next() * indexLagMsMax))
    indexingAtMs.set(text, atMs)
    await world.sleep(atMs - world.nowMs())
    if (stored === undefined) indexed.delete(text)
    else indexed.set(text, stored)
  }

  const current = (stored: StoredObject): StoredObject => {
    const live = items.get(keyText(keyOf(stored.object)))
    if (live === undefined || live.object.metadata.uid !== stored.object.metadata.uid)
      throw new OperatingError('NOT_FOUND', 'no such item')
    if (live.object.metadata.resourceVersion !== stored.object.metadata.resourceVersion)
      throw new OperatingError('VERSION_CONFLICT', 'the condition failed')
    return live
  }

  const store: ObjectStore = {
    get: async (key) => items.get(keyText(key)),
    list: async ({ group, kind, namespace, limit = Infinity, after }) => {
      const all = [...items.values()]
        .filter(({ object }) => {
          const key = keyOf(object)
          return key.group === group && key.kind === kind && (namespace === undefined || key.namespace === namespace)
        })
        .sort((a, b) => (order(a) < order(b) ? -1 : 1))
        .filter((item) => after === undefined || order(item) > `${after.namespace}/${after.name}`)
      return { items: all.slice(0, limit), resourceVersion: String(version), more: all.length > limit }
    },
    create: async (stored) => {
      const text = keyText(keyOf(stored.object))
      if (items.has(text)) throw new OperatingError('ALREADY_EXISTS', 'the condition failed')
      const next = numbered(stored)
      items.set(text, next)
      tell('added', ['spec'], next)
      return next
    },
    replace: async (stored, touched) => {
      const before = current(stored)
      const next = numbered(stored)
      onWrite?.(before, next)
      items.set(keyText(keyOf(stored.object)), next)
      tell('modified', touched, next)
      return next
    },
    remove: async (stored) => {
      current(stored)
      const next = numbered(stored)
      items.delete(keyText(keyOf(stored.object)))
      references.delete(keyText(keyOf(stored.object)))
      tell('removed', ['delete'], next)
      return next
    },
  }

  const keysWhere = (test: (stored: StoredObject) => boolean): readonly ObjectKey[] =>
    [...indexed.values()].filter(test).map(({ object }) => keyOf(object))

  const index: ObjectIndex = {
    // Strong: with a lagging index, seeds 12 and 23 leave children behind. See docs/decisions/0007.
    ownedBy: async (uid) =>
      [...items.values()]
        .filter(({ object }) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid))
        .map(({ object }) => keyOf(object)),
    referrers: async (target) => {
      const text = keyText(target)
      return [...references].filter(([, targets]) => targets.includes(text)).map(([referrer]) => parse(referrer))
    },
    references: async (referrer) => (references.get(keyText(referrer)) ?? []).map(parse),
    setReferences: async (referrer, targets) => void references.set(keyText(referrer), targets.map(keyText)),
    due: async (kind, untilMs, limit) =>
      [...indexed.values()]
        .filter(({ object }) => isOf(object, kind))
        .flatMap(({ object, engine }) => {
          const at = dueAtMs(engine)
          return at === undefined || at > untilMs ? [] : [{ key: keyOf(object), dueAtMs: at }]
        })
        .sort((a, b) => a.dueAtMs - b.dueAtMs)
        .slice(0, limit),
    onWheel: async (kind, from, to) =>
      keysWhere(({ object }) => {
        const slot = wheelSlot(object.metadata.uid)
        return isOf(object, kind) && slot >= from && slot < to
      }),
  }

  const grown: SimTable['grown'] = async (position) => {
    while (stream[position] === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      await promise
    }
    await world.sleep((stream[position]?.visibleAtMs ?? 0) - world.nowMs())
  }

  return { store, index, stream, items, grown }
}

function isOf(
  object: StoredObject['object'],
  { group, kind }: { readonly group: string; readonly kind: string },
): boolean {
  const key = keyOf(object)
  return key.group === group && key.kind === kind
}

function order({ object }: StoredObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`
}

function parse(text: string): ObjectKey {
  const [group = '', kind = '', namespace = '', name = ''] = text.split('/')
  return { group, kind, namespace, name }
}
