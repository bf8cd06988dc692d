import type { Controller } from '../../../shared/index.ts'
import { backupReconcilers } from './reconcilers.ts'

/** As they are deployed: with the archive that the environment names. */
export const deployedBackups: readonly Controller[] = backupReconcilers()
