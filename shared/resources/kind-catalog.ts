import type { ServedKind } from '../model/served-kind.ts'

/** The kinds that are served now: the built-in ones and those of every established CustomResourceDefinition. */
export interface KindCatalog {
  /** By the words of a URL. */
  byPlural(group: string, version: string, plural: string): Promise<ServedKind | undefined>
  /** In the version objects are stored in. */
  byKind(group: string, kind: string): Promise<ServedKind | undefined>
  /** Preferred version of each group first; built-in groups first. */
  all(): Promise<readonly ServedKind[]>
}
