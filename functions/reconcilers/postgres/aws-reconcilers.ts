import type { CloudControl } from '@aws-sdk/client-cloudcontrol'
import type { Controller } from '../../../shared/index.ts'
import { awsProvider } from './aws-provider.ts'
import { clusterReconciler } from './cluster.ts'
import { databaseReconciler } from './database.ts'
import { rdsSettingsFrom } from './rds/settings.ts'

/** Requests and statements are all that a run takes here: it starts no servers, so it fits a function of many. */
const shared = { timeoutMs: 60_000, concurrency: 10 }

/** PostgresCluster and PostgresDatabase, with servers of RDS, placed as the environment says (rds/settings.ts). */
export const awsPostgresReconcilers: readonly Controller[] = [
  { ...clusterReconciler(awsProvider({ connect, settings: () => rdsSettingsFrom(process.env) })), ...shared },
  { ...databaseReconciler, ...shared },
]

let cloudControl: Promise<CloudControl> | undefined

/** Imported with the first call: the functions that only know of the reconciler start without it. */
function connect(): Promise<CloudControl> {
  cloudControl ??= import('@aws-sdk/client-cloudcontrol').then(
    (sdk) => new sdk.CloudControl({ requestHandler: timeouts }),
  )
  return cloudControl
}

/** By itself the client waits for ever, and longer than a run may take. */
const timeouts = {
  connectionTimeout: 3_000,
  requestTimeout: 10_000,
  throwOnRequestTimeout: true,
  socketTimeout: 10_000,
}
