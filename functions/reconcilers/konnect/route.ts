import { defineExternal, mayRequire, type Controller, type ObjectOf } from '../../../shared/index.ts'
import { asSet, coreEntity, inControlPlane, tagsFor } from './core-entities.ts'
import type { Konnect } from './konnect.ts'
import { KonnectRoute, KonnectService } from './kinds.ts'

type Route = ObjectOf<typeof KonnectRoute>

export function routes(konnect: Konnect): Controller {
  return defineExternal(KonnectRoute, {
    references: {
      ControlPlaneRef: inControlPlane,
      ServiceRef: mayRequire(KonnectService, ({ spec }: Route) => spec.serviceRef),
    },
    ...coreEntity(konnect, KonnectRoute, 'routes'),
    declared: ({ metadata, spec }: Route, { refs, owner }) => ({
      name: spec.name ?? metadata.name,
      paths: asSet(spec.paths),
      hosts: spec.hosts && asSet(spec.hosts),
      methods: spec.methods && asSet(spec.methods),
      protocols: spec.protocols && asSet(spec.protocols),
      strip_path: spec.stripPath,
      preserve_host: spec.preserveHost,
      service: refs.ServiceRef?.status?.id === undefined ? undefined : { id: refs.ServiceRef.status.id },
      tags: tagsFor(spec.tags, owner),
    }),
  })
}
