import type { Context, Duration, NotReady } from '../../../shared/index.ts'

/**
 * Where clusters run: server processes on this machine, or a service. The stages are run in order on every reconcile;
 * each may be repeated, and may be killed at any moment, without harm. Failures are PostgresFailures, or a `retryAfter`
 * if the far side asks for time.
 */
export interface PostgresProvider {
  /** The programs that run its servers, once that is known; left out where a service runs them. */
  readonly runsOn?: () => Programs | undefined
  /** How often a cluster that is as declared is looked at. */
  readonly resync: Duration
  readonly stages: readonly Stage[]
  /** Takes away all that the stages made; repeated until it says that nothing is left. */
  remove(cluster: ClusterIdentity, run: ProviderRun): Promise<'gone' | ProviderWait>
  /** Serves no longer for us and keeps the data; says what becomes of it. */
  retain(cluster: ClusterIdentity, run: ProviderRun): Promise<string>
}

/** For people: what they are, and why there are better ones. */
export interface Programs {
  readonly what: string
  readonly advice?: string | undefined
}

/** What a provider has of the run: notes are kept with the cluster's object. */
export type ProviderRun = Pick<Context, 'signal' | 'notes' | 'now' | 'log'>

export interface ClusterIdentity {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface WantedCluster extends ClusterIdentity {
  readonly superuser: { readonly user: string; readonly password: string }
  readonly port: number | undefined
  readonly parameters: Readonly<Record<string, string>>
  readonly machine: Machine
}

/** What a service is asked for; a provider that has only this machine takes no notice. */
export interface Machine {
  readonly class?: 'small' | 'medium' | 'large' | undefined
  readonly storageGiB?: number | undefined
  /** The major version of PostgreSQL. */
  readonly version?: string | undefined
  readonly aws?: AwsPlace | undefined
}

export interface AwsPlace {
  readonly instanceClass?: string | undefined
  readonly subnetGroup?: string | undefined
  readonly securityGroups?: readonly string[] | undefined
  readonly parameterGroup?: string | undefined
}

export interface Stage {
  /** The condition that tells of it. */
  readonly condition: string
  /** What was found or made; `waiting` if later stages have to wait for it. */
  run(wanted: WantedCluster, run: ProviderRun): Promise<StageResult>
}

export interface StageResult {
  readonly waiting?: ProviderWait
  /** What was done, in words for an event; empty if all was as wanted. */
  readonly changes?: readonly string[]
  /** The server was found ended though nobody had stopped it: what happened, in words for a warning. */
  readonly outage?: string
  /** Known once a stage has found it out. */
  readonly endpoint?: {
    readonly host: string
    readonly port: number
    readonly version: string
    /** Left out where only the service knows. */
    readonly startedAt?: string
    /** Left out where a service runs it. */
    readonly programs?: Programs
  }
}

export interface ProviderWait extends NotReady {
  /** When to look again. Default 5 s. */
  readonly after?: Duration
}
