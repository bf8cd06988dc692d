import {
  again,
  defineReconciler,
  done,
  Secret,
  waiting,
  type ConditionPatch,
  type Context,
  type Controller,
  type ObjectOf,
  type Outcome,
} from '../../../shared/index.ts'
import { keepOrChoosePassword, keepSecret } from './credentials.ts'
import { asOutcome, tellFailure } from './failure-outcome.ts'
import { PostgresCluster } from './kinds.ts'
import type { ClusterIdentity, PostgresProvider, StageResult, ProviderWait, WantedCluster } from './provider.ts'

type Cluster = ObjectOf<typeof PostgresCluster>

/**
 * Keeps a PostgreSQL server as declared, stage by stage: superuser's Secret, data directory, configuration, running
 * server. Every run starts from the first stage; a stage that holds is only looked at.
 */
export function clusterReconciler(provider: PostgresProvider): Controller {
  const controller = defineReconciler(PostgresCluster, {
    owns: [Secret],
    grants: [],
    resync: provider.resync,
    concurrency: 4,
    timeout: '2m',

    reconcile: (cluster, ctx) =>
      asOutcome(async () => {
        const secretName = `${cluster.metadata.name}-superuser`
        const password = await keepOrChoosePassword(ctx, secretName)
        const superuser = { user: 'postgres', password }
        await keepSecret(ctx, secretName, { username: superuser.user, password, ...address(cluster) })
        const { conditions, endpoint, unready } = await runStages(provider, wantedOf(cluster, superuser), ctx)
        if (unready !== undefined || endpoint === undefined) return lookAgain(unready ?? noEndpoint, conditions)
        await keepSecret(ctx, secretName, {
          username: superuser.user,
          password,
          host: endpoint.host,
          port: String(endpoint.port),
        })
        const restarts = restartsOf(ctx)
        const counted = restarts === 0 ? {} : { restarts }
        const { programs, ...place } = endpoint
        const status = { ...place, ...(programs && { programs: programs.what }), ...counted }
        return done({
          status: { ...status, secretRef: { name: secretName } },
          conditions: { ...conditions, ...libraryCondition(programs?.advice) },
        })
      }),

    cleanup: (cluster, ctx) =>
      asOutcome(async () => {
        if (cluster.spec.deletionPolicy === 'Retain') {
          await ctx.event('Normal', 'Retained', `the data stays: ${await provider.retain(identityOf(cluster), ctx)}`)
          return done()
        }
        const left = await provider.remove(identityOf(cluster), ctx)
        return left === 'gone' ? done() : lookAgain(left)
      }),
  })
  const { runsOn } = provider
  return runsOn === undefined ? controller : { ...controller, runsOn }
}

/** There while it is True; a reader who finds none has nothing to do. */
function libraryCondition(advice: string | undefined): Readonly<Record<string, ConditionPatch | null>> {
  return {
    UnsupportedLibraries: advice === undefined ? null : { status: 'True', reason: 'OutOfSupport', message: advice },
  }
}

const noEndpoint = waiting('NoEndpoint', 'the server has no address yet')

function lookAgain({ reason, message, after = '5s' }: ProviderWait, conditions: Conditions = {}): Outcome<never> {
  return again(after, { conditions, ready: { reason, message } })
}

type Conditions = Readonly<Record<string, ConditionPatch>>

interface Staged {
  readonly conditions: Conditions
  readonly endpoint?: StageResult['endpoint']
  readonly unready?: ProviderWait
}

/** Runs stage after stage, up to the first that is not ready. */
async function runStages(provider: PostgresProvider, wanted: WantedCluster, ctx: Context): Promise<Staged> {
  const conditions: Record<string, ConditionPatch> = { CredentialsReady: { status: 'True', reason: 'Stored' } }
  let endpoint: StageResult['endpoint']
  for (const stage of provider.stages) {
    const { condition } = stage
    const result = await tellFailure(
      () => stage.run(wanted, ctx),
      ({ reason, message }) => ({ ...conditions, [condition]: { status: 'False', reason, message } }),
    )
    if (result.outage !== undefined) await tellOutage(result.outage, ctx)
    for (const change of result.changes ?? []) await ctx.event('Normal', condition, change)
    conditions[condition] = conditionOf(result)
    if (result.waiting !== undefined) return { conditions, unready: result.waiting }
    endpoint = result.endpoint ?? endpoint
  }
  return { conditions, ...(endpoint === undefined ? {} : { endpoint }) }
}

/** Stays in the status: events are gone after an hour. */
async function tellOutage(what: string, ctx: Context): Promise<void> {
  ctx.notes.set(restartsNote, restartsOf(ctx) + 1)
  await ctx.event('Warning', 'ServerEnded', `${what}, and is started again`)
}

const restartsNote = 'restarts'

function restartsOf({ notes }: Context): number {
  return Number(notes.get(restartsNote) ?? 0)
}

function conditionOf({ waiting: wait }: StageResult): ConditionPatch {
  return wait === undefined
    ? { status: 'True', reason: 'AsDeclared' }
    : { status: 'False', reason: wait.reason, message: wait.message }
}

function wantedOf(cluster: Cluster, superuser: WantedCluster['superuser']): WantedCluster {
  const { port, parameters, class: size, storageGiB, version, aws } = cluster.spec
  return { ...identityOf(cluster), superuser, port, parameters, machine: { class: size, storageGiB, version, aws } }
}

function identityOf({ metadata: { namespace = '', name, uid } }: Cluster): ClusterIdentity {
  return { namespace, name, uid }
}

/** What the Secret said of the address before, so that an unchanged Secret is not written. */
function address({ status }: Cluster): Readonly<Record<string, string>> {
  return status?.host === undefined || status.port === undefined ? {} : { host: status.host, port: String(status.port) }
}
