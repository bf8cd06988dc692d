import type { Labels, Metric } from '../model/metrics.ts'

/**
 * Where numbers about the control plane go. A series is asked for once, ahead of time, and is there from then on, at 0;
 * what is returned is as cheap to call as adding a number. The same metric and labels are the same series.
 */
export interface Telemetry {
  /** Adds 1, or as much as it is given. */
  counter<Label extends string>(metric: Metric<'counter', Label>, labels: Labels<Label>): (by?: number) => void

  /** Takes one observation, in the unit of the metric's name. */
  histogram<Label extends string>(metric: Metric<'histogram', Label>, labels: Labels<Label>): (value: number) => void

  /** A number that is there anyway, read when somebody looks: now, or the total so far. */
  read<Label extends string>(
    metric: Metric<'gauge' | 'counter', Label>,
    labels: Labels<Label>,
    value: () => number,
  ): void

  /**
   * There are many processes, none of which knows what became of an object after it had its turn there: a reading is to
   * tell of what this process has met since the last one.
   */
  readonly isOneOfMany?: true
}

/** What a series says now, of a histogram the sum of its observations; `undefined` if nobody has asked for it. */
export type MetricReader = (metric: Metric, labels: Labels) => number | undefined
