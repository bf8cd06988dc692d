import type { AdmissionHooks, AdmissionRequest } from '../model/admission-hooks.ts'
import { isEnginesAnnotation } from '../model/control-annotations.ts'
import { equal } from '../model/json.ts'
import { checkMetadata } from '../model/metadata.ts'
import type { ApiObject } from '../model/object.ts'
import { prune } from '../model/schema/prune.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Clock } from '../ports/clock.ts'
import { checkSchema, refuse, withDefaults } from './admission.ts'
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
  const { next, live, around, how, clock } = write
  const request = requestOf(live === undefined ? 'CREATE' : 'UPDATE', how, live?.found)
  const hooks = createHookRun(kind, request, clock)
  const inStore = isOwnVersion(kind)
    ? completeState(kind, live?.before, await completeByHook(kind, withDefaults(kind, next), { live, hooks }), around)
    : await completeConverted(kind, write, hooks)
  await hooks.check(inStore)
  return { inStore, warnings: hooks.warnings }
}

/** Whether hooks have a say in an update: what the engine is told by an annotation of its own is not theirs. */
export function concernsHooks(before: ApiObject, next: ApiObject): boolean {
  const [was, is] = [before, next].map(({ metadata: { labels, annotations = {} } }) => [
    labels,
    Object.entries(annotations).filter(([name]) => !isEnginesAnnotation(name)),
  ])
  if (!equal(was, is)) return true
  return Object.keys({ ...before, ...next }).some(
    (field) => field !== 'metadata' && field !== 'status' && !equal(before[field], next[field]),
  )
}

/** Asks the hooks about a deletion. Throws INVALID, HOOK_FAILED. */
export async function admitDeletion(
  kind: HookedKind,
  object: ApiObject,
  { how, clock }: Pick<HookedWrite, 'how' | 'clock'>,
): Promise<void> {
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
