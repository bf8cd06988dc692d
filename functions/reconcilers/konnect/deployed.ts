import type { Controller } from '../../../shared/index.ts'
import { konnectReconcilers } from './reconcilers.ts'

/** As they are deployed: against Konnect itself. */
export const deployedKonnect: readonly Controller[] = konnectReconcilers()
