import type { AdmissionHooks } from '../model/admission-hooks.ts'
import type { Conversion } from '../model/conversion.ts'
import { hasCode } from '../model/errors.ts'
import { parseApiVersion, type ApiObject } from '../model/object.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { Change, ChangeFeed, ChangeBatch } from '../ports/change-feed.ts'
import type { ObjectStore } from '../ports/object-store.ts'

/** What the program of a control plane brings for kinds. */
export interface KindFunctions {
  /** No kind has versions that functions convert: nobody pays for them. */
  readonly isEmpty: boolean
  of(group: string, kind: string): Conversion | undefined
  hooksOf(group: string, kind: string): AdmissionHooks | undefined
}

/** Of all that names kinds; the first that has functions brings them. */
export function collectKindFunctions(kinds: Iterable<NamedKind>): KindFunctions {
  const conversions = new Map<string, Conversion>()
  const hooks = new Map<string, AdmissionHooks>()
  for (const { group, kind, conversion, hooks: own } of kinds) {
    const name = nameOf(group, kind)
    if (conversion !== undefined && !conversions.has(name)) conversions.set(name, conversion)
    if (own !== undefined && !hooks.has(name)) hooks.set(name, own)
  }
  return {
    isEmpty: conversions.size === 0,
    of: (group, kind) => conversions.get(nameOf(group, kind)),
    hooksOf: (group, kind) => hooks.get(nameOf(group, kind)),
  }
}

interface NamedKind {
  readonly group: string
  readonly kind: string
  readonly conversion?: Conversion
  readonly hooks?: AdmissionHooks
}

function nameOf(group: string, kind: string): string {
  return `${group}/${kind}`
}

/**
 * The object in the version that its kind is stored in by now. One that cannot be converted stays as it is stored: its
 * metadata, its status and its deletion concern no version, and its reconciler is told why it stops.
 */
function inStoredVersion<Stored extends StoredObject>(conversions: KindFunctions, stored: Stored): Stored {
  const { group } = parseApiVersion(stored.object.apiVersion)
  const conversion = conversions.of(group, stored.object.kind)
  return conversion === undefined ? stored : convertStored(conversion, stored)
}

/** The same where the conversion is known. */
export function convertStored<Stored extends StoredObject>(conversion: Conversion, stored: Stored): Stored {
  if (conversion.version === parseApiVersion(stored.object.apiVersion).version) return stored
  try {
    const object = conversion.convert(stored.object, conversion.version)
    outdated.add(object)
    return { ...stored, object }
  } catch (error) {
    if (hasCode(error, 'CONVERSION_FAILED')) return stored
    throw error
  }
}

/** What was read, and is stored in a version of before. */
const outdated = new WeakSet<ApiObject>()

/** Whether an object, as it was read, is stored in another version: the next write of it stores the present one. */
export function isOutdated(object: ApiObject): boolean {
  return outdated.has(object)
}

/** The store, which gives what is stored in older versions in the present one. It is stored so by its next write. */
export function convertReads(store: ObjectStore, conversions: KindFunctions): ObjectStore {
  if (conversions.isEmpty) return store
  return {
    ...store,
    get: async (key) => {
      const stored = await store.get(key)
      return stored && inStoredVersion(conversions, stored)
    },
    list: async (query) => {
      const page = await store.list(query)
      if (conversions.of(query.group, query.kind) === undefined) return page
      return { ...page, items: page.items.map((item) => inStoredVersion(conversions, item)) }
    },
  }
}

/** The feed of such a store. */
export function convertFeed(feed: ChangeFeed, conversions: KindFunctions): ChangeFeed {
  if (conversions.isEmpty) return feed
  return {
    ...feed,
    follow: (options) => {
      const batches = feed.follow(options)
      const { of } = options
      return of === undefined || conversions.of(of.group, of.kind) !== undefined
        ? convertBatches(batches, conversions)
        : batches
    },
  }
}

async function* convertBatches(
  batches: AsyncIterable<ChangeBatch>,
  conversions: KindFunctions,
): AsyncGenerator<ChangeBatch, undefined> {
  for await (const batch of batches) yield { ...batch, changes: convertChanges(batch.changes, conversions) }
}

/** Changes with their objects in the present version, as they are and as they were before. */
export function convertChanges<Told extends Pick<Change, 'stored' | 'before'>>(
  changes: readonly Told[],
  conversions: KindFunctions,
): readonly Told[] {
  if (conversions.isEmpty) return changes
  return changes.map((change) => {
    const { apiVersion, kind } = change.stored.object
    if (conversions.of(parseApiVersion(apiVersion).group, kind) === undefined) return change
    const stored = inStoredVersion(conversions, change.stored)
    const before = change.before && inStoredVersion(conversions, change.before)
    return stored === change.stored && before === change.before ? change : { ...change, stored, before }
  })
}
