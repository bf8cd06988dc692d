import type { JsonObject } from '../json.ts'
import { parseApiVersion } from '../object.ts'
import { shortenSent } from '../schema/field-error.ts'
import { conflictMessage, conflictsOf, type Conflict } from './conflict.ts'
import { difference } from './fields/field-set.ts'
import { mapIn } from './json-parts.ts'
import { fieldsLastApplied, refreshLastApplied } from './last-applied.ts'
import { decodeOwners, withoutManagedFields } from './managed-fields.ts'
import { claim, recordWrite, withFields, type Claim, type Owners } from './ownership.ts'
import { setOfReset, withoutReset } from './reset-fields.ts'
import { managerOf, trackOwners, type Tracked, type TrackedWrite } from './tracked-write.ts'
import { checkConfig, type Misfit } from './typed/check-config.ts'
import { mergeTypeOf, type MergeType } from './typed/merge-type.ts'

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
export interface ApplyRequest extends TrackedWrite {
  /** What the manager wants: at least apiVersion, kind and metadata.name, and no metadata.managedFields. */
  readonly config: JsonObject
  /** Take conflicting fields away from their owners. */
  readonly force?: boolean | undefined
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
  const type = mergeTypeOf(request.schema)
  const misfits = checkConfig(request.config, type)
  if (misfits.length > 0) return { outcome: 'misfit', misfits, message: misfitMessage(request.config, misfits) }

  const ignored = setOfReset(request.resetFields ?? [])
  const live = request.live === undefined ? identityOf(request.config) : withoutManagedFields(request.live)
  // Managed fields that cannot be read would block every apply for good; tracking starts again instead.
  const known: Owners = decodeOwners(request.live ?? {}, type, request.views) ?? new Map()
  const owners = known.size > 0 ? known : ownersBeforeFirstApply(request, { live, type, ignored })
  const config = withoutReset(request.config, ignored)
  const claimed = claim(owners, {
    self: managerOf(request, 'Apply'),
    live,
    config,
    type,
    ignored,
    views: request.views,
  })

  const conflicts = conflictsOf(findDisputed(claimed.conflicts, request, type))
  if (conflicts.named.length > 0)
    return { outcome: 'conflict', conflicts: conflicts.named, message: conflictMessage(conflicts) }

  const isWhole = request.subresource === undefined
  const object =
    isWhole && request.manager === 'kubectl' ? refreshLastApplied(claimed.object, request.config) : claimed.object
  const isSame = object === live && claimed.owners === known
  if (isSame && request.live !== undefined) return { outcome: 'applied', object: request.live, changed: false }
  return { outcome: 'applied', ...trackOwners(request.live, object, claimed.owners) }
}

type Existing = Pick<Claim, 'live' | 'type' | 'ignored'>

/** All that an untracked object holds belongs to one manager nobody can apply as. */
function ownersBeforeFirstApply(request: ApplyRequest, { live, type, ignored }: Existing): Owners {
  const self = { ...managerOf(request, 'Update'), manager: 'before-first-apply' }
  return recordWrite(new Map(), { self, before: identityOf(live), after: live, type, ignored })
}

/** What is there before an object has any content. */
function identityOf({ apiVersion, kind }: JsonObject): JsonObject {
  return { apiVersion, kind }
}

/** The conflicts that stand in the way. */
function findDisputed(conflicts: Owners, { manager, live, force = false }: ApplyRequest, type: MergeType): Owners {
  if (force) return new Map()
  if (manager !== 'kubectl' || live === undefined || conflicts.size === 0) return conflicts
  const granted = fieldsLastApplied(withoutManagedFields(live), type)
  return withFields(conflicts, (fields) => difference(fields, granted))
}

function misfitMessage(config: JsonObject, misfits: readonly Misfit[]): string {
  const { name, namespace } = mapIn(config['metadata'])
  const { group, version } = parseApiVersion(String(config['apiVersion']))
  const lines = misfits.map(({ path, message }) => (path === '' ? message : `${shortenSent(path)}: ${message}`))
  const found = lines.length === 1 ? lines[0] : ['errors:', ...lines.map((line) => `  ${line}`)].join('\n')
  const whose = `${String(namespace ?? '')}/${String(name ?? '')}; ${group}/${version}, Kind=${String(config['kind'])}`
  return `failed to create typed patch object (${whose}): ${found}`
}
