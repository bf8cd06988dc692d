import type { Controller } from '../../../shared/index.ts'
import { consumers } from './consumer.ts'
import { controlPlanes } from './control-plane.ts'
import { createKonnect, type KonnectOptions } from './konnect.ts'
import { routes } from './route.ts'
import { services } from './service.ts'

/** KonnectControlPlane, KonnectService, KonnectRoute and KonnectConsumer, with one budget per account. */
export function konnectReconcilers(options: KonnectOptions = {}): readonly Controller[] {
  const konnect = createKonnect(options)
  return [controlPlanes(konnect), services(konnect), routes(konnect), consumers(konnect)]
}
