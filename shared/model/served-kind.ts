import type { AdmissionHooks } from './admission-hooks.ts'
import type { Conversion } from './conversion.ts'
import type { StructuralSchema } from './schema/structural-schema.ts'

/** One kind in one served version: what the API and the engine need to know to handle its objects. */
export interface ServedKind {
  readonly group: string
  readonly version: string
  /** Objects are stored in this version; other served versions differ in their apiVersion and schema only. */
  readonly storageVersion: string
  /** All versions of its definition, served or not; absent where there is none. */
  readonly versions?: readonly string[]
  /** All versions that are served, if there is more than this one. */
  readonly servedVersions?: readonly string[]
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** Of the whole object; `metadata` is described by the API conventions, not here. */
  readonly schema: StructuralSchema
  /** Status has a path of its own: writes to the object keep the status, writes to `/status` change nothing else. */
  readonly hasStatus: boolean
  /** Where `/scale` reads and writes; without it there is none. */
  readonly scale?: ScalePaths
  readonly columns: readonly PrinterColumn[]
  /** Beyond metadata.name and metadata.namespace: JSON paths such as `spec.color`, without a leading dot. */
  readonly selectableFields: readonly string[]
  /** Where a selectable field is found that has no path of its own: at the first place that holds something. */
  readonly selectedAt?: SelectedAt
  /** What clients of this version are warned of. */
  readonly deprecation?: string
  /** Of what its objects hold beside metadata, messages name the place and never the value. */
  readonly isConfidential?: true
  /** Kubernetes gives its objects no generation. They have one that the engine works by, and clients do not see it. */
  readonly hidesGeneration?: true
  /** Comes with the control plane, not from a CustomResourceDefinition. */
  readonly builtIn: boolean
  /** Names the CustomResourceDefinition and the state of its spec. Equal names say the same of objects. */
  readonly definedBy?: string
  /** Its definition is being deleted, and its objects with it: there are no new ones. */
  readonly isEnding?: true
  /** Other versions differ in more than apiVersion and schema: functions make one of the other. */
  readonly conversion?: Conversion
  /** Functions that see each write of its objects. */
  readonly hooks?: AdmissionHooks
  /** Its objects are those of another kind, shown under other names; see twin.ts. */
  readonly twin?: Twin
  /** The other group in which there are its objects: that of its twin, or of the kind whose twin it is. */
  readonly twinGroup?: string
  /** The group of the twin that it is asked by; absent if it is asked by its own. */
  readonly askedAs?: string
}

export type SelectedAt = Readonly<Record<string, readonly string[]>>

export interface Twin {
  readonly of: ServedKind
  /** Fields at the top of an object: those of this kind and those of the other, each by the other name. */
  readonly renames: ReadonlyMap<string, string>
}

/** The kind that objects of this one are stored as: they have its key. */
export function storedAs(kind: ServedKind): ServedKind {
  return kind.twin?.of ?? kind
}

/** The version that a write works in: what the writer sees, if functions convert it, or else what is stored. */
export function workVersionOf({ conversion, version, storageVersion }: ServedKind): string {
  return conversion === undefined ? storageVersion : version
}

/**
 * A kind that comes with the control plane, in its one version v1, with what most of them have if nothing else is said.
 */
export function defineBuiltInKind(
  parts: Pick<ServedKind, 'group' | 'kind' | 'plural' | 'namespaced' | 'schema'> & Partial<ServedKind>,
): ServedKind {
  return {
    version: 'v1',
    storageVersion: 'v1',
    listKind: `${parts.kind}List`,
    singular: parts.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    hasStatus: false,
    columns: [],
    selectableFields: [],
    builtIn: true,
    ...parts,
  }
}

export interface PrinterColumn {
  readonly name: string
  readonly type: 'integer' | 'number' | 'string' | 'boolean' | 'date'
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  /** Above 0: only with `-o wide`. */
  readonly priority?: number
}

/** Where `kubectl scale` reads and writes: JSON paths below `.spec` and `.status`. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}
