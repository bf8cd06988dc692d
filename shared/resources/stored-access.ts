import { createAccessBook, type AccessBook } from '../model/access/access-book.ts'
import { hasCode, OperatingError } from '../model/errors.ts'
import type { Eventual } from '../model/eventual.ts'
import { keyOf, keyText } from '../model/object-key.ts'
import type { ApiObject } from '../model/object.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { Checkpoint } from '../ports/checkpoint.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { clusterRoleBindingKind, clusterRoleKind, roleBindingKind, roleKind } from './access-kinds.ts'
import { keepReading } from '../model/keep-reading.ts'
import { listPages } from './list-pages.ts'

/** Roles and bindings in memory, as they are in the store. */
export interface StoredAccess {
  /** Holds every write that was made through `follow` and has resolved. */
  read(): Eventual<AccessBook>
  /** The store, whose writes of roles and bindings are noted. */
  follow(store: ObjectStore): ObjectStore
  /** What is known counts no longer: something was written past `follow`. */
  forget(): void
}

export interface StoredAccessOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  /** How long what others wrote may stay unseen; Infinity where every write goes by `follow`. */
  readonly maxAgeMs: number
  /** Where other processes write, too. Left out: what they wrote is seen when it is `maxAgeMs` old. */
  readonly version?: AccessVersion
}

/**
 * A text that every process reads, and that is another one after each write of a role or a binding. It is written after
 * the object and before the answer, and read strongly: who reads the text of before asks for what had no answer yet.
 */
export interface AccessVersion {
  readonly checkpoint: Checkpoint
  /** No text twice. */
  readonly newText: () => string
}

/** Nothing is read before somebody asks. */
export function createStoredAccess({ store, clock, maxAgeMs, version }: StoredAccessOptions): StoredAccess {
  /** Takes notes while it is filled. */
  let current: Shelf | undefined
  const kept = keepReading({
    read: async () => {
      const shelf = createShelf()
      current = shelf
      await fill(shelf, store)
      return shelf
    },
    clock,
    maxAgeMs,
  })

  const writeDown = async (write: Promise<StoredObject>, isGone: boolean): Promise<StoredObject> => {
    try {
      const written = await write
      if (current?.note(written, isGone) === false) kept.forget()
      return written
    } catch (error) {
      if (hasCode(error, 'ALREADY_EXISTS', 'VERSION_CONFLICT', 'NOT_FOUND', 'TOO_LARGE')) throw error
      // It may have been written all the same.
      kept.forget()
      await tellOthers(version)
      throw error
    }
  }

  const note = async (write: Promise<StoredObject>, isGone: boolean): Promise<StoredObject> => {
    const written = await writeDown(write, isGone)
    await tellOthers(version)
    return written
  }

  const noting = (stored: StoredObject, write: Promise<StoredObject>, isGone: boolean): Promise<StoredObject> =>
    isOfAccess(stored.object) ? note(write, isGone) : write

  const read = (): Eventual<AccessBook> => kept.peek()?.book ?? kept.get().then(({ book }) => book)

  return {
    read: version === undefined ? read : readByVersion(version, { read, forget: kept.forget }),
    follow: (followed) => ({
      ...followed,
      create: (stored) => noting(stored, followed.create(stored), false),
      replace: (stored, touched) => noting(stored, followed.replace(stored, touched), false),
      remove: (stored) => noting(stored, followed.remove(stored), true),
    }),
    forget: kept.forget,
  }
}

const accessKinds = [roleKind, clusterRoleKind, roleBindingKind, clusterRoleBindingKind]

/** Of the four kinds that say who may do what. Somebody may define others in their group: those grant nothing. */
function isOfAccess(object: ApiObject): boolean {
  const { group, kind } = keyOf(object)
  return accessKinds.some((one) => one.group === group && one.kind === kind)
}

/** Throws WRITE_UNKNOWN: the write is done, or may be, and not everybody goes by it yet. */
async function tellOthers(version: AccessVersion | undefined): Promise<void> {
  try {
    await version?.checkpoint.save(version.newText())
  } catch (cause) {
    throw new OperatingError('WRITE_UNKNOWN', 'could not tell all processes of a role or binding', { cause })
  }
}

/** What is kept counts as long as the text is the one that was read ahead of it. */
function readByVersion(
  { checkpoint }: AccessVersion,
  { read, forget }: { readonly read: () => Eventual<AccessBook>; readonly forget: () => void },
): () => Promise<AccessBook> {
  let known: string | undefined
  return async () => {
    const now = await checkpoint.load()
    if (now !== known) forget()
    known = now
    return read()
  }
}

interface Shelf {
  readonly book: AccessBook
  /** An older state than the one that is known says nothing. False if it is time to read everything again. */
  note(stored: StoredObject, isGone: boolean): boolean
}

/** The versions of removed objects are kept, so that an older state does not bring one back: so many of them. */
const removedMax = 10_000

function createShelf(): Shelf {
  const book = createAccessBook()
  const versions = new Map<string, bigint>()
  let removed = 0
  return {
    book,
    note: (stored, isGone) => {
      const key = keyText(keyOf(stored.object))
      const version = BigInt(stored.object.metadata.resourceVersion)
      if (version <= (versions.get(key) ?? -1n)) return true
      versions.set(key, version)
      if (!isGone) book.note(stored.object)
      else book.forget(stored.object)
      if (isGone) removed++
      return removed <= removedMax
    },
  }
}

async function fill(shelf: Shelf, store: ObjectStore): Promise<void> {
  const kinds = [roleKind, clusterRoleKind, roleBindingKind, clusterRoleBindingKind]
  await Promise.all(
    kinds.map(async ({ group, kind }) => {
      for await (const { items } of listPages(store, { group, kind })) for (const one of items) shelf.note(one, false)
    }),
  )
}
