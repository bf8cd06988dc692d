import type { Eventual } from '../model/eventual.ts'
import type { ServedKind } from '../model/served-kind.ts'

/** The kinds that are served now: the built-in ones and those of every established CustomResourceDefinition. */
export interface KindCatalog {
  /** By the words of a URL. */
  byPlural(group: string, version: string, plural: string): Eventual<ServedKind | undefined>
  /**
   * In the version objects are stored in, served or not: objects that nobody sees are there all the same. Not older
   * than that, if it is said and the kind is not built in.
   */
  byKind(group: string, kind: string, oldestMs?: number): Eventual<ServedKind | undefined>
  /** The same kind in another version, if that is served. */
  inVersion(kind: ServedKind, version: string): Eventual<ServedKind | undefined>
  /** Preferred version of each group first; built-in groups first. */
  all(): Promise<readonly ServedKind[]>
  /** Every kind that there may be objects of, as `byKind` gives it. Not older than that, if it is said. */
  listStored(oldestMs?: number): Promise<readonly ServedKind[]>
}

/** For who takes a namespace for empty, or counts: what is of a kind that is not known is not seen. */
export const freshKindsMs = 1_000

/** For who writes: as old as those may be that an API of several processes knows. */
export const writtenKindsMs = 10_000
