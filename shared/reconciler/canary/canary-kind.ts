import * as z from 'zod'
import { tryDurationMs } from '../../model/duration.ts'
import { defineKind } from '../define-kind.ts'
import type { ObjectOf } from '../kind.ts'

/** Of a version, in the reason of a condition. */
export const versionPattern = /^[A-Za-z][A-Za-z0-9_]*$/

const share = z.int().min(1).max(100)

/** A trial of one version of one reconciler, whose name it has. */
export const Canary = defineKind({
  group: 'release.setpoint.dev',
  version: 'v1alpha1',
  kind: 'Canary',
  plural: 'canaries',
  scope: 'Cluster',
  description: 'New code of a reconciler on a share of its objects',
  spec: z.object({
    /** The version of the code that is tried, as the reconciler names it. */
    version: z.string().regex(versionPattern),
    /** Which parts of a hundred of the objects run it, one after the other. All do after the last one. */
    shares: z.array(share).min(1).max(20).default([10, 50]),
    /** How long each share is looked at, at least: it is not left before its objects are as ready as the others. */
    hold: z.string().default('10m'),
    /** How long an object may be unready before it counts. */
    grace: z.string().default('2m'),
    /** By how many parts of a hundred more of the trial's objects may be unready than of the others. */
    tolerance: z.int().min(0).max(100).default(0),
    /** A person's word, in place of what is seen. */
    decision: z.enum(['Promote', 'RollBack']).optional(),
  }),
  status: z.object({
    version: z.string(),
    phase: z.enum(['Trial', 'Promoted', 'RolledBack']),
    share: z.int(),
    startedAt: z.string(),
    shareSince: z.string(),
    /** What ended it. */
    why: z.string(),
    trial: z.object({ objects: z.int(), ran: z.int(), unready: z.int() }),
    others: z.object({ objects: z.int(), unready: z.int() }),
  }),
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Share', type: 'integer', jsonPath: '.status.share' },
  ],
  validate: ({ spec }) => [
    ...(['hold', 'grace'] as const).flatMap((field) =>
      tryDurationMs(spec[field]) === undefined
        ? [{ field: `spec.${field}`, message: `${JSON.stringify(spec[field])} is not a duration such as 10m` }]
        : [],
    ),
    ...(spec.shares.every((one, i) => one > (spec.shares[i - 1] ?? 0))
      ? []
      : [{ field: 'spec.shares', message: 'each share must be larger than the one before' }]),
  ],
})

export type CanaryObject = ObjectOf<typeof Canary>
