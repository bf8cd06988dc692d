import { defineBuiltInKind, type ServedKind } from '../model/served-kind.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'

export interface UnstoredKind {
  readonly description: string
  readonly namespaced?: true
  readonly spec?: StructuralSchema
  readonly status: StructuralSchema
  readonly selectableFields?: readonly string[]
}

/** A kind whose objects are made for the answer to one request, and never stored. */
export function unstoredKind(group: string, kind: string, made: UnstoredKind): ServedKind {
  const { description, namespaced, selectableFields = [], ...parts } = made
  const string: StructuralSchema = { type: 'string' }
  return defineBuiltInKind({
    group,
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: namespaced === true,
    schema: {
      type: 'object',
      description,
      properties: { apiVersion: string, kind: string, metadata: { type: 'object' }, ...parts },
    },
    selectableFields,
  })
}
