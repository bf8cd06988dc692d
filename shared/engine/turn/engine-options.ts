import type { Allowances } from '../../ports/allowances.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ObjectIndex } from '../../ports/object-index.ts'
import type { ObjectStore } from '../../ports/object-store.ts'
import type { Random } from '../../ports/random.ts'
import type { RunHistory } from '../../ports/run-history.ts'
import type { Roles } from '../../ports/roles.ts'
import type { Reserve } from '../../ports/reservations.ts'
import type { Vault } from '../../ports/vault.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { KindCatalog } from '../../resources/kind-catalog.ts'
import type { Resources } from '../../resources/resources.ts'
import type { EventRecorder } from '../insight/event-recorder.ts'
import type { RetryBudget } from '../limits/retry-budget.ts'
import type { Overruns } from './overruns.ts'

/** What every control loop runs on. */
export interface EngineOptions {
  readonly store: ObjectStore
  readonly index: ObjectIndex
  readonly resources: Resources
  readonly catalog: KindCatalog
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly telemetry: Telemetry
  readonly events: EventRecorder
  /** Spans of runs and of what they write. Left out, there are none. */
  readonly tracing?: Tracing
  /** Keeps the last runs of each object. Left out, nobody does. */
  readonly history?: RunHistory
  /** What all controllers together may spend on retries. Default: no limit but each object's backoff. */
  readonly retryBudget?: RetryBudget
  /** Why the definition of a kind was refused, by `group/kind`: its objects stop, and those of other kinds go on. */
  readonly refusals?: ReadonlyMap<string, string>
  /** Keeps the limits of controllers that many processes run. Left out where whoever takes the keys keeps them. */
  readonly reserve?: Reserve
  /** Counts the calls of accounts that many processes make. Left out where one process makes them all. */
  readonly allowances?: Allowances
  /** Takes roles of AWS for runs. Left out, nobody does. */
  readonly roles?: Roles
  /** Secrets of AWS. Left out, there are none. */
  readonly vault?: Vault
  /** A list of the functions that outlive their runs. It is left out where no other engine follows in this process. */
  readonly overruns?: Overruns
}
