import { conditionSchema } from '../model/crd/crd-schema.ts'
import { goTimePattern } from '../model/time.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'

/** What the schemas of built-in kinds are made of. */

export const text: StructuralSchema = { type: 'string' }

export const texts: StructuralSchema = { type: 'array', items: text, 'x-kubernetes-list-type': 'atomic' }

export const time: StructuralSchema = { type: 'string', format: 'date-time', pattern: goTimePattern, nullable: true }

export const conditionsSchema: StructuralSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: conditionSchema,
}

export function objectSchema(description: string, properties: Record<string, StructuralSchema>): StructuralSchema {
  return {
    type: 'object',
    description,
    properties: { apiVersion: text, kind: text, metadata: { type: 'object' }, ...properties },
  }
}
