import {
  again,
  defineReconciler,
  done,
  Secret,
  waiting,
  type ConditionPatch,
  type Context,
  type Controller,
  type NotReady,
  type ObjectOf,
} from '../../../shared/index.ts'
import { keepOrChoosePassword, keepSecret } from './credentials.ts'
import { asOutcome } from './failure-outcome.ts'
import { PostgresCluster } from './kinds.ts'
import type { ClusterIdentity, PostgresProvider, StageResult, WantedCluster } from './provider.ts'

type Cluster = ObjectOf<typeof PostgresCluster>

/**
 * Keeps a PostgreSQL server as declared, stage by stage: superuser's Secret, data directory, configuration, running server.
 * Every run starts from the first stage; a stage that holds is only looked at.
 */
export function clusterReconciler(provider: PostgresProvider): Controller {
  return defineReconciler(PostgresCluster, {
    owns: [Secret],
    resync: '1m',
    concurrency: 4,
    timeout: '2m',

    reconcile: (cluster, ctx) =>
      asOutcome(async () => {
        const secretName = `${cluster.metadata.name}-superuser`
        const password = await keepOrChoosePassword(ctx, secretName)
        const superuser = { user: 'postgres', password }
        await keepSecret(ctx, secretName, { username: superuser.user, password, ...address(cluster) })
        const { conditions, endpoint, unready } = await runStages(
          provider,
          { ...identityOf(cluster), superuser, port: cluster.spec.port, parameters: cluster.spec.parameters },
          ctx,
        )
        if (unready !== undefined || endpoint === undefined)
          return again('5s', { conditions, ready: unready ?? noEndpoint })
        await keepSecret(ctx, secretName, {
          username: superuser.user,
          password,
          host: endpoint.host,
          port: String(endpoint.port),
        })
        return done({ status: { ...endpoint, secretRef: { name: secretName } }, conditions })
      }),

    cleanup: (cluster, ctx) =>
      asOutcome(async () => {
        if (cluster.spec.deletionPolicy === 'Retain') {
          await ctx.event(
            'Normal',
            'Retained',
            `stopped; the data stays in ${await provider.retain(identityOf(cluster), ctx.signal)}`,
          )
          return done()
        }
        const left = await provider.remove(identityOf(cluster), ctx.signal)
        return left === 'gone' ? done() : again('5s', { ready: left })
      }),
  })
}

const noEndpoint = waiting('NoEndpoint', 'the server has no address yet')

interface Staged {
  readonly conditions: Readonly<Record<string, ConditionPatch>>
  readonly endpoint?: StageResult['endpoint']
  readonly unready?: NotReady
}

/** Runs stage after stage, up to the first that is not ready. */
async function runStages(provider: PostgresProvider, wanted: WantedCluster, ctx: Context): Promise<Staged> {
  const conditions: Record<string, ConditionPatch> = { CredentialsReady: { status: 'True', reason: 'Stored' } }
  let endpoint: StageResult['endpoint']
  for (const stage of provider.stages) {
    const result = await stage.run(wanted, ctx.signal)
    for (const change of result.changes ?? []) await ctx.event('Normal', stage.condition, change)
    conditions[stage.condition] =
      result.waiting === undefined ? { status: 'True', reason: 'AsDeclared' } : { status: 'False', ...result.waiting }
    if (result.waiting !== undefined) return { conditions, unready: result.waiting }
    endpoint = result.endpoint ?? endpoint
  }
  return { conditions, ...(endpoint === undefined ? {} : { endpoint }) }
}

function identityOf({ metadata: { namespace = '', name, uid } }: Cluster): ClusterIdentity {
  return { namespace, name, uid }
}

/** What the Secret said of the address before, so that an unchanged Secret is not written. */
function address({ status }: Cluster): Readonly<Record<string, string>> {
  return status?.host === undefined || status.port === undefined ? {} : { host: status.host, port: String(status.port) }
}
