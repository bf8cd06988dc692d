import type { ServedKind } from '../model/served-kind.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { builtInKinds, twinKinds } from './built-in-kinds.ts'
import type { KindFunctions } from './converted-reads.ts'
import { servedKindsOf, storedKindOf } from './custom-kinds.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { definitionsIn } from './stored-definitions.ts'

export interface StoreKindCatalog extends KindCatalog {
  /** A CustomResourceDefinition changed: the next look reads them again. */
  invalidate(): void
}

export interface CatalogOptions {
  readonly store: ObjectStore
  readonly clock: Clock
  /** How long a look may be old; Infinity where every change calls `invalidate`. */
  readonly maxAgeMs: number
  /** Default: none. */
  readonly functions?: KindFunctions
}

/**
 * The catalog over the definitions in the store. A kind it does not know makes it look again, at most once a second.
 */
export function createKindCatalog({ store, clock, maxAgeMs, functions }: CatalogOptions): StoreKindCatalog {
  let current: Promise<Index> | undefined
  /** The same, once it is read. */
  let known: Index | undefined
  let readAtMs = 0

  const isOld = (oldestMs: number): boolean => clock.nowMs() - readAtMs > oldestMs

  const follow = async (reading: Promise<Index>): Promise<void> => {
    try {
      const read = await reading
      if (current === reading) known = read
    } catch {
      // Whoever waits for it is told why.
      if (current === reading) current = undefined
    }
  }

  const index = (oldestMs: number): Promise<Index> => {
    if (current === undefined || isOld(oldestMs)) {
      readAtMs = clock.nowMs()
      const reading = readIndex(store, functions)
      current = reading
      known = undefined
      void follow(reading)
    }
    return current
  }

  const look = async (name: string): Promise<ServedKind | undefined> => {
    return (await index(maxAgeMs)).byName.get(name) ?? (await index(Math.min(maxAgeMs, missAgeMs))).byName.get(name)
  }

  const find = (name: string): Promise<ServedKind | undefined> => {
    const found = known?.byName.get(name)
    return found === undefined || isOld(maxAgeMs) ? look(name) : Promise.resolve(found)
  }

  return {
    byPlural: (group, version, plural) => find(`${group}/${version}/${plural}`),
    byKind: (group, kind) => find(`${group}//${kind}`),
    inVersion: ({ group, plural }, version) => find(`${group}/${version}/${plural}`),
    all: async () => (await index(maxAgeMs)).all,
    listStored: async () => (await index(maxAgeMs)).stored,
    invalidate: () => {
      current = undefined
      known = undefined
    },
  }
}

const missAgeMs = 1_000

interface Index {
  readonly all: readonly ServedKind[]
  readonly stored: readonly ServedKind[]
  /** By `group/version/plural`, and by `group//kind` in the storage version. */
  readonly byName: ReadonlyMap<string, ServedKind>
}

async function readIndex(store: ObjectStore, functions?: KindFunctions): Promise<Index> {
  const definitions = await definitionsIn(store)
  const all = [...builtInKinds, ...twinKinds, ...definitions.flatMap((one) => servedKindsOf(one, functions))]
  const stored = [...builtInKinds, ...definitions.flatMap((one) => storedKindOf(one, functions) ?? [])]
  const byName = new Map([
    ...all.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind] as const),
    ...stored.map((kind) => [`${kind.group}//${kind.kind}`, kind] as const),
  ])
  return { all, stored, byName }
}
