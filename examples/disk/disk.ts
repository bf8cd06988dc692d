import * as z from 'zod'
import { defineKind, defineReconciler, done, type Controller } from 'setpoint'

export const Disk = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Disk',
  spec: z.object({
    gigabytes: z.number().int().min(1),
    zones: z.array(z.string()).default([]),
  }),
  status: z.object({ bytes: z.number().int() }),
  columns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.gigabytes' }],

  validate: ({ spec }, { old, warn }) => {
    if (spec.gigabytes > 1_000) warn('a disk of more than 1000 gigabytes takes an hour to make')
    if (old === undefined || spec.gigabytes >= old.spec.gigabytes) return []
    return [{ field: 'spec.gigabytes', message: 'a disk cannot become smaller' }]
  },

  olderVersions: (older) => [
    older('v1alpha1', {
      deprecated: true,
      spec: z.object({ size: z.string().regex(/^[1-9]\d*G$/) }),
      upgrade: ({ spec }) => ({ spec: { gigabytes: Number.parseInt(spec.size, 10), zones: [] } }),
      downgrade: ({ spec }) => ({ spec: { size: `${spec.gigabytes}G` } }),
    }),
  ],
})

export const disks: Controller = defineReconciler(Disk, {
  async reconcile({ spec }) {
    return done({ status: { bytes: spec.gigabytes * 1_000_000_000 } })
  },
})
