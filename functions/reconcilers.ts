import type { Controller } from '../shared/index.ts'
import { backupReconcilers } from './reconcilers/backup/reconcilers.ts'
import { konnectReconcilers } from './reconcilers/konnect/reconcilers.ts'
import { ownReconcilers } from './reconcilers/own.ts'
import { awsPostgresReconcilers } from './reconcilers/postgres/aws-reconcilers.ts'

/** The reconcilers of this deployment. `infra` puts one of them alone into the function that runs it. */
export const reconcilers: readonly Controller[] = [
  ...awsPostgresReconcilers,
  ...backupReconcilers(),
  ...konnectReconcilers(),
  ...ownReconcilers,
]
