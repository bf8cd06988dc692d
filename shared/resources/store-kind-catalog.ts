import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import type { Eventual } from '../model/eventual.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Clock } from '../ports/clock.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import { builtInKinds, twinKinds } from './built-in-kinds.ts'
import type { KindFunctions } from './converted-reads.ts'
import { servedKindsOf, storedKindOf, withDefined } from './custom-kinds.ts'
import type { KindCatalog } from './kind-catalog.ts'
import { keepReading } from '../model/keep-reading.ts'
import { definitionsIn } from './stored-definitions.ts'
import type { ConversionSources } from './webhook-conversion.ts'

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
  /** Who converts objects for definitions that name a webhook. Left out, they are served as without. */
  readonly conversions?: ConversionSources
}

/**
 * The catalog over the definitions in the store. A kind it does not know makes it look again, at most once a second.
 */
export function createKindCatalog({ store, clock, maxAgeMs, ...sources }: CatalogOptions): StoreKindCatalog {
  let definitions: readonly CustomResourceDefinition[] = []
  const read = async (): Promise<Index> => {
    definitions = asBefore(await definitionsIn(store), definitions)
    return indexOf(definitions, sources)
  }
  const kept = keepReading({ read, clock, maxAgeMs })

  // Where every change is told, nothing that is kept is old.
  const agedAtMost = (oldestMs: number): number => (maxAgeMs === Infinity ? Infinity : Math.min(maxAgeMs, oldestMs))

  const look = async (name: string, oldestMs: number): Promise<ServedKind | undefined> =>
    (await kept.get(oldestMs)).byName.get(name) ?? (await kept.get(Math.min(oldestMs, missAgeMs))).byName.get(name)

  const find = (name: string, oldestMs = maxAgeMs): Eventual<ServedKind | undefined> => {
    const found = kept.peek()?.byName.get(name)
    const isKnown = found !== undefined && (found.builtIn || kept.peek(oldestMs) !== undefined)
    return isKnown ? found : look(name, oldestMs)
  }

  return {
    byPlural: (group, version, plural) => find(`${group}/${version}/${plural}`),
    byKind: (group, kind, oldestMs = maxAgeMs) => find(`${group}//${kind}`, agedAtMost(oldestMs)),
    inVersion: ({ group, plural }, version) => find(`${group}/${version}/${plural}`),
    all: async () => (await kept.get()).all,
    listStored: async (oldestMs = maxAgeMs) => (await kept.get(agedAtMost(oldestMs))).stored,
    invalidate: kept.forget,
  }
}

const missAgeMs = 1_000

interface Index {
  readonly all: readonly ServedKind[]
  readonly stored: readonly ServedKind[]
  /** By `group/version/plural`, and by `group//kind` in the storage version. */
  readonly byName: ReadonlyMap<string, ServedKind>
}

/**
 * Definitions that have not changed since are the same objects: what was made of their schemas is kept, and is not made
 * again whenever any definition changes.
 */
function asBefore(
  definitions: readonly CustomResourceDefinition[],
  before: readonly CustomResourceDefinition[],
): readonly CustomResourceDefinition[] {
  const known = new Map(before.map((one) => [one.metadata.uid, one]))
  return definitions.map((one) => {
    const { uid, resourceVersion } = one.metadata
    const same = known.get(uid)
    return same !== undefined && same.metadata.resourceVersion === resourceVersion ? same : one
  })
}

function indexOf(
  definitions: readonly CustomResourceDefinition[],
  { functions: own, conversions }: Pick<CatalogOptions, 'functions' | 'conversions'>,
): Index {
  const functions = withDefined(own, definitions, conversions)
  const all = [...builtInKinds, ...twinKinds, ...definitions.flatMap((one) => servedKindsOf(one, functions))]
  const stored = [...builtInKinds, ...definitions.flatMap((one) => storedKindOf(one, functions) ?? [])]
  const byName = new Map([
    ...all.map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind] as const),
    ...stored.map((kind) => [`${kind.group}//${kind.kind}`, kind] as const),
  ])
  return { all, stored, byName }
}
