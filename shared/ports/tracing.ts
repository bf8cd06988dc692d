/**
 * Spans of what the control plane does, for people who look at traces. Nothing is decided by it. Whoever is given none
 * does nothing for it.
 */
export interface Tracing {
  /** Does the work within a span, and rejects as the work does. */
  span<Result>(plan: SpanPlan, work: () => Promise<Result>, tell?: (result: Result) => SpanEnd): Promise<Result>

  /** The span that is under way, as the text of W3C's `traceparent`, kept or not; undefined outside of all. */
  current(): string | undefined
}

export interface SpanPlan {
  readonly name: string
  readonly kind: 'server' | 'consumer' | 'internal'
  readonly attributes: SpanAttributes
  /** A `traceparent`, or `none`. Left out: the span that is under way. */
  readonly parent?: string
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** What is known at the end. */
export interface SpanEnd {
  readonly attributes: SpanAttributes
  /** What went wrong, for who reads the trace. */
  readonly error?: string | undefined
}
