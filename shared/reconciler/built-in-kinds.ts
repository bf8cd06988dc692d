import type { ObjectMeta } from '../model/object.ts'
import type { Kind } from './kind.ts'

/** The built-in kinds as reconcilers name them. */

interface BuiltInObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: Readonly<ObjectMeta>
}

/** Values of `data` are base64; `stringData` is for writing and takes plain text. */
export interface SecretObject extends BuiltInObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

/** Values of `binaryData` are base64. */
export interface ConfigMapObject extends BuiltInObject {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

export interface SecretBody {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

interface ConfigMapBody {
  readonly data?: Readonly<Record<string, string>>
  readonly binaryData?: Readonly<Record<string, string>>
  readonly immutable?: boolean
}

const core = { group: '', version: 'v1' } as const

export const Secret: Kind<SecretObject, SecretBody> = { ...core, kind: 'Secret', namespaced: true }
export const ConfigMap: Kind<ConfigMapObject, ConfigMapBody> = { ...core, kind: 'ConfigMap', namespaced: true }
export const Namespace: Kind<BuiltInObject, object> = { ...core, kind: 'Namespace', namespaced: false }
