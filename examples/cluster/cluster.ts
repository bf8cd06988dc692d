import * as z from 'zod'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  degraded,
  done,
  progressing,
  Secret,
  waiting,
  type Context,
  type Controller,
  type ObjectOf,
} from 'setpoint'

/** Somebody else's reconciler runs members and says how many are ready: those with the lowest numbers, in order. */
export const StatefulSet = defineKind({
  group: 'apps',
  version: 'v1',
  kind: 'StatefulSet',
  shortNames: ['sts'],
  spec: z.object({
    serviceName: z.string(),
    replicas: z.number().int().min(0).default(1),
    template: z.object({
      spec: z.object({
        containers: z.array(z.object({ name: z.string(), image: z.string(), args: z.array(z.string()) })),
      }),
    }),
  }),
  status: z.object({ readyReplicas: z.number().int() }),
})

/** Services of the core group cannot be brought by a reconciler. */
export const Service = defineKind({
  group: 'networking.example.com',
  version: 'v1',
  kind: 'Service',
  spec: z.object({ selector: z.record(z.string(), z.string()), port: z.number().int() }),
})

export const DatabaseCluster = defineKind({
  group: 'db.example.com',
  version: 'v1alpha1',
  kind: 'DatabaseCluster',
  spec: z.object({
    replicas: z.number().int().min(1).max(7).default(3),
    maxConnections: z.number().int().min(1).default(100),
  }),
  status: z.object({ primary: z.string(), readyReplicas: z.number().int() }).partial(),
  columns: [
    { name: 'Primary', type: 'string', jsonPath: '.status.primary' },
    { name: 'Members', type: 'integer', jsonPath: '.status.readyReplicas' },
  ],
})
type DatabaseCluster = ObjectOf<typeof DatabaseCluster>

/**
 * Each run begins with the first stage. A stage that has what it wants writes nothing, and a stage that is not ready
 * ends the run: the stages below it come when it is.
 */
export const databaseClusters: Controller = defineReconciler(DatabaseCluster, {
  owns: [Secret, ConfigMap, StatefulSet, Service],

  async reconcile(cluster, ctx) {
    const { name } = cluster.metadata
    await ensurePassword(cluster, ctx)
    await ctx.apply(ConfigMap, {
      metadata: { name: `${name}-config` },
      data: { 'max-connections': String(cluster.spec.maxConnections) },
    })
    const { replicas, readyReplicas } = await ensureMembers(cluster, cluster.spec.replicas, ctx)
    await ensureService(`${name}-members`, { cluster: name }, ctx)
    if (readyReplicas === 0)
      return again('10s', { status: { readyReplicas }, ready: waiting('Bootstrapping', 'the first member starts') })

    const primary = choosePrimary(cluster, readyReplicas)
    await ensureService(`${name}-primary`, { member: primary }, ctx)
    if (readyReplicas < replicas) {
      const missing = waiting('MembersMissing', `${readyReplicas} of ${replicas} members are ready`)
      const conditions = { ...progressing(missing), ...degraded(missing) }
      return again('10s', { status: { primary, readyReplicas }, ready: missing, conditions })
    }
    return done({
      status: { primary, readyReplicas },
      conditions: {
        Ready: { status: 'True', reason: 'AllReplicasReady' },
        ...progressing(false),
        ...degraded(false),
      },
    })
  },

  /** The engine added the finalizer before the first run. The children go with their owner, once the members stand. */
  async cleanup(cluster, ctx) {
    if ((await ctx.get(StatefulSet, cluster.metadata.name)) === undefined) return done()
    const { readyReplicas } = await ensureMembers(cluster, 0, ctx)
    return readyReplicas === 0 ? done() : again('10s', { ready: waiting('Stopping', `${readyReplicas} members run`) })
  },
})

/** Made once: another password would lock out whoever has this one. */
async function ensurePassword({ metadata: { name } }: DatabaseCluster, ctx: Context): Promise<void> {
  const existing = await ctx.get(Secret, `${name}-password`)
  if (existing?.data?.['password'] !== undefined) return
  await ctx.apply(Secret, { metadata: { name: `${name}-password` }, stringData: { password: crypto.randomUUID() } })
}

interface Members {
  readonly replicas: number
  readonly readyReplicas: number
}

async function ensureMembers({ metadata }: DatabaseCluster, replicas: number, ctx: Context): Promise<Members> {
  const { name } = metadata
  const containers = [{ name: 'database', image: 'example.com/database:1', args: [`--config=${name}-config`] }]
  const { status } = await ctx.apply(StatefulSet, {
    metadata: { name },
    spec: { serviceName: `${name}-members`, replicas, template: { spec: { containers } } },
  })
  return { replicas, readyReplicas: status?.readyReplicas ?? 0 }
}

async function ensureService(name: string, selector: Readonly<Record<string, string>>, ctx: Context): Promise<void> {
  await ctx.apply(Service, { metadata: { name }, spec: { selector, port: 5432 } })
}

/** Whoever is the primary stays it while it is ready. */
export function choosePrimary({ metadata: { name }, status }: DatabaseCluster, readyReplicas: number): string {
  const number = Number(status?.primary?.slice(name.length + 1) ?? Number.NaN)
  return `${name}-${number < readyReplicas ? number : 0}`
}
