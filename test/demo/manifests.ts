import type { Manifest } from '../support/api-client.ts'

/**
 * What the demonstration declares: a tree of Konnect entities, a database, and a policy that backs it up every minute.
 */

export const konnect = named('konnect.setpoint.dev/v1alpha1')
export const postgres = named('postgres.setpoint.dev/v1alpha1')
export const batch = named('batch.setpoint.dev/v1alpha1')
export const storage = named('storage.setpoint.dev/v1alpha1')
export const core = named('v1')

function named(apiVersion: string) {
  return (kind: string, name: string): Manifest => ({ apiVersion, kind, metadata: { name } })
}

export interface DemoOptions {
  readonly konnectUrl: string
  /** Of what is looked at by the clock, in place of a minute; empty for that. */
  readonly resync: string
}

export function manifestsOf({ konnectUrl, resync }: DemoOptions): readonly Manifest[] {
  const annotations = resync === '' ? {} : { 'setpoint.dev/resync': resync }
  const declared = (at: Manifest, spec: object): Manifest & { readonly spec: object } => ({
    ...at,
    metadata: Object.assign(at.metadata, { annotations }),
    spec,
  })
  const controlPlaneRef = { name: 'demo' }
  const token: Manifest & { readonly stringData: object } = {
    ...core('Secret', 'konnect'),
    stringData: { token: 'kpat_demo' },
  }
  return [
    token,
    declared(konnect('KonnectControlPlane', 'demo'), { authRef: { name: 'konnect' }, serverURL: konnectUrl }),
    declared(konnect('KonnectService', 'orders'), { controlPlaneRef, host: 'orders.example', port: 8080 }),
    declared(konnect('KonnectRoute', 'orders'), {
      controlPlaneRef,
      serviceRef: { name: 'orders' },
      paths: ['/orders'],
    }),
    declared(konnect('KonnectConsumer', 'partner'), { controlPlaneRef }),
    declared(postgres('PostgresCluster', 'main'), {}),
    declared(postgres('PostgresDatabase', 'orders'), { clusterRef: { name: 'main' } }),
    declared(storage('BackupPolicy', 'minutely'), {
      schedule: '* * * * *',
      retentionDays: 7,
      targets: [{ name: 'orders' }],
    }),
  ]
}
