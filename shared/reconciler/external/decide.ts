import { beginningOfPaths, type EntityChange, type ExternalMemory } from './memory.ts'
import type { AdoptionMode, Policy } from './policy.ts'

/**
 * What to do next about one entity outside: a pure function of what is declared, what is remembered and what was seen.
 * It is asked again after every action, until there is nothing more to do in this run. Whatever the order of crashes,
 * lost answers and edits by others, it never makes a second entity for one object, and never leaves one behind that it
 * could find.
 */
export interface SyncSituation {
  readonly nowMs: number
  readonly isDeleting: boolean
  readonly uid: string
  /** Of what is declared. */
  readonly digest: string
  /** Somebody asked for a run now, or an output is missing. */
  readonly isRequested: boolean
  readonly memory: ExternalMemory
  readonly policy: Policy
  readonly abilities: Abilities
  /** What the last look has found; undefined before the first. */
  readonly seen?: Seen
  /** What this run has done already. */
  readonly has?: 'asserted' | 'deleted'
  /** What the far side said when it refused a create because something is there already. */
  readonly conflict?: string
}

/** What the far side can do, and how it is kept in step. */
export interface Abilities {
  /** It can look for an entity by its owner. */
  readonly finds: boolean
  /** Creating twice with one token makes one entity. */
  readonly createsOncePerToken: boolean
  /** How often the declaration is asserted; 0: only when it changes. */
  readonly periodMs: number
  /** Asserted in each period even if nothing differs. */
  readonly assertsAlways: boolean
  /** How long an entity that was made may not be seen yet, and a create whose answer was lost may take. */
  readonly graceMs: number
}

export type Seen =
  | { readonly is: 'absent' }
  | {
      readonly is: 'present'
      readonly id: string
      /** The uid of the object that it is tagged for. */
      readonly owner?: string
      /** Fields that are declared and otherwise there, those left out that nobody can change. */
      readonly differs: readonly string[]
      /** Those that nobody can change. */
      readonly locked?: readonly string[]
    }

type Present = Seen & { readonly is: 'present' }

export type Action =
  | { readonly do: 'get'; readonly id: string }
  | { readonly do: 'find' }
  /** The entity that was seen is the object's own from now on. */
  | { readonly do: 'take'; readonly id: string; readonly how: 'found' | AdoptionMode; readonly from?: string }
  /** The entity that was remembered is gone. */
  | { readonly do: 'forget'; readonly id: string }
  /** The create whose answer was lost has made nothing, and is not tried again. */
  | { readonly do: 'dropIntent' }
  | EntityChange
  | End

/** The run is over. */
export type End =
  /** It is as declared, or as far as it is to be made so. */
  | { readonly do: 'settle'; readonly differs: readonly string[] }
  /** Nothing is due. */
  | { readonly do: 'rest'; readonly untilMs: number }
  | { readonly do: 'wait'; readonly untilMs: number; readonly reason: string; readonly message: string }
  | { readonly do: 'refuse'; readonly reason: string; readonly message: string }
  /** Nothing of the object is outside any more, or what is there is to stay. */
  | { readonly do: 'release'; readonly left?: Left }

/** Why something stays outside. */
export interface Left {
  readonly reason: string
  readonly message: string
}

/** The object's policy does not take its entity away. */
export const leftByPolicy: Left = { reason: 'Kept', message: 'the entity outside is kept' }

export function decide(situation: SyncSituation): Action {
  return situation.isDeleting ? whenDeleting(situation) : whenWanted(situation)
}

function whenWanted(situation: SyncSituation): Action {
  const { seen } = situation
  if (seen?.is === 'present' && !isBesideTheNamed(situation, seen)) return aboutPresent(situation, seen)
  if (seen !== undefined) return aboutAbsent(situation)
  return findPlanned(situation) ?? findStandingEnd(situation) ?? look(situation)
}

/**
 * The change that an earlier run wanted to make after its look, and was not allowed to call for. Whoever spends each
 * call that the account allows on another look would never change anything.
 */
function findPlanned(situation: SyncSituation): EntityChange | undefined {
  const { memory, policy, digest, nowMs, isDeleting } = situation
  const { planned } = memory
  if (planned === undefined || planned.digest !== digest || nowMs >= planned.untilMs) return undefined
  const { change } = planned
  switch (change.do) {
    case 'create':
      if (isDeleting || !policy.creates || adoptionOf(situation) !== undefined) return undefined
      return memory.id === undefined ? change : undefined
    case 'update':
      return !isDeleting && policy.updates && memory.id === change.id ? change : undefined
    case 'delete':
      return isDeleting && policy.deletes ? change : undefined
  }
}

/** The end of the run if nothing is due. */
function findStandingEnd({ memory, digest, isRequested, nowMs, abilities }: SyncSituation): End | undefined {
  const { refusal, wait, id, syncedAtMs = -Infinity } = memory
  const { periodMs } = abilities
  const until = (sinceMs: number): number => (periodMs === 0 ? Infinity : sinceMs + periodMs)
  if (isRequested) return undefined
  if (refusal?.digest === digest && nowMs < until(refusal.atMs))
    return { do: 'refuse', reason: refusal.reason, message: refusal.message }
  if (wait?.digest === digest && nowMs < wait.untilMs)
    return { do: 'wait', untilMs: wait.untilMs, reason: wait.reason, message: wait.message }
  const isAsserted = id !== undefined && memory.digest === digest && refusal === undefined
  return isAsserted && nowMs < until(syncedAtMs) ? { do: 'rest', untilMs: until(syncedAtMs) } : undefined
}

function look(situation: SyncSituation): Action {
  const { memory, policy, abilities } = situation
  const adoption = adoptionOf(situation)
  if (memory.id !== undefined) return { do: 'get', id: memory.id }
  if (memory.intent !== undefined && abilities.finds) return { do: 'find' }
  if (adoption !== undefined) return { do: 'get', id: adoption.id }
  if (memory.intent !== undefined && policy.creates) return tryAgain(situation)
  if (policy.creates) return { do: 'create', round: memory.round }
  return abilities.finds ? { do: 'find' } : nothingToObserve
}

/** One that was adopted and is gone is not looked for again. */
function adoptionOf({ policy: { adoption }, memory }: SyncSituation): Policy['adoption'] {
  return adoption?.id === memory.lostId ? undefined : adoption
}

/** Each entity that is made for an object has a token of its own; every attempt at one has the same. */
export function tokenOf(uid: string, round: number): string {
  return `${uid}.${round}`
}

/** Looking is no help: creating again is safe if the far side knows tokens, or a person says that there is nothing. */
function tryAgain({ uid, abilities, policy, memory: { round } }: SyncSituation): Action {
  const token = tokenOf(uid, round)
  if (abilities.createsOncePerToken) return { do: 'create', round }
  if (policy.createAgain === token) return { do: 'create', round: round + 1 }
  return {
    do: 'refuse',
    reason: 'CreateUnknown',
    message: `${answerWasLost}: check the remote API; if the entity exists, annotate setpoint.dev/external-id with its id; if not, annotate setpoint.dev/create-again=${token}`,
  }
}

const answerWasLost =
  'a create call was sent, its answer was lost, and the remote API has no way to look for the result'

function aboutAbsent(situation: SyncSituation): Action {
  const { memory, policy, abilities, nowMs, conflict } = situation
  const adoption = adoptionOf(situation)
  if (conflict !== undefined) return { do: 'refuse', reason: 'NameTaken', message: conflict }
  if (memory.id !== undefined) {
    const believedMs = (memory.createdAtMs ?? -Infinity) + abilities.graceMs
    if (nowMs < believedMs) return notVisibleYet(believedMs)
    return policy.creates ? { do: 'forget', id: memory.id } : absent(situation)
  }
  if (memory.intent !== undefined && abilities.finds && (policy.creates || adoption !== undefined))
    return aboutLost(situation, memory.intent)
  if (adoption !== undefined && !policy.observesOnly)
    return { do: 'refuse', reason: 'NothingToAdopt', message: `there is no ${adoption.id}` }
  return policy.creates ? { do: 'create', round: memory.round } : absent(situation)
}

/** A look has not found what a create may have made whose answer was lost. */
function aboutLost(situation: SyncSituation, { atMs }: { readonly atMs: number }): Action {
  const { memory, abilities, nowMs } = situation
  const isAnotherNamed = adoptionOf(situation) !== undefined
  const believedMs = atMs + abilities.graceMs
  // With its token it may be tried again at once. Whoever takes another entity must know that there is none.
  if ((isAnotherNamed || !abilities.createsOncePerToken) && nowMs < believedMs) return answerLost(believedMs)
  return isAnotherNamed ? { do: 'dropIntent' } : { do: 'create', round: memory.round }
}

/** What was found in the place of a lost create is not its entity, nor the one that a person has named meanwhile. */
function isBesideTheNamed(situation: SyncSituation, { id, owner }: Present): boolean {
  const { memory, abilities, uid } = situation
  const adoption = adoptionOf(situation)
  const wasFound = memory.intent !== undefined && abilities.finds
  return wasFound && adoption !== undefined && adoption.id !== id && owner !== uid
}

function aboutPresent(situation: SyncSituation, seen: Present): Action {
  const { memory, digest, isRequested, policy, abilities } = situation
  if (isAnothers(situation, seen) && !policy.observesOnly && !mayTakeOver(situation, seen))
    return refuseOwnedByAnother(seen.id)
  if (memory.id !== seen.id) return adopt(situation, seen)
  const isChanged = memory.digest !== digest
  const { differs } = seen
  if (!policy.updates) return { do: 'settle', differs }
  if (situation.has === 'asserted') return { do: 'settle', differs: [] }
  if (isChanged || isRequested || abilities.assertsAlways || differs.length > 0)
    return { do: 'update', id: seen.id, drift: isChanged ? [] : beginningOfPaths(differs) }
  return { do: 'settle', differs: [] }
}

function isAnothers({ uid }: SyncSituation, { owner }: Present): boolean {
  return owner !== undefined && owner !== uid
}

/** From one owner, until the entity is marked: whoever takes it over from this object later has it. */
function mayTakeOver(situation: SyncSituation, { owner }: Present): boolean {
  const { id, takenFrom } = situation.memory
  return adoptionOf(situation)?.mode === 'takeover' && (id === undefined || takenFrom === owner)
}

function adopt(situation: SyncSituation, { id, owner, differs, locked = [] }: Present): Action {
  const { uid, policy, conflict } = situation
  const adoption = adoptionOf(situation)
  if (owner === uid) return { do: 'take', id, how: 'found' }
  if (adoption === undefined)
    return {
      do: 'refuse',
      reason: 'NameTaken',
      message: `${conflict ?? `${id} has its name`}; to adopt it, annotate setpoint.dev/external-id=${id}`,
    }
  // By what cannot be changed it is another entity than the one that is declared.
  const all = [...differs, ...locked]
  if (adoption.mode !== 'match' || policy.observesOnly || all.length === 0)
    return { do: 'take', id, how: adoption.mode, ...(owner !== undefined && { from: owner }) }
  return {
    do: 'refuse',
    reason: 'AdoptionDiffers',
    message: `${id} differs from what is declared: ${all.join(', ')}; declare the same values, or annotate setpoint.dev/adopt=override`,
  }
}

/**
 * An entity is deleted if it is marked for the object, or if it is the one that the object remembers as its own, made
 * or adopted, and that nobody else has marked since. What is only found in the place of a lost create stays.
 */
function whenDeleting(situation: SyncSituation): Action {
  const { memory, policy, abilities, seen, nowMs } = situation
  const { id, intent, deletedAtMs } = memory
  if (id === undefined && intent === undefined) return { do: 'release' }
  if (!policy.deletes) return { do: 'release', left: leftByPolicy }
  if (seen?.is === 'present' && isOwn(situation, seen)) return takeAway(situation, seen)
  const planned = seen === undefined && situation.has === undefined ? findPlanned(situation) : undefined
  if (planned !== undefined) return planned
  if (seen === undefined && id !== undefined) return { do: 'get', id }
  if (seen === undefined && abilities.finds) return { do: 'find' }
  const sinceMs = id === undefined ? intent?.atMs : memory.createdAtMs
  const believedMs = (sinceMs ?? -Infinity) + abilities.graceMs
  if (seen === undefined) return neverSeen(situation)
  const isAnother = seen.is === 'present'
  const end: End = isAnother ? { do: 'release', left: leftToAnother(seen) } : { do: 'release' }
  // What was seen before it was deleted is not hidden because it is new, nor is what stands in its place.
  if (deletedAtMs !== undefined || (isAnother && id !== undefined)) return end
  return nowMs < believedMs ? notVisibleYet(believedMs) : end
}

function isOwn({ uid, memory }: SyncSituation, { id, owner }: Present): boolean {
  return owner === undefined ? id === memory.id : owner === uid
}

function leftToAnother({ id, owner }: Present): Left {
  if (owner !== undefined) return { reason: 'OwnedByAnother', message: `${id} is tagged for another owner and is kept` }
  return { reason: 'NameTaken', message: `${id} has its name, but is not marked as its own, and is kept` }
}

/** A deletion that was taken is not over: what is still there is looked at again, and deleted again in time. */
function takeAway({ memory, abilities, nowMs, has }: SyncSituation, { id }: Present): Action {
  const sinceMs = nowMs - (memory.deletedAtMs ?? -Infinity)
  const isTaken = memory.deletedAtMs !== undefined && (has === 'deleted' || sinceMs < abilities.graceMs)
  return isTaken
    ? stillThere(id, nowMs + Math.min(slowestLookMs, Math.max(firstLookMs, sinceMs)))
    : { do: 'delete', id }
}

/** A create whose answer was lost, of an object that is being deleted, on a far side that cannot be asked. */
function neverSeen({ uid, policy, memory: { round } }: SyncSituation): Action {
  const token = tokenOf(uid, round)
  if (policy.createAgain === token) return { do: 'release' }
  return {
    do: 'refuse',
    reason: 'CreateUnknown',
    message: `${answerWasLost}: check the remote API, delete the entity if it exists, and annotate setpoint.dev/create-again=${token}`,
  }
}

const firstLookMs = 5_000
export const slowestLookMs = 60_000

function stillThere(id: string, untilMs: number): End {
  return {
    do: 'wait',
    untilMs,
    reason: 'StillThere',
    message: `the deletion of ${id} was accepted, but the entity still exists`,
  }
}

function notVisibleYet(untilMs: number): End {
  return {
    do: 'wait',
    untilMs,
    reason: 'NotVisibleYet',
    message: 'the entity was created a moment ago and is not visible yet',
  }
}

function answerLost(untilMs: number): End {
  return {
    do: 'wait',
    untilMs,
    reason: 'CreateUnknown',
    message:
      'a create call was sent and its answer was lost; no other entity is made or adopted until that one has been looked for',
  }
}

function absent({ nowMs, abilities: { periodMs } }: SyncSituation): End {
  const untilMs = periodMs === 0 ? Infinity : nowMs + periodMs
  return {
    do: 'wait',
    untilMs,
    reason: 'Absent',
    message: 'the entity does not exist, and the policy does not allow creating it',
  }
}

const nothingToObserve: End = {
  do: 'refuse',
  reason: 'NothingToObserve',
  message:
    'the object may not create its entity: annotate setpoint.dev/external-id with the id of the one that is there',
}

function refuseOwnedByAnother(id: string): End {
  return {
    do: 'refuse',
    reason: 'OwnedByAnother',
    message: `${id} is tagged for another owner; if that is gone, annotate setpoint.dev/external-id and setpoint.dev/adopt=takeover`,
  }
}
