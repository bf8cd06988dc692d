import type { Json } from '../../json.ts'
import type { CompiledSchema } from '../compiled-schema.ts'
import { areDistinct, isUniqueByValue } from '../list-type.ts'
import { question, type Fit, type FitRun } from './fit.ts'
import { isPlain, notPlain, plainOf } from './plain.ts'

/** Whether a value is a list whose items fit, of the right length, with items that differ where they must. */
export function fitList(node: CompiledSchema, fitOf: (node: CompiledSchema) => Fit): Fit {
  const { minItems = 0, maxItems = Infinity, uniqueItems } = node.forArray ?? {}
  const fitItem = node.items === undefined ? undefined : fitOf(node.items)
  const plain = node.items === undefined ? notPlain : plainOf(node.items)
  const isWhole = (items: readonly Json[], run: FitRun): boolean =>
    items.length >= minItems &&
    items.length <= maxItems &&
    (uniqueItems !== true || isUniqueByValue(items, run)) &&
    (node.listType === undefined || areDistinct(node, items))
  return (value, _old, run) => {
    if (!Array.isArray(value)) return false
    if ((run.asks & question.valid) !== 0 && !isWhole(value, run)) return false
    if (fitItem === undefined) return (run.asks & question.known) === 0 || node.preservesUnknown || value.every(isFlat)
    for (const item of value) if (!isPlain(item, plain) && !fitItem(item, undefined, run)) return false
    return true
  }
}

/** Holds no fields that a schema would have to know. */
export function isFlat(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null
}
