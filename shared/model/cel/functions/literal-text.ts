import { quote } from '../../schema/field-error.ts'
import type { Meter } from '../meter.ts'
import { compareTexts, typeNameOf } from '../equality.ts'
import { showDuration, showTimestamp } from '../times.ts'
import { CelDuration, CelFailure, Timestamp, Uint, ValueMap, TypeValue, type Value } from '../value.ts'
import { showDouble, toText } from './conversions.ts'
import { fixedText } from './number-text.ts'

/** A value as `%s` writes it within a list or a map: nearly as an expression would write it. */
export function literalText(value: Value, meter: Meter): string | CelFailure {
  meter.spend(2)
  if (value === null) return 'null'
  switch (typeof value) {
    case 'string':
      meter.spend(value.length >> 3)
      return quote(value)
    case 'number':
      return Number.isFinite(value) ? fixedText(value, decimals) : `"${showDouble(value)}"`
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      return objectText(value, meter)
  }
}

const decimals = 6

function objectText(value: Extract<Value, object>, meter: Meter): string | CelFailure {
  if (Array.isArray(value)) return listText(value as readonly Value[], meter)
  if (value instanceof ValueMap) return mapText(value, meter)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof TypeValue) return value.name
  if (value instanceof Timestamp) return `timestamp("${showTimestamp(value.ns)}")`
  if (value instanceof CelDuration) return `duration("${showDuration(value.ns)}")`
  if (!(value instanceof Uint8Array)) return new CelFailure(`no formatting function for ${typeNameOf(value)}`)
  const text = toText(value)
  return text instanceof CelFailure ? text : `b${quote(text)}`
}

function listText(items: readonly Value[], meter: Meter): string | CelFailure {
  const texts = items.map((item) => literalText(item, meter))
  return texts.find((text) => text instanceof CelFailure) ?? `[${texts.join(', ')}]`
}

/** By the texts of its keys, in their order. */
function mapText(map: ValueMap, meter: Meter): string | CelFailure {
  const entries: [string, string][] = []
  for (const key of map.keys()) {
    const value = map.get(key) ?? null
    const [name, text] = [literalText(key, meter), value instanceof CelFailure ? value : literalText(value, meter)]
    if (name instanceof CelFailure) return name
    if (text instanceof CelFailure) return text
    entries.push([name, text])
  }
  const sorted = entries.toSorted(([a], [b]) => compareTexts(a, b))
  return `{${sorted.map((entry) => entry.join(':')).join(', ')}}`
}
