import type { Controller } from '../../../shared/index.ts'
import { consumers } from './consumer.ts'
import { controlPlanes } from './control-plane.ts'
import { createKonnect, type KonnectOptions } from './konnect.ts'
import { routes } from './route.ts'
import { services } from './service.ts'
import { parseSyncPeriods } from './sync-periods.ts'

/**
 * KonnectControlPlane, KonnectService, KonnectRoute and KonnectConsumer, with one budget per account. Their sync
 * periods are those of the environment unless they are given.
 */
export function konnectReconcilers(options: KonnectOptions = {}): readonly Controller[] {
  const syncPeriod = options.syncPeriod ?? parseSyncPeriods(process.env['KONNECT_SYNC_PERIOD'])
  const konnect = createKonnect({ ...options, ...(syncPeriod !== undefined && { syncPeriod }) })
  return [controlPlanes(konnect), services(konnect), routes(konnect), consumers(konnect)]
}
