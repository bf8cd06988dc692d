/** How many characters, bytes, items or entries a value has, at least and at most. */
export interface Size {
  readonly min: number
  readonly max: number
}

/** What Go's uint64 ends at: more is as much. */
const most = 2 ** 64

export const unknownSize: Size = { min: 0, max: most }
export const single: Size = { min: 1, max: 1 }

export function exactly(count: number): Size {
  return { min: count, max: count }
}

export function sum(...costs: readonly number[]): number {
  return Math.min(
    most,
    costs.reduce((all, cost) => all + cost, 0),
  )
}

export function product(a: number, b: number): number {
  return Math.min(most, a * b)
}

/** What it costs to go through so much. */
export function perUnit(count: number, cost: number): number {
  return Math.min(most, Math.ceil(count * cost))
}

export function added(a: Size, b: Size): Size {
  return { min: sum(a.min, b.min), max: sum(a.max, b.max) }
}

export function times(a: Size, b: Size): Size {
  return { min: product(a.min, b.min), max: product(a.max, b.max) }
}

/** What either may have. */
export function either(a: Size, b: Size): Size {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) }
}
