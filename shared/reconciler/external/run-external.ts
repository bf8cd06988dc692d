import { externalIdAnnotation } from '../../model/control-annotations.ts'
import { equal, type JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Context } from '../context.ts'
import { modify } from '../modify.ts'
import { again, done, reportOf, stop, StopError, waiting, withReport, type Outcome } from '../outcome.ts'
import { refusePromise } from '../refuse-promise.ts'
import { CallFailed, RateLimited } from './calls.ts'
import { decide, leftByPolicy, type End, type Left } from './decide.ts'
import { beginningOfPaths, note, recall, withoutEntity, withShown, type ExternalMemory } from './memory.ts'
import { keepOutputs, removeOutputs, type NotedOutputs } from './outputs.ts'
import { policyOf } from './policy.ts'
import { findRequired, type Found } from './requirements.ts'
import {
  beginRun,
  compareEntity,
  digestOfDeclared,
  periodOf,
  reconcileRequestOf,
  syncSituationOf,
  type ExternalSpec,
  type ExternalRun,
} from './run.ts'
import { remember, take } from './steps.ts'
import {
  asDeclared,
  concludeFailure,
  notReadyPatch,
  concludeLimited,
  concludeOther,
  notResolved,
  concludeStop,
  concludeUnresolved,
  waitsFor,
  within,
} from './tell.ts'

/** The two functions of an external reconciler. */
export interface ExternalRuns {
  reconcile(object: ApiObject, ctx: Context): Promise<Outcome>
  cleanup(object: ApiObject, ctx: Context): Promise<Outcome>
}

export function createExternalRuns<Client>(spec: ExternalSpec<Client>): ExternalRuns {
  return {
    reconcile: async (object, ctx) => {
      const found = await findWanted(spec, object, ctx)
      if (found.invalid.length > 0) return concludeUnresolved(spec, found, periodOf(spec, object))
      const run = await begin(spec, object, { ctx, found })
      return runToEnd(run, () => inStep(run))
    },

    cleanup: async (object, ctx) => {
      const { id, intent, inside } = recall(ctx)
      if (id === undefined && intent === undefined) return releaseOutputs(object, ctx)
      const found = await findRequired(object, spec.requirements, { ctx, inside })
      if (found.isContainerGone) {
        await leaveToContainer(ctx, id)
        return releaseOutputs(object, ctx)
      }
      // Whoever takes nothing away calls nobody, and needs nothing for it.
      if (!mayDelete(spec, object, found)) return release(object, ctx, leftByPolicy)
      if (isMissing(found)) return again(periodOf(spec, object) || retryMs, { ...notResolved(spec, found) })
      const run = await begin(spec, object, { ctx, found })
      return runToEnd(run, () => takeAway(run))
    },
  }
}

/**
 * What the object refers to. An entity cannot be moved: while it is inside of something else than the object says now,
 * the run stops. Once that is gone, the entity is, too, and another one is made where the object says.
 */
async function findWanted<Client>(spec: ExternalSpec<Client>, object: ApiObject, ctx: Context): Promise<Found> {
  const found = await findRequired(object, spec.requirements, { ctx })
  const { inside, ...memory } = recall(ctx)
  const isNowhere = memory.id === undefined && memory.intent === undefined
  if (isNowhere || inside === undefined || equal(inside, found.inside)) return found
  const { isContainerGone } = await findRequired(object, spec.requirements, { ctx, inside })
  const where = Object.values(inside).join(', ')
  if (!isContainerGone)
    throw withReport(
      stop('CannotMove', `it is in ${where} and stays there; to move it, delete the object and create it again`),
      within(periodOf(spec, object)),
    )
  note(ctx, withoutEntity(memory, object.metadata.annotations?.[externalIdAnnotation]))
  return found
}

async function begin<Client>(
  spec: ExternalSpec<Client>,
  object: ApiObject,
  given: { readonly ctx: Context; readonly found: Found },
): Promise<ExternalRun<Client>> {
  try {
    return await beginRun(spec, object, given)
  } catch (error) {
    throw concludeUnbegun(spec, given.found, error)
  }
}

function mayDelete<Client>(spec: ExternalSpec<Client>, object: ApiObject, found: Found): boolean {
  try {
    return policyOf(object).deletes
  } catch (error) {
    throw concludeUnbegun(spec, found, error)
  }
}

/**
 * What stops a run before it has begun, such as credentials that are none, is told like a sync that failed. The report
 * that the author has put to the error goes ahead of that.
 */
function concludeUnbegun<Client>(spec: ExternalSpec<Client>, found: Found, error: unknown): unknown {
  if (!(error instanceof StopError)) return error
  const report = reportOf(error)
  const conditions = { ...found.conditions, [spec.condition]: notReadyPatch(error), ...report?.conditions }
  return withReport(error, { ...report, conditions })
}

/** How soon an entity that was adopted without a write gets its mark. */
const markMs = 5_000
/** For an object that has no period and whose references nobody will tell of. */
const retryMs = 60_000
/** Get, forget, create, find, take, update, and room for one who changes things meanwhile. */
const stepsMax = 12

/** Steps, until there is nothing more to do in this run. */
async function drive<Client>(run: ExternalRun<Client>): Promise<End> {
  for (let steps = 0; steps < stepsMax; steps++) {
    const action = decide(syncSituationOf(run))
    switch (action.do) {
      case 'settle':
      case 'rest':
      case 'wait':
      case 'refuse':
      case 'release':
        return action
      default:
        await take(run, action)
    }
  }
  throw new Error(`no end after ${stepsMax} steps: what is outside changes faster than it can be looked at`)
}

async function inStep<Client>(run: ExternalRun<Client>): Promise<Outcome> {
  const end = await drive(run)
  switch (end.do) {
    case 'settle':
      return settle(run, end.differs)
    case 'rest':
      return asDeclared(run, end.untilMs)
    case 'wait':
      return waitsFor(run, end)
    case 'refuse':
      throw concludeStop(run, end)
    case 'release':
      throw new TypeError('an object that is not being deleted is not released')
  }
}

async function takeAway<Client>(run: ExternalRun<Client>): Promise<Outcome> {
  const end = await drive(run)
  switch (end.do) {
    case 'release':
      return release(run.object, run.ctx, end.left)
    case 'wait':
      return again(Math.max(0, end.untilMs - run.ctx.now()), { ready: waiting(end.reason, end.message) })
    case 'refuse':
      throw concludeStop(run, end)
    case 'settle':
    case 'rest':
      throw new TypeError('an object that is being deleted is not kept')
  }
}

/** The entity is as declared: what it gives is kept, and the time of the next sync is set. */
async function settle<Client>(run: ExternalRun<Client>, differs: readonly string[]): Promise<Outcome> {
  const { ctx, spec } = run
  const entity = run.seen?.entity ?? {}
  // Ahead of all that may fail: it may be told only now.
  await keepGiven(run, entity)
  const { locked } = compareEntity(run, entity)
  await initialiseLate(run, entity)
  const shown = spec.far.shown?.(entity, run.client)
  refusePromise(shown, 'shown tells its fields at once')
  if (shown !== undefined) run.shown = shown
  const request = reconcileRequestOf(run.object)
  const { refusal: _, wait: __, differs: ___, locked: ____, digest: _____, ...memory } = asMirror(run, entity)
  remember(run, {
    ...(shown === undefined ? memory : withShown(memory, shown)),
    ...(run.owesMark !== true && { digest: digestOfDeclared(run) }),
    syncedAtMs: ctx.now(),
    ...(request !== undefined && { request }),
    ...(differs.length === 0 ? {} : { differs: beginningOfPaths(differs) }),
    ...(locked.length === 0 ? {} : { locked: beginningOfPaths(locked) }),
  })
  const untilMs = run.periodMs === 0 ? Infinity : ctx.now() + run.periodMs
  return asDeclared(run, run.owesMark === true ? Math.min(untilMs, ctx.now() + markMs) : untilMs)
}

/** Versions before 2026-11-29 noted an entity that is only observed as one that was adopted: it has no mark. */
function asMirror<Client>({ memory, policy, spec, object }: ExternalRun<Client>, entity: JsonObject): ExternalMemory {
  const { adopted, ...others } = memory
  if (adopted === undefined || memory.mirrored !== undefined || !policy.observesOnly) return memory
  const isOwn = spec.far.api.ownerOf?.(entity) === object.metadata.uid
  return isOwn ? memory : { ...others, mirrored: true }
}

/** What the far side gave out. */
async function keepGiven<Client>(run: ExternalRun<Client>, entity: JsonObject): Promise<void> {
  const { ctx, object, spec } = run
  const { outputs } = spec.far
  if (outputs === undefined) return
  const noteKept = async (noted: NotedOutputs): Promise<void> => {
    const { outputsIn: _, outputsAt: __, outputsAlso: ___, outputsUnkept: ____, ...memory } = run.memory
    remember(run, { ...memory, ...noted })
    await ctx.notes.keep()
  }
  const kept = await keepOutputs(outputs, object, { entity, ctx, noteKept })
  // What moved is nowhere else by now, and what was told is stored.
  const { outputsAlso: _, outputsUnkept: __, outputsBefore: ___, ...memory } = run.memory
  remember(run, { ...memory, ...kept })
}

/** Fields that the far side has chosen, where the spec says nothing, neither as it was read nor by now. */
async function initialiseLate<Client>(run: ExternalRun<Client>, entity: JsonObject): Promise<void> {
  const { object, ctx, spec } = run
  const chosen = spec.far.lateInitialized?.(entity) ?? {}
  refusePromise(chosen, 'lateInitialized tells its fields at once')
  const declared = specOf(object)
  // Null would be written as nothing, and be missed by the next run.
  const late = Object.entries(chosen).filter(
    ([field, value]) => (value ?? null) !== null && declared[field] === undefined,
  )
  if (late.length === 0) return
  let written: readonly (typeof late)[number][] = []
  const change = (live: ApiObject): JsonObject | undefined => {
    // Another object may have the name by now.
    const isSame = live.metadata.uid === object.metadata.uid
    written = isSame ? late.filter(([field]) => specOf(live)[field] === undefined) : []
    return written.length === 0 ? undefined : { spec: Object.fromEntries(written) }
  }
  await modify<ApiObject>(ctx, { kind: spec.kind, at: object.metadata.name, change })
  // Not what the patch returned: that may hold an edit that somebody made meanwhile, and that is yet to be sent.
  run.object = { ...object, spec: { ...declared, ...Object.fromEntries(written) } }
}

function specOf(object: ApiObject): JsonObject {
  return (object as { readonly spec?: JsonObject }).spec ?? {}
}

/** Runs to the end, and says of a failure what it means for the object. */
async function runToEnd<Client>(run: ExternalRun<Client>, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RateLimited) return concludeLimited(run, error)
    if (error instanceof CallFailed) throw concludeFailure(run, error)
    throw concludeOther(run, error)
  }
}

/** What is being deleted is still good for cleaning up what is inside of it; what is gone is not. */
function isMissing({ invalid }: Found): boolean {
  return invalid.some(({ reason }) => reason === 'NotFound')
}

async function leaveToContainer(ctx: Context, id = 'what was being created'): Promise<void> {
  await ctx.event('Normal', 'GoneWithItsContainer', `${id} is left to what has become of what it was a part of`)
}

async function release(object: ApiObject, ctx: Context, left: Left | undefined): Promise<Outcome> {
  if (left !== undefined) await ctx.event('Normal', left.reason, left.message)
  return releaseOutputs(object, ctx)
}

/** The end of a clean-up: of an entity that is kept, its outputs are, too. */
async function releaseOutputs(object: ApiObject, ctx: Context): Promise<Outcome> {
  if (policyOf(object).deletes) await removeOutputs(ctx)
  return done()
}
