import { DefinitionError } from '../../model/errors.ts'
import * as z from 'zod'
import type { ApiObject } from '../../model/object.ts'
import { Secret } from '../built-in-kinds.ts'
import type { Controller } from '../controller.ts'
import { defineReconciler, type CleanupOptions } from '../define-reconciler.ts'
import { definedMs } from '../given-duration.ts'
import type { Kind } from '../kind.ts'
import { refuseUnknownOptions, requireFunctions, type KnownOptions } from '../known-options.ts'
import type { ExternalOptions, RemoteApi } from './external-options.ts'
import { watchesOf, type Requirements } from './requirements.ts'
import { createExternalRuns } from './run-external.ts'
import { createSeenBudgets } from './seen-budgets.ts'

/**
 * The fields of a status that `defineExternal` fills in; `shown` those that it cannot know. For `defineKind`:
 * `externalStatus.extend({ … })`.
 */
export const externalStatus = z.object({
  id: z.string().optional().describe('The id of the entity outside.'),
  organizationID: z.string().optional().describe('Whose it is there.'),
  serverURL: z.string().optional().describe('Where it is.'),
  syncPeriod: z.string().optional().describe('How often it is asserted.'),
})

/** A reconciler for entities outside. Throws a TypeError for a definition that cannot work. */
export function defineExternal<Read, Body, Required extends Requirements<NoInfer<Read>>, Client>(
  kind: Kind<Read, Body>,
  options: ExternalOptions<NoInfer<Read>, Required, Client>,
): Controller {
  refuseUnknownOptions(kind.kind, options, knownOptions)
  requireFunctions(kind.kind, options, ['connect', 'declared'])
  requireFunctions(`${kind.kind}: api`, options.api ?? {}, ['get', 'create', 'update', 'delete', 'idOf'])
  const { references, connect, declared, api, place, outputs, budget, shown, lateInitialized, ...others } = options
  const { syncPeriod = '1m', grace = '30s', assert = 'always', condition = 'Synced', ...reconciler } = others
  if (api.find !== undefined && api.ownerOf === undefined) throw new DefinitionError(findNeedsOwner(kind.kind))
  const requirements = (references ?? {}) as unknown as Requirements<ApiObject>
  const seen = createSeenBudgets()
  const noted = budget && ((client: Client) => seen.note(budget(client)))
  const runs = createExternalRuns<Client>({
    kind: kind as Kind,
    requirements,
    far: {
      connect,
      declared,
      api,
      place,
      shown,
      lateInitialized,
      outputs,
      budget: noted,
    } as unknown as RemoteApi<Client>,
    periodMs: definedMs(`${kind.kind}: syncPeriod`, syncPeriod),
    graceMs: definedMs(`${kind.kind}: grace`, grace),
    assertsAlways: assert === 'always',
    condition,
  })
  const controller = defineReconciler(kind, {
    ...reconciler,
    owns: [...(reconciler.owns ?? []), ...(outputs === undefined ? [] : [Secret])],
    watches: [...(reconciler.watches ?? []), ...(watchesOf(requirements) as NonNullable<typeof reconciler.watches>)],
    reconcile: runs.reconcile as unknown as CleanupOptions<Read>['reconcile'],
    cleanup: runs.cleanup as unknown as CleanupOptions<Read>['cleanup'],
  })
  return budget === undefined ? controller : Object.freeze({ ...controller, callBudgets: seen.list })
}

const knownOptions: KnownOptions<ExternalOptions<unknown, {}, unknown>> = {
  references: true,
  connect: true,
  declared: true,
  api: true,
  place: true,
  shown: true,
  lateInitialized: true,
  outputs: true,
  syncPeriod: true,
  grace: true,
  budget: true,
  assert: true,
  condition: true,
  name: true,
  owns: true,
  watches: true,
  grants: true,
  vault: true,
  debounce: true,
  concurrency: true,
  rateLimit: true,
  timeout: true,
  canary: true,
  finalizer: true,
  deletionPolicy: true,
  onRemoved: true,
}

function findNeedsOwner(kind: string): string {
  return `${kind}: api.find needs api.ownerOf, which reads the owner's uid from an entity: without it, what a create made whose answer was lost would be somebody else's`
}
