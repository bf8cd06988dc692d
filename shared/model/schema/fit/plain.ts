import { type CompiledSchema, jsonType } from '../compiled-schema.ts'

/**
 * A schema of scalars that asks for no more than a type and a range: its values are checked on the spot, without a
 * call.
 */
export interface Plain {
  /** A bit of `jsonType`; 0 if the schema is not so plain, and its closure has to be asked. */
  readonly type: number
  /** Of a number, or of the length of a text. What is outside may still fit: the closure knows. */
  readonly least: number
  readonly most: number
}

export const notPlain: Plain = { type: 0, least: 0, most: 0 }

export function plainOf(node: CompiledSchema): Plain {
  const { types, format, forString, forNumber } = node
  if (node.enum !== undefined || node.branches !== undefined || format !== undefined) return notPlain
  if (types === jsonType.string && forString?.pattern === undefined) {
    // A character may take two units.
    return { type: types, least: 2 * (forString?.minLength ?? 0), most: forString?.maxLength ?? Infinity }
  }
  if (types === jsonType.integer && forNumber?.multipleOf === undefined) return plainInteger(forNumber)
  return types === jsonType.boolean ? { type: types, least: 0, most: 0 } : notPlain
}

function plainInteger(keywords: CompiledSchema['forNumber']): Plain {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = false, exclusiveMaximum = false } = keywords ?? {}
  // Bounds that belong to the range no more are left to the closure.
  const least = Math.max(exclusiveMinimum ? minimum + 1 : minimum, Number.MIN_SAFE_INTEGER)
  const most = Math.min(exclusiveMaximum ? maximum - 1 : maximum, Number.MAX_SAFE_INTEGER)
  return { type: jsonType.integer, least, most }
}

/** Whether the value is one of the plain ones; a no means that the closure has to be asked. */
export function isPlain(value: unknown, { type, least, most }: Plain): boolean {
  if (typeof value === 'string') return type === jsonType.string && value.length >= least && value.length <= most
  if (typeof value === 'number') {
    return type === jsonType.integer && value >= least && value <= most && Number.isInteger(value)
  }
  return typeof value === 'boolean' && type === jsonType.boolean
}
