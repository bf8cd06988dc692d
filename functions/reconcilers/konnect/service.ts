import { defineExternal, type Controller, type ObjectOf } from '../../../shared/index.ts'
import { coreEntity, inControlPlane, tagsFor } from './core-entities.ts'
import type { Konnect } from './konnect.ts'
import { KonnectService } from './kinds.ts'

type Service = ObjectOf<typeof KonnectService>

export function services(konnect: Konnect): Controller {
  return defineExternal(KonnectService, {
    references: { ControlPlaneRef: inControlPlane },
    ...coreEntity(konnect, KonnectService, 'services'),
    declared: ({ metadata, spec }: Service, { owner }) => ({
      name: spec.name ?? metadata.name,
      host: spec.host,
      port: spec.port,
      protocol: spec.protocol,
      path: spec.path,
      enabled: spec.enabled,
      retries: spec.retries,
      connect_timeout: spec.connectTimeout,
      read_timeout: spec.readTimeout,
      write_timeout: spec.writeTimeout,
      tags: tagsFor(spec.tags, owner),
    }),
  })
}
