import { versionAt } from '../../../shared/adapters/aws/dynamodb/dynamodb-items.ts'
import type { FeedEntry } from '../../../shared/adapters/aws/dynamodb/dynamodb-recordings.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import { keyOf, keyText, parseKeyText, type ObjectKey } from '../../../shared/model/object-key.ts'
import { moveEndUs, slotTimesMs } from '../../../shared/model/reservations.ts'
import { dueAtMs, nettedMs } from '../../../shared/model/engine-state.ts'
import { checkStateSize } from '../../../shared/model/size-limit.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import { wheelSlot } from '../../../shared/model/wheel.ts'
import type { Checkpoint } from '../../../shared/ports/checkpoint.ts'
import type { InHand } from '../../../shared/ports/in-hand.ts'
import type { KindName, ObjectIndex } from '../../../shared/ports/object-index.ts'
import type { ListNetted } from '../../../shared/ports/netted.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import type { Reserve } from '../../../shared/ports/reservations.ts'
import { createInHand } from '../../support/in-hand.ts'
import type { Climate } from '../climate.ts'
import type { Life } from '../life.ts'
import type { SeenTable, TableWrite } from '../plane.ts'
import { below, type World } from '../world.ts'
import type { SimFeed } from './sim-feed.ts'
import { createSimReferences, referenceIndex, type SimReferences } from './sim-references.ts'
import { createSimStream, type SimStream } from './sim-stream.ts'

/**
 * A DynamoDB table: single-item conditional writes, a stream that tells of each write in order per item, and indexes
 * that lag behind by a time of their own. See decision 16.
 */
export interface SimTable extends SeenTable {
  /**
   * The store as one writer has it: resourceVersions are numbered by the writer's clock. A write takes one more
   * argument, where its entry goes; without it watches are told nothing of the write.
   */
  storeOf(life: Life): ObjectStore
  readonly index: ObjectIndex
  readonly listNetted: ListNetted
  /** The requests that the index makes about references. */
  readonly references: SimReferences
  readonly stream: SimStream
  checkpoint(name: string): Checkpoint
  readonly inHand: InHand
  /** Reservations as one process makes them: what has passed is so by its clock. */
  reserveBy(life: Life): Reserve
  /** Puts an object there that has been there for long: nobody is told. */
  place(stored: StoredObject): void
}

export interface SimTableOptions {
  readonly world: World
  readonly climate: Pick<Climate, 'streamLagMsMax' | 'indexLagMsMax' | 'page'>
  /** What watches read, if anybody watches. */
  readonly feed?: SimFeed | undefined
  /** Told of every write as it is made. */
  readonly onWrite: (write: TableWrite) => void
}

export function createSimTable({ world, climate, feed, onWrite }: SimTableOptions): SimTable {
  const items = new Map<string, StoredObject>()
  const checkpoints = new Map<string, string>()
  const lines = new Map<string, number>()
  const reservations = new Map<string, readonly number[]>()
  const stream = createSimStream({ world, lagMsMax: climate.streamLagMsMax })
  const lagging = createLaggingIndex(world, climate, items)

  /** resourceVersion = max(now in µs, previous + 1), by the writer's clock; a number may be taken before the write. */
  const numbered = ({ object, engine }: StoredObject, life: Life): StoredObject => {
    const { resourceVersion } = object.metadata
    const nowMs = life.clock.nowMs() - (feed?.numberedMs() ?? 0)
    const before = Math.max(Number(resourceVersion) || 0, feed?.lastVersion(keyOf(object)) ?? 0)
    const version = Math.max(versionAt(nowMs), before + 1)
    return { object: { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }, engine }
  }

  const written = (write: TableWrite, entry: FeedEntry | undefined): StoredObject => {
    const { type, before, after, touched } = write
    const key = keyOf(after.object)
    const text = keyText(key)
    if (type === 'removed') items.delete(text)
    else items.set(text, after)
    onWrite(write)
    if (entry !== undefined) feed?.note(write, entry)
    // The mapping's filter: the engine's own affairs wake nobody.
    if (touched.some((part) => part !== 'engine')) stream.tell(key, { type, touched, stored: after, before })
    lagging.follow(text, type === 'removed' ? undefined : after)
    return after
  }

  const current = (stored: StoredObject): StoredObject => {
    const live = items.get(keyText(keyOf(stored.object)))
    if (live === undefined) throw new OperatingError('NOT_FOUND', 'no such item')
    const [is, was] = [live.object.metadata, stored.object.metadata]
    if (is.uid !== was.uid || is.resourceVersion !== was.resourceVersion)
      throw new OperatingError('VERSION_CONFLICT', 'the condition failed')
    return live
  }

  const storeOf = (by: Life): ObjectStore => ({
    get: async (key) => items.get(keyText(key)),
    list: async ({ group, kind, namespace, limit = Infinity, after }) => {
      const all = [...items.values()]
        .filter(
          ({ object }) =>
            isOf(object, { group, kind }) && (namespace ?? keyOf(object).namespace) === keyOf(object).namespace,
        )
        .sort((a, b) => (order(a) < order(b) ? -1 : 1))
        .filter((item) => after === undefined || order(item) > `${after.namespace}/${after.name}`)
      const most = Math.min(limit, limit === Infinity ? Infinity : climate.page)
      return {
        items: all.slice(0, most),
        resourceVersion: String(versionAt(by.clock.nowMs())),
        more: all.length > most,
      }
    },
    create: async (stored, entry?: FeedEntry) => {
      checkStateSize(stored, ['spec'])
      if (items.has(keyText(keyOf(stored.object)))) throw new OperatingError('ALREADY_EXISTS', 'the condition failed')
      return written({ type: 'added', before: undefined, after: numbered(stored, by), touched: ['spec'], by }, entry)
    },
    replace: async (stored, touched, entry?: FeedEntry) => {
      checkStateSize(stored, touched)
      return written({ type: 'modified', before: current(stored), after: numbered(stored, by), touched, by }, entry)
    },
    remove: async (stored, entry?: FeedEntry) => {
      const before = current(stored)
      return written({ type: 'removed', before, after: numbered(stored, by), touched: ['delete'], by }, entry)
    },
  })

  return {
    storeOf,
    index: lagging.index,
    listNetted: lagging.listNetted,
    references: lagging.references,
    stream,
    inHand: createInHand(world),
    checkpoint: (name) => ({
      load: async () => checkpoints.get(name),
      save: async (value) => void checkpoints.set(name, value),
    }),
    reserveBy: (life) => async (line, count, rate) => {
      const nowMs = life.clock.nowMs()
      const endUs = moveEndUs(lines.get(line) ?? 0, count, rate, nowMs)
      lines.set(line, endUs)
      const timesMs = slotTimesMs(endUs, count, rate, nowMs)
      reservations.set(line, [...(reservations.get(line) ?? []), ...timesMs])
      return timesMs
    },
    reservations,
    items,
    place: (stored) => {
      feed?.note({ type: 'added', before: undefined, after: stored, touched: ['spec'] }, notRecorded)
      items.set(keyText(keyOf(stored.object)), stored)
      lagging.place(keyText(keyOf(stored.object)), stored)
    },
  }
}

const notRecorded: FeedEntry = { isRecorded: false, partition: '' }

/** Global secondary indexes, which follow the items each in its own time, and what is kept as items of its own. */
function createLaggingIndex(
  world: World,
  { indexLagMsMax, page }: SimTableOptions['climate'],
  items: ReadonlyMap<string, StoredObject>,
) {
  const indexed = new Map<string, StoredObject>()
  const followingAtMs = new Map<string, number>()
  const lags = world.random.fork('index lags')

  /** In order per item, whatever the lags. */
  const follow = (text: string, stored: StoredObject | undefined): void => {
    if (stored === undefined) void known.setReferences(parseKeyText(text), [])
    const atMs = Math.max(followingAtMs.get(text) ?? 0, world.nowMs() + below(lags, indexLagMsMax))
    followingAtMs.set(text, atMs)
    world.after(atMs - world.nowMs(), () => place(text, stored))
  }

  const place = (text: string, stored: StoredObject | undefined): void => {
    if (stored === undefined) indexed.delete(text)
    else indexed.set(text, stored)
  }

  const references = createSimReferences()
  const known = referenceIndex(references, world)
  const index: ObjectIndex = {
    ...known,
    // Strong: with a lagging index children are left behind. See docs/decisions/0007.
    childrenOf: async (uid, limit) =>
      [...items.values()]
        .filter(({ object }) => object.metadata.ownerReferences?.some((owner) => owner.uid === uid))
        .slice(0, limit)
        .map(({ object }) => keyOf(object)),
    due: async (kind, untilMs, limit, fromMs = 0) =>
      [...indexed.values()]
        .flatMap(({ object, engine }) => {
          if (!isOf(object, kind)) return []
          const at = netted({ object, engine }) === undefined ? (dueAtMs(engine) ?? Infinity) : Infinity
          return at < fromMs || at > untilMs ? [] : [{ key: keyOf(object), dueAtMs: at }]
        })
        .sort((a, b) => a.dueAtMs - b.dueAtMs)
        .slice(0, Math.min(limit, page)),
    onWheel: async (kind, from, to) =>
      [...indexed.values()].flatMap(({ object }): ObjectKey[] => {
        if (!isOf(object, kind)) return []
        const slot = wheelSlot(object.metadata.uid)
        return slot >= from && slot < to ? [keyOf(object)] : []
      }),
  }

  const listNetted: ListNetted = async (kind, fromMs, toMs) =>
    [...indexed.values()].flatMap((stored) => {
      const at = isOf(stored.object, kind) ? netted(stored) : undefined
      const isThere = at !== undefined && at >= fromMs && at < toMs
      return isThere ? [{ key: keyOf(stored.object), dueAtMs: at }] : []
    })

  return { index, listNetted, references, follow, place }
}

/** Versions are microseconds of the writer's clock. */
function netted({ object, engine }: StoredObject): number | undefined {
  return nettedMs(engine, Number(object.metadata.resourceVersion) / 1_000)
}

function isOf({ apiVersion, kind }: StoredObject['object'], of: KindName): boolean {
  return kind === of.kind && (apiVersion.includes('/') ? apiVersion.startsWith(`${of.group}/`) : of.group === '')
}

function order({ object }: StoredObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`
}
