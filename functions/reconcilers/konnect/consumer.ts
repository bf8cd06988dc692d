import { defineExternal, type Controller, type ObjectOf } from '../../../shared/index.ts'
import { coreEntity, inControlPlane, tagsFor } from './core-entities.ts'
import type { Konnect } from './konnect.ts'
import { KonnectConsumer } from './kinds.ts'

type Consumer = ObjectOf<typeof KonnectConsumer>

export function consumers(konnect: Konnect): Controller {
  return defineExternal(KonnectConsumer, {
    references: { ControlPlaneRef: inControlPlane },
    ...coreEntity(konnect, KonnectConsumer, 'consumers'),
    declared: ({ metadata, spec }: Consumer, { owner }) => ({
      username: spec.username ?? metadata.name,
      custom_id: spec.customID,
      tags: tagsFor(spec.tags, owner),
    }),
  })
}
