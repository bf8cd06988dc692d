import { isObject, type JsonObject } from '../../model/json.ts'
import { CallFailed, RateLimited } from './calls.ts'
import type { Action, End } from './decide.ts'
import type { ExternalApi } from './external-api.ts'
import { canBeNoted, note, withoutEntity, type EntityChange, type ExternalMemory } from './memory.ts'
import { listNeverKept, listNews, listUnkept } from './outputs.ts'
import { declareFor, idIn, ownerOf, type ExternalRun } from './run.ts'

/**
 * What is done outside, one step at a time. Each leaves in the run what it has learnt; whether it was enough, the
 * decision says.
 */

export type Step = Exclude<Action, End>

/** A change that the account's rate does not allow now is kept for the next run, if it has cost a look. */
export async function take<Client>(run: ExternalRun<Client>, step: Step): Promise<void> {
  const { planned, ...memory } = run.memory
  if (planned !== undefined) remember(run, memory)
  const hasLooked = run.seen !== undefined || planned !== undefined
  try {
    await makeStep(run, step)
  } catch (error) {
    if (error instanceof RateLimited && hasLooked) plan(run, step, error)
    throw error
  }
}

function plan<Client>(run: ExternalRun<Client>, step: Step, { afterMs, wasCalled }: RateLimited): void {
  const change = changeOf(run, step)
  // Of a create that was refused for its rate the far side is asked what became of it.
  if (change === undefined || (change.do === 'create' && wasCalled)) return
  // Whoever cannot note what to do looks again.
  if (!canBeNoted(change)) return
  const untilMs = run.ctx.now() + 2 * afterMs + lateMs
  remember(run, { ...run.memory, planned: { digest: run.digest, untilMs, change } })
}

/** How much later than it was told to a run may come, and still needs no look. */
const lateMs = 60_000

function changeOf<Client>({ seen, spec }: ExternalRun<Client>, step: Step): EntityChange | undefined {
  if (step.do === 'create' || step.do === 'delete') return step
  if (step.do !== 'update') return undefined
  const { immutable = [] } = spec.far.api
  const entity = Object.entries(seen?.entity ?? {}).filter(([field]) => immutable.includes(field))
  return { ...step, ...(entity.length === 0 ? {} : { locked: Object.fromEntries(entity) }) }
}

async function makeStep<Client>(run: ExternalRun<Client>, step: Step): Promise<void> {
  const { calls, client, spec } = run
  const { api } = spec.far
  switch (step.do) {
    case 'get':
      await checkPlace(run)
      run.seen = { entity: await calls.make('get', async () => requireLook(await api.get(client, step.id))) }
      return
    case 'find':
      await checkPlace(run)
      run.seen = { entity: await find(run) }
      return
    case 'create':
      return create(run, step.round)
    case 'take':
      return adopt(run, step)
    case 'forget':
      return forget(run, step.id)
    case 'dropIntent':
      return dropIntent(run)
    case 'update':
      return update(run, step)
    case 'delete':
      return remove(run, step.id)
  }
}

/** The run's memory from now on. */
export function remember<Client>(run: ExternalRun<Client>, memory: ExternalMemory): void {
  run.memory = note(run.ctx, memory)
}

/** Where an entity never was, it is not gone; and what a lost create has made is nowhere but where that was sent. */
async function checkPlace<Client>({ spec, client, memory, calls }: ExternalRun<Client>): Promise<void> {
  const { place } = spec.far
  const { id, intent, place: noted } = memory
  if (place === undefined || noted === undefined || (id === undefined && intent === undefined)) return
  const now = await calls.make('get', () => place(client), { kept: true })
  if (now === noted) return
  const where =
    id === undefined ? `its create was sent to ${noted}, and not to ${now}` : `${id} is at ${noted}, and not at ${now}`
  throw new CallFailed('get', 'terminal', new Error(where))
}

/** Where the entity is from now on. */
async function locate<Client>({
  spec,
  client,
  found,
  calls,
}: ExternalRun<Client>): Promise<Pick<ExternalMemory, 'place' | 'inside'>> {
  const { place: placeOf } = spec.far
  const place = placeOf && (await calls.make('get', () => placeOf(client), { kept: true }))
  const { inside } = found
  return { ...(place !== undefined && { place }), ...(Object.keys(inside).length === 0 ? {} : { inside }) }
}

async function find<Client>(run: ExternalRun<Client>): Promise<JsonObject | undefined> {
  return run.calls.make('find', async () => requireLook(await run.spec.far.api.find?.(run.client, ownerOf(run))))
}

/** The intent is durable before the call is made, and the id after it, before anything else happens. */
async function create<Client>(run: ExternalRun<Client>, round: number): Promise<void> {
  const { ctx, calls, client, spec } = run
  const { api } = spec.far
  const { intent: before } = run.memory
  // Another round: a person has said that there is nothing of the one before.
  if (round === run.memory.round) await checkPlace(run)
  const where = await locate(run)
  const known = run.memory
  const intend = async (): Promise<void> => {
    remember(run, { ...known, ...where, round, intent: { atMs: ctx.now() } })
    try {
      await ctx.notes.keep()
    } catch (error) {
      // Nothing was sent.
      remember(run, known)
      throw error
    }
  }
  try {
    const made = await calls.make('create', () => api.create(client, declareFor(run), ownerOf(run)), { before: intend })
    const entity = requireEntity(made, 'an API that creates returns what it has created')
    const { intent: _, ...memory } = run.memory
    const id = idIn(run, entity)
    remember(run, { ...memory, id, createdAtMs: ctx.now(), ...listUnkept(spec.far.outputs, entity) })
    await ctx.notes.keep()
    run.seen = { entity }
    run.has = 'asserted'
  } catch (error) {
    const canTellMs = api.find === undefined ? Infinity : spec.graceMs
    const isBeforeOpen = before !== undefined && ctx.now() < before.atMs + canTellMs
    if (!isKnownUndone(api, error, isBeforeOpen)) throw error
    await forgetIntent(run, error)
  }
}

/** A create that is known not to have happened leaves no intent behind; one that met something else looks at it. */
async function forgetIntent<Client>(run: ExternalRun<Client>, error: unknown): Promise<void> {
  const { intent: _, ...memory } = run.memory
  remember(run, memory)
  if (!(error instanceof CallFailed) || error.class !== 'conflict') throw error
  run.conflict = error.message
  run.seen = { entity: await find(run) }
}

/**
 * Where a look can tell, it is asked after a 429, too; where none can, a person would be for what nobody did. What an
 * attempt before this one came to (`isBeforeOpen`: no look has told it yet), the answer to this one does not tell.
 */
function isKnownUndone<Client>(
  { find: look, createsOncePerToken }: ExternalApi<Client>,
  error: unknown,
  isBeforeOpen: boolean,
): boolean {
  if (isBeforeOpen && createsOncePerToken === true) return false
  if (error instanceof RateLimited) return error.isUndone && look === undefined
  return error instanceof CallFailed && error.class !== 'unknown'
}

async function adopt<Client>(
  run: ExternalRun<Client>,
  { id, how, from }: Step & { readonly do: 'take' },
): Promise<void> {
  const { intent: _, ...memory } = run.memory
  const { adoption, observesOnly: isMirror } = run.policy
  remember(run, {
    ...memory,
    ...(await locate(run)),
    id,
    createdAtMs: run.ctx.now(),
    ...(how === 'found'
      ? listNeverKept(run.spec.far.outputs)
      : { mirrored: isMirror, ...(!isMirror && { adopted: how }) }),
    ...(adoption && { adoptedAs: adoption.id }),
    ...(from !== undefined && { takenFrom: from }),
  })
  if (how === 'match') {
    run.has = 'asserted'
    run.owesMark = owesMark(run)
  }
  if (how === 'found') return run.ctx.event('Normal', 'Found', `it is ${id}, which was made for it before`)
  const before = from === undefined ? 'was there already' : `was tagged for ${from}`
  await run.ctx.event('Normal', 'Adopted', `it is ${id}, which ${before}`)
}

/** What was adopted without a write has no mark yet: it is given one by the next run. */
function owesMark<Client>({ spec, seen, policy }: ExternalRun<Client>): boolean {
  const { ownerOf: ownerIn, markedIn = [] } = spec.far.api
  return policy.updates && markedIn.length > 0 && seen?.entity !== undefined && ownerIn?.(seen.entity) === undefined
}

async function forget<Client>(run: ExternalRun<Client>, id: string): Promise<void> {
  remember(run, withoutEntity(run.memory, run.policy.adoption?.id))
  run.seen = undefined
  await run.ctx.outside.recordDrift(`${id} was deleted outside; another one is made`)
}

function dropIntent<Client>(run: ExternalRun<Client>): void {
  const { intent: _, ...memory } = run.memory
  remember(run, memory)
  run.seen = undefined
}

async function update<Client>(
  run: ExternalRun<Client>,
  { id, drift, locked = {} }: Step & { readonly do: 'update' },
): Promise<void> {
  const { calls, client, spec, ctx } = run
  if (run.seen === undefined) await checkPlace(run)
  const before = run.seen?.entity
  const wanted = withLocked(declareFor(run), run.seen?.entity ?? locked, spec.far.api.immutable)
  // What tells nothing of an entity does not tell that it is gone.
  const entity = await calls.make('update', async () =>
    requireEntity(await spec.far.api.update(client, id, wanted), 'an API that updates returns what is there then'),
  )
  run.seen = { entity }
  if (entity === undefined) return
  run.has = 'asserted'
  const { takenFrom, ...memory } = run.memory
  if (takenFrom !== undefined) remember(run, memory)
  const news = await listNews(spec.far.outputs, run.object, { entity, before, ctx })
  if (news !== undefined) {
    remember(run, { ...run.memory, ...news })
    await ctx.notes.keep()
  }
  if (drift.length > 0) await ctx.outside.recordDrift(`${drift.join(', ')} changed outside; put back`)
}

/** What is neither an entity nor nothing does not tell that it is gone. */
function requireLook(answer: unknown): JsonObject | undefined {
  return answer === undefined ? undefined : requireEntity(answer, lookRule)
}

const lookRule = 'an API that looks for an entity returns it, or undefined if it is not there'

function requireEntity(answer: unknown, rule: string): JsonObject {
  if (isObject(answer)) return answer
  throw new TypeError(rule)
}

/** Whether it is gone, the next look says. */
async function remove<Client>(run: ExternalRun<Client>, id: string): Promise<void> {
  const { calls, client, spec, ctx, memory } = run
  if (run.seen === undefined) await checkPlace(run)
  await calls.make('delete', () => spec.far.api.delete(client, id))
  remember(run, { ...memory, id, deletedAtMs: memory.deletedAtMs ?? ctx.now() })
  run.has = 'deleted'
  run.seen = undefined
  if (memory.deletedAtMs === undefined) await ctx.event('Normal', 'Deleted', `${id} is deleted`)
}

/** What cannot be changed is sent as it is. */
function withLocked(declared: JsonObject, entity: JsonObject, immutable: readonly string[] = []): JsonObject {
  return Object.fromEntries(
    Object.entries(declared).flatMap(([field, value]) => {
      if (!immutable.includes(field)) return [[field, value] as const]
      const is = entity[field]
      return is === undefined ? [] : [[field, is] as const]
    }),
  )
}
