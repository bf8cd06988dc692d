import type { AdmissionHooks, AdmissionRequest } from '../model/admission-hooks.ts'
import { isEnginesAnnotation } from '../model/control-annotations.ts'
import { equal } from '../model/json.ts'
import { checkMetadata } from '../model/metadata.ts'
import { parseApiVersion, type ApiObject } from '../model/object.ts'
import { prune } from '../model/schema/prune.ts'
import { describeFaults } from '../model/schema/spec-faults.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Clock } from '../ports/clock.ts'
import { changesContent, checkSchema, refuse, withDefaults } from './admission.ts'
import type { WriteOptions } from './resources.ts'
import { createHookRun, type HookRun } from './run-hooks.ts'
import { completeState } from './states.ts'
import { toStoredVersion, type LiveStates } from './stored-version.ts'
import type { Surroundings } from './strategies.ts'
import { withGeneration } from './transitions.ts'

/** A write of a kind that has hooks, which see what is going to be stored. */
export interface HookedWrite {
  /** As the writer sees it, before defaults. */
  readonly next: ApiObject
  readonly live?: LiveStates
  readonly around: Surroundings
  readonly how: Pick<WriteOptions, 'manager' | 'user' | 'dryRun'>
  readonly clock: Clock
}

export type HookedKind = ServedKind & { readonly hooks: AdmissionHooks }

/** The object as it is stored, and what its author should know. Throws INVALID, HOOK_FAILED. */
export async function admitByHooks(
  kind: HookedKind,
  write: HookedWrite,
): Promise<{ readonly inStore: ApiObject; readonly warnings: readonly string[] }> {
  const { live, how, clock } = write
  const old = live !== undefined && fitsKind(kind, live.found) ? live.found : undefined
  const request = requestOf(live === undefined ? 'CREATE' : 'UPDATE', how, old)
  const hooks = createHookRun(kind, request, clock)
  const inStore = isOwnVersion(kind)
    ? await completeOwn(kind, write, hooks)
    : await completeConverted(kind, write, hooks)
  await hooks.check(inStore)
  return { inStore, warnings: hooks.warnings }
}

async function completeOwn(kind: HookedKind, { next, live, around }: HookedWrite, hooks: HookRun): Promise<ApiObject> {
  const completed = await completeByHook(kind, withDefaults(kind, next), { live, hooks })
  return toStoredVersion(kind, completeState(kind, live?.before, completed, around), live)
}

/** One object before an update, and as it would be. */
export interface Updated extends LiveStates {
  readonly next: ApiObject
}

/**
 * Whether hooks have a say in an update: what the engine is told by an annotation of its own is not theirs. Nor is an
 * object that does not fit its kind and stays as it is but for its metadata: hooks are given what fits.
 */
export function concernsHooks(kind: ServedKind, { found, before, next }: Updated): boolean {
  if (changesContent(next, before)) return true
  const [was, is] = [before, next].map(({ metadata: { labels, annotations = {} } }) => [
    labels,
    Object.entries(annotations).filter(([name]) => !isEnginesAnnotation(name)),
  ])
  return !equal(was, is) && fitsKind(kind, found)
}

/** Whether what is stored is what the types of the kind say, defaults included. */
function fitsKind({ schema, conversion }: ServedKind, object: ApiObject): boolean {
  if (conversion !== undefined && parseApiVersion(object.apiVersion).version !== conversion.version)
    return conversion.findFault(object, conversion.version) === undefined
  return describeFaults(conversion?.schema ?? schema, object) === undefined
}

/** Asks the hooks about a deletion, but of what does not fit its kind. Throws INVALID, HOOK_FAILED. */
export async function admitDeletion(
  kind: HookedKind,
  object: ApiObject,
  { how, clock }: Pick<HookedWrite, 'how' | 'clock'>,
): Promise<void> {
  if (!fitsKind(kind, object)) return
  await createHookRun(kind, requestOf('DELETE', how), clock).check(object)
}

function requestOf(
  operation: AdmissionRequest['operation'],
  { manager, user, dryRun = false }: HookedWrite['how'],
  old?: ApiObject,
): AdmissionRequest {
  const { name, groups } = user ?? { name: manager, groups: [] }
  return { operation, dryRun, user: { name, groups }, ...(old === undefined ? {} : { old }) }
}

function isOwnVersion({ version, conversion }: ServedKind): boolean {
  return conversion === undefined || conversion.version === version
}

async function completeByHook(
  kind: ServedKind,
  object: ApiObject,
  { live, hooks }: { readonly live: LiveStates | undefined; readonly hooks: HookRun },
): Promise<ApiObject> {
  const completed = await hooks.complete(object)
  if (completed === object) return object
  // Fields that the kind does not have are not stored, as in every other write.
  const whole = withDefaults(kind, prune(kind.schema, completed).value)
  return live === undefined ? whole : withGeneration(kind, live.found, whole)
}

/** A write in another version is valid in that one; it is converted, completed, and valid in the one of the hooks. */
async function completeConverted(
  kind: HookedKind,
  { next, live, around }: HookedWrite,
  hooks: HookRun,
): Promise<ApiObject> {
  const converted = toStoredVersion(kind, completeState(kind, live?.before, withDefaults(kind, next), around), live)
  const stored = { ...kind, version: kind.storageVersion, schema: kind.conversion?.schema ?? kind.schema }
  const completed = await completeByHook(stored, converted, { live, hooks })
  if (completed !== converted)
    refuse(kind, next.metadata.name, [
      ...checkMetadata(completed.metadata),
      ...checkSchema(stored, completed, live?.found),
    ])
  return completed
}
