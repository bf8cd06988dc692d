import { ownResyncMs, reconcileRequestAnnotation } from '../../model/control-annotations.ts'
import { digest as digestOf } from '../../model/digest.ts'
import { refuseForeign } from '../../model/foreign-part.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import type { JsonObject } from '../../model/json.ts'
import { canonicalJson } from '../../model/schema/canonical-json.ts'
import type { Context } from '../context.ts'
import type { Kind } from '../kind.ts'
import { createCalls, type Calls } from './calls.ts'
import { declarationDigest } from './declaration.ts'
import { slowestLookMs, tokenOf, type Abilities, type SyncSituation } from './decide.ts'
import { findDifferences } from './differences.ts'
import type { Owner } from './external-api.ts'
import type { RemoteApi } from './external-options.ts'
import { correctTimes, note, recall, withoutMirror, type ExternalMemory } from './memory.ts'
import { areOutputsKept } from './outputs.ts'
import { policyOf, type Policy } from './policy.ts'
import type { Found, Requirements } from './requirements.ts'

/** What a kind of external entities is, every default filled in. */
export interface ExternalSpec<Client> {
  readonly kind: Kind
  readonly requirements: Requirements<ApiObject>
  readonly far: RemoteApi<Client>
  readonly periodMs: number
  readonly graceMs: number
  readonly assertsAlways: boolean
  /** The type of the condition that tells how the last sync went. */
  readonly condition: string
}

/** One run about one object: what it knows so far, and learns. */
export interface ExternalRun<Client> {
  readonly spec: ExternalSpec<Client>
  readonly ctx: Context
  readonly found: Found
  readonly policy: Policy
  readonly client: Client
  readonly calls: Calls
  readonly periodMs: number
  readonly isRequested: boolean
  /** As it was read; with what was initialised late, once that is written. */
  object: ApiObject
  digest: string
  memory: ExternalMemory
  /** What was last seen outside; undefined before the first look. */
  seen: Look | undefined
  has?: 'asserted' | 'deleted'
  /** It was adopted without a write, and has no mark yet. */
  owesMark?: boolean
  conflict?: string
  /** What the last look says that the status is to show. */
  shown?: JsonObject
}

/** What a look has found. */
export interface Look {
  readonly entity: JsonObject | undefined
}

export async function beginRun<Client>(
  spec: ExternalSpec<Client>,
  object: ApiObject,
  { ctx, found }: { readonly ctx: Context; readonly found: Found },
): Promise<ExternalRun<Client>> {
  const noted = recall(ctx)
  const longestMs = Math.max(periodOf(spec, object), spec.graceMs, slowestLookMs)
  const policy = policyOf(object)
  const timed = correctTimes(noted, ctx.now(), longestMs)
  // What was only looked at is not the object's own: it is adopted, or left.
  const memory = timed.mirrored === true && !policy.observesOnly ? withoutMirror(timed) : timed
  if (memory !== noted) note(ctx, memory)
  const client = await spec.far.connect(object, { refs: found.objects, ctx })
  const isRequested = await isAskedFor(spec, object, { ctx, memory })
  const run: ExternalRun<Client> = {
    spec,
    ctx,
    found,
    policy,
    client,
    periodMs: periodOf(spec, object),
    isRequested,
    object,
    digest: declarationDigest(object, found.identity),
    memory,
    seen: undefined,
    calls: createCalls({
      ctx,
      budget: spec.far.budget?.(client),
      lane: () => (isWaitedFor(run) ? 'user' : 'sync'),
    }),
  }
  const digest = digestOfDeclared(run, run.digest)
  // It was noted by a version before this one, without what is declared of the references.
  if (memory.digest === run.digest) run.memory = { ...memory, digest }
  run.digest = digest
  return run
}

/**
 * Tells whether something outside has to change: of the object, of what its references stand for, and of what is
 * declared of these. An object that is being deleted declares nothing, and its references may be half gone.
 */
export function digestOfDeclared<Client>(
  run: ExternalRun<Client>,
  own = declarationDigest(run.object, run.found.identity),
): string {
  const { object, spec } = run
  if (isDeleting(object) || Object.keys(spec.requirements).length === 0) return own
  return digestOf(canonicalJson({ own, declared: declareFor(run) }))
}

/** An edit, a deletion or a request that somebody waits for. */
export function isWaitedFor<Client>({ object, memory, digest, isRequested }: ExternalRun<Client>): boolean {
  return isDeleting(object) || memory.id === undefined || memory.digest !== digest || isRequested
}

/** The object's own sync period, or else that of its kind; 0: only its changes are sent. */
export function periodOf<Client>({ periodMs }: ExternalSpec<Client>, object: ApiObject): number {
  return ownResyncMs(object) ?? periodMs
}

async function isAskedFor<Client>(
  { far: { outputs } }: ExternalSpec<Client>,
  object: ApiObject,
  { ctx, memory }: { readonly ctx: Context; readonly memory: ExternalMemory },
): Promise<boolean> {
  if (reconcileRequestOf(object) !== undefined && reconcileRequestOf(object) !== memory.request) return true
  return (
    outputs !== undefined && memory.outputs !== undefined && !(await areOutputsKept(outputs, object, { memory, ctx }))
  )
}

/** The request to run now that the object carries: of a long text the digest, since it is noted. */
export function reconcileRequestOf({ metadata: { annotations } }: ApiObject): string | undefined {
  const request = annotations?.[reconcileRequestAnnotation]
  return request !== undefined && request.length > requestLengthMax ? digestOf(request) : request
}

const requestLengthMax = 100

export function ownerOf<Client>({ object, memory }: ExternalRun<Client>): Owner {
  const { uid, namespace = '', name } = object.metadata
  return { uid, kind: object.kind, namespace, name, token: tokenOf(uid, memory.round) }
}

/** Throws a TypeError for a value that JSON cannot hold: a comparison with the entity would always be wrong. */
export function declareFor<Client>(run: ExternalRun<Client>): JsonObject {
  const { far, kind } = run.spec
  const declared = far.declared(run.object, { refs: run.found.objects, client: run.client, owner: ownerOf(run) })
  refuseForeign(declared, '', `what is declared of ${kind.kind} ${run.object.metadata.name} cannot be compared`)
  return declared
}

/** The run as the decision sees it. */
export function syncSituationOf<Client>(run: ExternalRun<Client>): SyncSituation {
  const { ctx, object, digest, isRequested, memory, policy, has, conflict } = run
  return {
    nowMs: ctx.now(),
    isDeleting: isDeleting(object),
    uid: object.metadata.uid,
    digest,
    isRequested,
    memory,
    policy,
    abilities: abilitiesOf(run),
    ...(run.seen !== undefined && { seen: describeSeen(run, run.seen) }),
    ...(has !== undefined && { has }),
    ...(conflict !== undefined && { conflict }),
  }
}

function abilitiesOf<Client>({ spec, periodMs }: ExternalRun<Client>): Abilities {
  const { api } = spec.far
  return {
    finds: api.find !== undefined,
    createsOncePerToken: api.createsOncePerToken === true,
    periodMs,
    assertsAlways: spec.assertsAlways,
    graceMs: spec.graceMs,
  }
}

function describeSeen<Client>(run: ExternalRun<Client>, { entity }: Look): NonNullable<SyncSituation['seen']> {
  if (entity === undefined) return { is: 'absent' }
  const { api } = run.spec.far
  const owner = api.ownerOf?.(entity)
  // A clean-up takes the entity away, whatever it was to be. The declaration may be wrong, or half gone.
  const { differs, locked } = isDeleting(run.object) ? { differs: [], locked: [] } : compareEntity(run, entity)
  // Of what is not told it cannot be said that it differs.
  const lockedThere = locked.filter((path) => entity[topOf(path)] !== undefined)
  return { is: 'present', id: idIn(run, entity), differs, locked: lockedThere, ...(owner !== undefined && { owner }) }
}

/** What is no id, as `String` writes it, too: it is not the name of another entity, nor of one that is gone. */
const nothings: ReadonlySet<string> = new Set(['', 'undefined', 'null', 'NaN'])

/** Without its id an entity would be made again in each run. Throws a TypeError. */
export function idIn<Client>({ spec: { kind, far } }: ExternalRun<Client>, entity: JsonObject): string {
  const id: unknown = far.api.idOf(entity)
  if (typeof id === 'string' && !nothings.has(id)) return id
  throw new TypeError(`idOf of the API of ${kind.kind} gives ${JSON.stringify(id)}, and not the id of an entity`)
}

/** What is otherwise outside: what can be put right, and what nobody can change there. */
export function compareEntity<Client>(
  run: ExternalRun<Client>,
  entity: JsonObject,
): { readonly differs: readonly string[]; readonly locked: readonly string[] } {
  const { unordered, immutable = [], markedIn = [] } = run.spec.far.api
  // Nobody marks what is not ours, or not yet, or not ours to write.
  const isMarked = run.memory.id === idIn(run, entity) && run.policy.updates
  const all = findDifferences(declareFor(run), entity, unordered).filter(
    (path) => isMarked || !markedIn.includes(topOf(path)),
  )
  return {
    differs: all.filter((path) => !immutable.includes(topOf(path))),
    locked: all.filter((path) => immutable.includes(topOf(path))),
  }
}

function topOf(path: string): string {
  return path.split('.')[0] ?? path
}
