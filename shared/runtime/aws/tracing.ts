import { openOtlpTracing } from '../../adapters/tracing/otlp-tracing.ts'
import type { OpenAwsTraces } from './boundary.ts'

/** The module `#tracing`: in the bundles of a control plane that sends no traces an empty one stands in its place. */
export const openAwsTraces: OpenAwsTraces | undefined = openOtlpTracing
