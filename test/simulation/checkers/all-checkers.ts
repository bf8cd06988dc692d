import { createAcknowledged } from './01-acknowledged.ts'
import { createObserved } from './01-observed.ts'
import { createFenced } from './02-fenced.ts'
import { createSingleHolder } from './02-single-holder.ts'
import { createLevel } from './03-level.ts'
import { createCoalescing } from './04-coalescing.ts'
import { createChangeLatency } from './05-change-latency.ts'
import { createOwnWrites } from './06-own-writes.ts'
import { createWaits } from './06-waits.ts'
import { createQuietStatus } from './07-quiet-status.ts'
import { createContainers } from './08-containers.ts'
import { createDeletion } from './08-deletion.ts'
import { createEffects } from './08-effects.ts'
import { createOwners } from './08-owners.ts'
import { createPropagation } from './08-propagation.ts'
import { createResync } from './09-resync.ts'
import { createIsolation } from './10-isolation.ts'
import { createBudgets } from './budgets.ts'
import type { Checker, Scene } from './checker.ts'
import { createExpectations } from './expectations.ts'
import { createHolders } from './holders.ts'
import { createHooks } from './hooks.ts'
import { createLastRuns } from './last-runs.ts'
import { createMeddling } from './meddling.ts'
import { createNotes } from './notes.ts'
import { createObjectLimit } from './object-limit.ts'
import { createOnceOnly } from './once.ts'
import { createOwnResync } from './own-resync.ts'
import { createParcels } from './parcels.ts'
import { createPause } from './pause.ts'
import { createPolicies } from './policies.ts'
import { createPredicates } from './predicates.ts'
import { createQuotas } from './quotas.ts'
import { createRateLimit } from './rate-limit.ts'
import { createReloads } from './reloads.ts'
import { createRetryBudgetChecker } from './retry-budget.ts'
import { createDeeds } from './deeds.ts'
import { createShelves } from './shelves.ts'
import { createTies } from './ties.ts'
import { createSweeps } from './sweeps.ts'
import { createTrunks } from './trunks.ts'
import { createTypes } from './types.ts'
import { createVersions } from './versions.ts'
import { createVersionsGrow } from './versions-grow.ts'
import { createWebhooks } from './webhooks.ts'

/** All checkers as one. */
export interface Checkers extends Required<Checker> {
  /** Everything has come to rest: from here on nothing has a reason to write. */
  restBegins(): void
}

export function createCheckers(scene: Scene): Checkers {
  const quiet = createQuietStatus(scene)
  const all: readonly Checker[] = [
    createAcknowledged(scene),
    createObserved(scene),
    createSingleHolder(scene),
    createFenced(scene),
    createLevel(scene),
    createCoalescing(scene),
    createChangeLatency(scene),
    createWaits(scene),
    createOwnWrites(scene),
    quiet,
    createDeletion(scene),
    createContainers(scene),
    createPropagation(scene),
    createOwners(scene),
    createTies(scene),
    createEffects(scene),
    createResync(scene),
    createIsolation(scene),
    createVersionsGrow(scene),
    createRateLimit(scene),
    createRetryBudgetChecker(scene),
    createObjectLimit(scene),
    createPause(scene),
    createTypes(scene),
    createOnceOnly(scene),
    createPredicates(scene),
    createNotes(scene),
    createExpectations(scene),
    createVersions(scene),
    createHooks(scene),
    createPolicies(scene),
    createWebhooks(scene),
    createQuotas(scene),
    createHolders(scene),
    createBudgets(scene),
    createParcels(scene),
    createDeeds(scene),
    createShelves(scene),
    createTrunks(scene),
    createOwnResync(scene),
    createReloads(scene),
    createLastRuns(scene),
    createMeddling(scene),
    createSweeps(scene),
  ]
  return {
    write: (write) => {
      for (const one of all) one.write?.(write)
    },
    effect: (effect) => {
      for (const one of all) one.effect?.(effect)
    },
    made: (entity, by) => {
      for (const one of all) one.made?.(entity, by)
    },
    reloaded: () => {
      for (const one of all) one.reloaded?.()
    },
    accepted: (change) => {
      for (const one of all) one.accepted?.(change)
    },
    answered: (answer) => {
      for (const one of all) one.answered?.(answer)
    },
    runBegins: (run) => {
      for (const one of all) one.runBegins?.(run)
    },
    runEnds: (run, how) => {
      for (const one of all) one.runEnds?.(run, how)
    },
    once: (effect) => {
      for (const one of all) one.once?.(effect)
    },
    notes: (step) => {
      for (const one of all) one.notes?.(step)
    },
    tenant: (step) => {
      for (const one of all) one.tenant?.(step)
    },
    called: (by) => {
      for (const one of all) one.called?.(by)
    },
    unmet: () => all.flatMap((one) => one.unmet?.() ?? []),
    restBegins: () => quiet.restBegins(),
  }
}
