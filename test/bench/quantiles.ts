export interface Quantiles {
  readonly p50: number
  readonly p99: number
}

/** The nearest-rank quantiles of what was measured; NaN of nothing. */
export function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** The middle one; of an even number, the lower of the two. */
export function median(values: readonly number[]): number {
  return quantiles(values).p50
}
