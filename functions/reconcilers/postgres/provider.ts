import type { NotReady } from '../../../shared/index.ts'

/**
 * Where clusters run: server processes on this machine, or a service. The stages are run in order on every reconcile; each
 * may be repeated, and may be killed at any moment, without harm. Failures are PostgresFailures.
 */
export interface PostgresProvider {
  readonly stages: readonly Stage[]
  /** Takes away all that the stages made; repeated until it says that nothing is left. */
  remove(cluster: ClusterIdentity, signal: AbortSignal): Promise<'gone' | NotReady>
  /** Stops serving and keeps the data; says where the data is. */
  retain(cluster: ClusterIdentity, signal: AbortSignal): Promise<string>
}

export interface ClusterIdentity {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface WantedCluster extends ClusterIdentity {
  readonly superuser: { readonly user: string; readonly password: string }
  readonly port: number | undefined
  readonly parameters: Readonly<Record<string, string>>
}

export interface Stage {
  /** The condition that tells of it. */
  readonly condition: string
  /** What was found or made; `waiting` if later stages have to wait for it. */
  run(wanted: WantedCluster, signal: AbortSignal): Promise<StageResult>
}

export interface StageResult {
  readonly waiting?: NotReady
  /** What was done, in words for an event; empty if all was as wanted. */
  readonly changes?: readonly string[]
  /** Known once a stage has found it out. */
  readonly endpoint?: { readonly host: string; readonly port: number; readonly version: string }
}
