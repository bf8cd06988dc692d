import type { StructuralSchema } from '../model/schema/structural-schema.ts'

/** What the schemas of built-in kinds are made of. */

export const text: StructuralSchema = { type: 'string' }

export const texts: StructuralSchema = { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' }

export function objectSchema(description: string, properties: Record<string, StructuralSchema>): StructuralSchema {
  return {
    type: 'object',
    description,
    properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, ...properties },
  }
}
