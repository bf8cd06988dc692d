import type { Json } from '../json.ts'
import { canonicalJson } from './canonical-json.ts'

/** The values of an `enum`, made ready to be looked up: how many they are costs nothing. */
export interface Options {
  has(value: Json): boolean
  /** What it takes to look a value up: a step for each value and character in a list or an object. */
  stepsOf(value: Json): number
  /** As errors print them. */
  readonly names: readonly string[]
}

/** The options of an enum; they are never changed. */
export function optionsOf(values: readonly Json[]): Options {
  const scalars = new Set(values.filter(isScalar))
  const structures = values.filter((value) => !isScalar(value))
  const texts = new Set(structures.map(canonicalJson))
  const sizeMax = Math.max(0, ...structures.map((value) => sizeOf(value, Infinity)))
  let names: readonly string[] | undefined
  return {
    has: (value) =>
      isScalar(value) ? scalars.has(value) : sizeOf(value, sizeMax) <= sizeMax && texts.has(canonicalJson(value)),
    stepsOf: (value) => (isScalar(value) ? 0 : sizeOf(value, sizeMax)),
    get names() {
      return (names ??= values
        .slice(0, namesMax)
        .map((value) => (typeof value === 'string' ? value : JSON.stringify(value))))
    },
  }
}

/** More than any error prints. */
const namesMax = 1_000

function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null
}

/** How many values and characters there are in a value, counted until it is plain that there are more than so many. */
function sizeOf(value: Json | undefined, max: number): number {
  if (typeof value === 'string') return 1 + value.length
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const part of Object.values(value)) {
    size += sizeOf(part, max - size)
    if (size > max) break
  }
  return size
}
