import type { Controller } from '../shared/index.ts'
import { deployedBackups } from './reconcilers/backup/deployed.ts'
import { deployedKonnect } from './reconcilers/konnect/deployed.ts'
import { ownReconcilers } from './reconcilers/own.ts'
import { awsPostgresReconcilers } from './reconcilers/postgres/aws-reconcilers.ts'

/** The reconcilers of this deployment. `infra` puts one of them alone into the function that runs it. */
export const reconcilers: readonly Controller[] = [
  ...awsPostgresReconcilers,
  ...deployedBackups,
  ...deployedKonnect,
  ...ownReconcilers,
]
