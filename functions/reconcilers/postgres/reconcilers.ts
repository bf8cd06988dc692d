import { join } from 'node:path'
import type { Controller } from '../../../shared/index.ts'
import { clusterReconciler } from './cluster.ts'
import { databaseReconciler } from './database.ts'
import { localProvider } from './local-provider.ts'

/** PostgresCluster and PostgresDatabase, with servers that keep their data below this directory. */
export function postgresReconcilers(dataDirectory: string): readonly Controller[] {
  return [clusterReconciler(localProvider(join(dataDirectory, 'postgres'))), databaseReconciler]
}
