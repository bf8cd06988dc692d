import type { JsonObject } from '../json.ts'
import { parseApiVersion } from '../object.ts'
import type { StructuralSchema } from '../schema/structural-schema.ts'
import { timestamp } from '../time.ts'
import { checkConfig, type Misfit } from './check-config.ts'
import { conflictMessage, conflictsOf, type Conflict } from './conflict.ts'
import { difference } from './field-set.ts'
import { fieldsLastApplied, refreshLastApplied } from './last-applied.ts'
import { ownersOf, withoutManagedFields } from './managed-fields.ts'
import { mapIn, mergeTypeOf, type MergeType } from './merge-type.ts'
import { claim, recordWrite, withFields, type Claimed, type Manager, type Owners } from './ownership.ts'
import { setOfReset, withoutReset, type ResetFields } from './reset-fields.ts'
import { settle } from './schema-change.ts'
import { track, type Tracked } from './tracked.ts'

/**
 * Server-side apply: several managers share one object, and each says only what it wants.
 *
 * A manager sends a configuration: some fields of the object with their values. From then on it owns these fields. Who
 * owns what is kept in `metadata.managedFields` as sets of field paths (field-set.ts, managed-fields.ts), and that is
 * all it takes to do what a plain write cannot (ownership.ts):
 * - lay the configuration over the live object, item by item where the schema names keys (merge-type.ts, merge.ts);
 * - remove what this manager applied last time, left out this time, and nobody else owns (prune.ts);
 * - refuse to change what somebody else owns, unless forced, which takes the ownership away (compare.ts, conflict.ts).
 * Other writes own what they change (track-update.ts).
 *
 * The algorithm is Kubernetes' own: structured-merge-diff, with apimachinery's managedfields on top. The tests replay
 * recordings of both.
 */
export interface ApplyRequest {
  /** Of the whole object, in the version of the request. */
  readonly schema: StructuralSchema
  /** The stored object in the version of the request; absent if applying creates it. */
  readonly live?: JsonObject | undefined
  /** What the manager wants: at least apiVersion, kind and metadata.name, and no metadata.managedFields. */
  readonly config: JsonObject
  readonly manager: string
  readonly apiVersion: string
  readonly nowMs: number
  /** Take conflicting fields away from their owners. */
  readonly force?: boolean
  /** The subresource written through. Its managers are others than those of the whole object. */
  readonly subresource?: string
  readonly resetFields?: ResetFields
}

export type ApplyResult =
  | ({ readonly outcome: 'applied' } & Tracked)
  | { readonly outcome: 'conflict'; readonly conflicts: readonly Conflict[]; readonly message: string }
  | { readonly outcome: 'misfit'; readonly misfits: readonly Misfit[]; readonly message: string }

/**
 * Applies a configuration. Applying the same again changes nothing, not even a time. The object is merged, no more:
 * defaulting, validation and the server's own fields are the caller's.
 */
export function apply(request: ApplyRequest): ApplyResult {
  const { live, config } = request
  const type = mergeTypeOf(request.schema)
  const misfits = checkConfig(config, type)
  if (misfits.length > 0) return { outcome: 'misfit', misfits, message: misfitMessage(config, misfits) }

  const claimed = claimWith(request, type)
  const conflicts = conflictsOf(disputed(claimed.conflicts, request, type))
  if (conflicts.length > 0) return { outcome: 'conflict', conflicts, message: conflictMessage(conflicts) }

  const object = request.manager === 'kubectl' ? refreshLastApplied(claimed.object, config) : claimed.object
  return { outcome: 'applied', ...track(live, object, claimed.owners) }
}

function claimWith(request: ApplyRequest, type: MergeType): Claimed {
  const { config, manager, apiVersion, subresource, nowMs } = request
  const time = timestamp(nowMs)
  const ignored = setOfReset(request.resetFields ?? [])
  const live = request.live === undefined ? identityOf(config) : withoutManagedFields(request.live)
  // Managed fields that cannot be read would block every apply for good; tracking starts again instead.
  const known = withFields(ownersOf(request.live ?? {}) ?? new Map(), (fields) => settle(fields, type))
  const write = { apiVersion, time, ...(subresource !== undefined && { subresource }) }
  const first: Manager = { manager: 'before-first-apply', operation: 'Update', ...write }
  const owners =
    known.size > 0 ? known : recordWrite(known, { self: first, before: identityOf(live), after: live, type, ignored })
  const self: Manager = {
    manager,
    operation: 'Apply',
    apiVersion,
    time,
    ...(subresource !== undefined && { subresource }),
  }
  return claim(owners, { self, live, config: withoutReset(config, ignored), type, ignored })
}

/** What is there before an object has any content. */
function identityOf({ apiVersion, kind }: JsonObject): JsonObject {
  return { apiVersion, kind }
}

/** The conflicts that stand in the way. */
function disputed(conflicts: Owners, { manager, live, force = false }: ApplyRequest, type: MergeType): Owners {
  if (force) return new Map()
  if (manager !== 'kubectl' || live === undefined || conflicts.size === 0) return conflicts
  const granted = fieldsLastApplied(withoutManagedFields(live), type)
  return withFields(conflicts, (fields) => difference(fields, granted))
}

function misfitMessage(config: JsonObject, misfits: readonly Misfit[]): string {
  const { name, namespace } = mapIn(config['metadata'])
  const { group, version } = parseApiVersion(String(config['apiVersion']))
  const lines = misfits.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  const found = lines.length === 1 ? lines[0] : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n')
  const whose = `${String(namespace ?? '')}/${String(name ?? '')}; ${group}/${version}, Kind=${String(config['kind'])}`
  return `failed to create typed patch object (${whose}): ${found}`
}
