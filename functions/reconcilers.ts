import type { Controller } from '../shared/index.ts'
import { deployedBackups } from './reconcilers/backup/deployed.ts'
import { deployedKonnect } from './reconcilers/konnect/deployed.ts'
import { ownReconcilers } from './reconcilers/own.ts'
import { awsPostgresReconcilers } from './reconcilers/postgres/aws-reconcilers.ts'

/**
 * The reconcilers of this deployment, one line for each family. `infra` reads the imports above: the function that runs
 * a reconciler gets the module of its family alone. What `npm start` runs is in local.ts.
 */
export const reconcilers: readonly Controller[] = [
  ...awsPostgresReconcilers,
  ...deployedBackups,
  ...deployedKonnect,
  ...ownReconcilers,
]
