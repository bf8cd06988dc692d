import { DamagedObjectError, OperatingError } from '../../../model/errors.ts'
import { keyOf, keyText, type ObjectKey } from '../../../model/object-key.ts'
import { isDeleting } from '../../../model/object.ts'
import { checkStateSize } from '../../../model/size-limit.ts'
import type { StoredObject, Touched } from '../../../model/stored-object.ts'
import type { Change, ChangeBatch, ChangeFeed } from '../../../ports/change-feed.ts'
import type { ListPage, ObjectStore } from '../../../ports/object-store.ts'
import { isSecret, openStored, sealStored, type Sealing } from './sealing.ts'

interface KindName {
  readonly group: string
  readonly kind: string
}

export interface SealedStoreOptions {
  readonly sealing: Sealing
  /** Told of each Secret that no key fits. */
  readonly onUnreadable: (key: ObjectKey) => void
}

type WriteState = (stored: StoredObject) => Promise<StoredObject>

/** The store, with the values of Secrets sealed in what it is given. Other kinds pay one comparison. */
export function sealStore(store: ObjectStore, { sealing, onUnreadable }: SealedStoreOptions): ObjectStore {
  const opened = (stored: StoredObject): StoredObject => {
    const found = openStored(sealing, stored)
    if (found !== undefined) return found
    const { uid, resourceVersion } = stored.object.metadata
    onUnreadable(keyOf(stored.object))
    throw new DamagedObjectError(describeUnreadable(keyOf(stored.object)), { uid, resourceVersion })
  }

  const openPage = (page: ListPage): Required<Pick<ListPage, 'items' | 'more' | 'damaged'>> => {
    const items = page.items.map((item) => openStored(sealing, item))
    const lost = page.items.filter((_, i) => items[i] === undefined).map(({ object }) => keyOf(object))
    for (const key of lost) onUnreadable(key)
    const damaged = [...(page.damaged ?? []), ...lost]
    return { items: items.filter((item) => item !== undefined), more: page.more, damaged }
  }

  /** The next page begins behind the last object of this one: a page of which none can be opened has no such object. */
  const listSecrets: ObjectStore['list'] = async (query) => {
    const first = await store.list(query)
    const asOf = query.asOf ?? first.resourceVersion
    const lost: ObjectKey[] = []
    for (let page = first; ;) {
      const { items, more, damaged } = openPage(page)
      lost.push(...damaged)
      const last = page.items.at(-1)
      if (items.length > 0 || !more || last === undefined)
        return { ...first, items, more, ...(lost.length === 0 ? {} : { damaged: lost }) }
      const { namespace, name } = keyOf(last.object)
      page = await store.list({ ...query, after: { namespace, name }, asOf })
    }
  }

  /** The state that was given, under the number that it was stored with. */
  const writeSecret = async (given: StoredObject, writeSealed: WriteState): Promise<StoredObject> => {
    const { resourceVersion } = (await writeSealed(sealStored(sealing, given))).object.metadata
    const { object, engine } = given
    return { object: { ...object, metadata: { ...object.metadata, resourceVersion } }, engine }
  }
  const write = (given: StoredObject, writeSealed: WriteState): Promise<StoredObject> =>
    isSecret(given.object) ? writeSecret(given, writeSealed) : writeSealed(given)

  const getSecret: ObjectStore['get'] = async (key) => {
    const stored = await store.get(key)
    return stored && opened(stored)
  }

  return {
    get: (key) => (isSecretKind(key) ? getSecret(key) : store.get(key)),
    list: (query) => (isSecretKind(query) ? listSecrets(query) : store.list(query)),
    create: (stored) =>
      write(stored, (sealed) => {
        checkOpened(stored, ['spec'])
        return store.create(sealed)
      }),
    replace: (stored, touched) =>
      write(stored, (sealed) => {
        checkOpened(stored, touched)
        return store.replace(sealed, touched)
      }),
    remove: (stored) => write(stored, store.remove),
  }
}

/**
 * A long text is packed when it is sealed, so that the store measures less than what readers get. Of one that was
 * stored larger nothing stands in the way of its end. Throws TOO_LARGE.
 */
function checkOpened(stored: StoredObject, touched: Touched): void {
  if (isSecret(stored.object) && !isDeleting(stored.object)) checkStateSize(stored, touched)
}

/** The feed of such a store. */
export function openFeed(feed: ChangeFeed, sealing: Sealing): ChangeFeed {
  return {
    latest: feed.latest,
    follow: (options) => {
      const batches = feed.follow(options)
      return options.of === undefined || isSecretKind(options.of) ? openBatches(batches, sealing) : batches
    },
  }
}

async function* openBatches(
  batches: AsyncIterable<ChangeBatch>,
  sealing: Sealing,
): AsyncGenerator<ChangeBatch, undefined> {
  for await (const batch of batches) {
    const hasSecrets = batch.changes.some(({ stored }) => isSecret(stored.object))
    yield hasSecrets ? { ...batch, changes: batch.changes.map((change) => openChange(change, sealing)) } : batch
  }
}

function openChange(change: Change, sealing: Sealing): Change {
  if (!isSecret(change.stored.object)) return change
  const stored = openStored(sealing, change.stored)
  // Nobody has to be able to read what it was before.
  if (stored !== undefined) return { ...change, stored, before: change.before && openStored(sealing, change.before) }
  const { resourceVersion } = change.stored.object.metadata
  throw new OperatingError(
    'EXPIRED',
    `the change of resource version ${resourceVersion} cannot be decrypted: list anew`,
  )
}

function isSecretKind({ group, kind }: KindName): boolean {
  return kind === 'Secret' && group === ''
}

function describeUnreadable(key: ObjectKey): string {
  return `${keyText(key)} cannot be decrypted with the keys that are there; put back the key file, or delete it with ignoreStoreReadErrorWithClusterBreakingPotential=true`
}
