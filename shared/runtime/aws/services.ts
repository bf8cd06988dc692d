import type { ControlLoopsOptions } from '../../engine/loops/control-loops.ts'
import { kindsNamedBy, type Controller } from '../../reconciler/controller.ts'
import type { Kind } from '../../reconciler/kind.ts'
import { createEventRecorder } from '../../engine/insight/event-recorder.ts'
import { createSharedRetryBudget } from '../../engine/limits/retry-budget.ts'
import type { Rate } from '../../model/reservations.ts'
import type { ChangeFeed } from '../../ports/change-feed.ts'
import type { Checkpoint } from '../../ports/checkpoint.ts'
import type { Logger } from '../../ports/logger.ts'
import type { InHand } from '../../ports/in-hand.ts'
import type { ListNetted } from '../../ports/netted.ts'
import type { ObjectIndex } from '../../ports/object-index.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Reserve } from '../../ports/reservations.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { WorkQueue } from '../../ports/work-queue.ts'
import { collectKindFunctions, convertFeed, convertReads, type KindFunctions } from '../../resources/converted-reads.ts'
import { createResources } from '../../resources/create-resources.ts'
import { tellDefinitionWrites } from '../../resources/definition-writes.ts'
import { createStoredAccess } from '../../resources/stored-access.ts'
import type { PolicyReview } from '../../resources/policy-review.ts'
import { createStoredPolicies } from '../../resources/stored-policies.ts'
import { createStoredQuotas } from '../../resources/stored-quotas.ts'
import { writtenKindsMs } from '../../resources/kind-catalog.ts'
import { createKindCatalog, type StoreKindCatalog } from '../../resources/store-kind-catalog.ts'
import type { ReadAccess } from '../../api/access/guard.ts'
import type { Allowances } from '../../ports/allowances.ts'
import type { AwsBoundary, AwsTraces } from './boundary.ts'
import { withWriteSpans } from '../spans.ts'
import type { FlushedHistory } from './kept-runs.ts'
import type { QueueCapacity } from './queues.ts'
import { withSafetyNet } from '../../engine/wake/safety-net.ts'

/** What the table gives. */
export interface TablePorts {
  readonly store: ObjectStore
  readonly index: ObjectIndex
  readonly feed: ChangeFeed
  readonly reserve: Reserve
  readonly allowances?: Allowances
  readonly listNetted: ListNetted
  readonly inHand: InHand
  readonly history?: FlushedHistory
  checkpoint(name: string): Checkpoint
}

/** What the functions of one control plane work with: made once per process, and used by all its invocations. */
export interface AwsServices extends ControlLoopsOptions, TablePorts, Pick<AwsBoundary, 'retire'> {
  readonly catalog: StoreKindCatalog
  readonly reserve: Reserve
  readonly history?: FlushedHistory
  readonly readAccess: ReadAccess
  readonly policies: PolicyReview
  /** Of the kinds that the controllers know. */
  readonly conversions: KindFunctions
}

/**
 * What another process wrote and gave an answer to is known at once, by its version. A write whose process ended ahead
 * of its answer is known so long after.
 */
const accessMaxAgeMs = 60_000

/** How old the kinds may be that the API knows. */
export const apiKindsMaxAgeMs = writtenKindsMs

/** So long after its begin a function of the API has ended, by its timeout. Watches take that long. */
export const apiRunMsMax = 90_000

/**
 * Behind the last write of a function of the API that began with the oldest kinds; ten seconds are for clocks that
 * differ. Others may know older ones: they look for the definition with each creation.
 */
const definitionGraceMs = apiKindsMaxAgeMs + apiRunMsMax + 10_000

/** A process of reconcilers learns of a quota that another one made so long after; one of the API with the kinds. */
const quotasMaxAgeMs = 60_000

/** A policy that another process wrote is asked so long after. */
const policiesMaxAgeMs = 30_000

/** Longer than that by what clocks may differ, and by what a write may be late. */
const quotaLagMs = quotasMaxAgeMs + 10_000

export interface AwsServicesOptions {
  readonly boundary: Pick<AwsBoundary, 'clock' | 'random' | 'retire' | 'webhooks'>
  readonly logger: Logger
  readonly telemetry: Telemetry
  readonly traces?: AwsTraces
  readonly ports: TablePorts
  readonly controllers: readonly Controller[]
  /** Kinds whose hooks and conversions are used beside those of the controllers' kinds; for tests. */
  readonly kinds?: readonly Kind<unknown, unknown>[]
  /** What all controllers together may spend on retries. Default: no limit. */
  readonly retryBudget?: Rate | undefined
  /** What else a write does. */
  readonly wrapStore?: (store: ObjectStore) => ObjectStore
  /** How old may be what is known of the kinds that others define. */
  readonly kindsMaxAgeMs: number
}

/** With the queues, for those who send wake-ups or hold them. */
export interface QueueServices extends AwsServices {
  readonly queueOf: (loop: { readonly name: string }) => WorkQueue
  readonly capacityOf: (loop: { readonly name: string }) => QueueCapacity
}

export function createAwsServices(options: AwsServicesOptions): AwsServices {
  const { boundary, ports, controllers, kinds = [], kindsMaxAgeMs, logger, telemetry, retryBudget: rate } = options
  const { clock, random, retire } = boundary
  const functions = collectKindFunctions([...kindsNamedBy(controllers), ...kinds])
  const catalog = createKindCatalog({
    store: ports.store,
    clock,
    maxAgeMs: kindsMaxAgeMs,
    functions,
    conversions: { random, webhooks: boundary.webhooks },
  })
  const access = createStoredAccess({
    store: ports.store,
    clock,
    maxAgeMs: accessMaxAgeMs,
    version: { checkpoint: ports.checkpoint('access'), newText: () => random.uuid() },
  })
  const quotas = createStoredQuotas({
    store: ports.store,
    catalog,
    clock,
    logger,
    maxAgeMs: Math.min(kindsMaxAgeMs, quotasMaxAgeMs),
  })
  const told = access.follow(tellDefinitionWrites(convertReads(ports.store, functions), catalog.invalidate))
  const { wrapStore = (one) => one } = options
  const policies = createStoredPolicies({
    store: ports.store,
    catalog,
    clock,
    random,
    maxAgeMs: policiesMaxAgeMs,
    readAccess: access.read,
    webhooks: boundary.webhooks,
  })
  const netted = withSafetyNet(told, { clock, controllers, logger })
  const tracing = options.traces?.tracing
  const store = withWriteSpans(wrapStore(policies.follow(quotas.follow(netted))), tracing)
  const mayOutliveKinds = kindsMaxAgeMs > apiKindsMaxAgeMs
  const resources = createResources({ store, clock, random, quotas, policies, mayOutliveKinds })
  const events = createEventRecorder({ resources, clock, logger })
  const retryBudget = rate && createSharedRetryBudget(rate, ports.reserve)
  return {
    ...ports,
    feed: convertFeed(ports.feed, functions),
    conversions: functions,
    store,
    resources,
    catalog,
    clock,
    random,
    logger,
    telemetry,
    events,
    controllers,
    retire,
    definitionGraceMs,
    quotaLagMs,
    readAccess: access.read,
    policies,
    ...(retryBudget && { retryBudget }),
    ...(tracing && { tracing }),
  }
}
