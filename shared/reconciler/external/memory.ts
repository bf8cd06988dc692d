import { clockErrorMsMax } from '../../model/clock-error.ts'
import { foreignPart } from '../../model/foreign-part.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { shorten } from '../../model/shorten.ts'
import type { Context } from '../context.ts'
import type { SecretTarget } from '../secret-source.ts'
import type { AdoptionMode } from './policy.ts'

/**
 * What is known of the entity outside, noted with the object: nobody else can change it, a wiped status is restored
 * from it, and the intent to create is in it before the call is made.
 */
export type ExternalMemory = {
  /** The entity's id there; absent before it is made, and after it was lost. */
  readonly id?: string
  /** How many entities it has had before: tells the tokens of their creation apart. */
  readonly round: number
  /** A create has begun, the last time then, and how it ended is not known. */
  readonly intent?: { readonly atMs: number }
  /** When it was made, or taken: a look within the grace that does not see it is not believed. */
  readonly createdAtMs?: number
  /** The far side has taken its deletion, the first time then: it is gone once a look says so. */
  readonly deletedAtMs?: number
  /** Where it is, as the far side's `place` has it. */
  readonly place?: string
  /** What it is inside of, by the names of the requirements: `namespace/name`. */
  readonly inside?: { readonly [requirement: string]: string }
  /** Of what was declared when it was last asserted. */
  readonly digest?: string
  readonly syncedAtMs?: number
  /** The declaration that the far side has refused. */
  readonly refusal?: SyncRefusal
  /** What it waits for though nothing failed. */
  readonly wait?: StandingWait
  /** The request to reconcile now that was answered. */
  readonly request?: string
  /** What the annotation says that an entity was adopted by: its id, or whatever else the far side knows it by. */
  readonly adoptedAs?: string
  /** An entity that is gone, by what the annotation says of it: it is not looked for again. */
  readonly lostId?: string
  /** What the status shows of it beside the id. */
  readonly shown?: JsonObject
  /** That is more than there is room for here: between two looks it is what the status has. */
  readonly isShownInStatus?: true
  /** Of the outputs that were stored. */
  readonly outputs?: string
  /** Their names. */
  readonly outputKeys?: string[]
  /** Those of them that nobody knows to be stored: they were told, and their write has not ended yet. */
  readonly outputsUnkept?: string[]
  /** Of the outputs that were stored of an entity before this one, until those of this one are. */
  readonly outputsBefore?: string
  /** The Secret where they are, if they are not in AWS. */
  readonly outputsIn?: string
  /** Where in AWS they are. */
  readonly outputsAt?: SecretTarget
  /** Another place in AWS where they may be, while they move. */
  readonly outputsAlso?: SecretTarget
  readonly adopted?: AdoptionMode
  /** Whether the entity is observed and was never the object's own; noted of what was not made for the object. */
  readonly mirrored?: boolean
  /** The uid of the object that it was marked for, until it is marked for this one. */
  readonly takenFrom?: string
  /** Fields that are otherwise outside and are left so. */
  readonly differs?: string[]
  /** Fields that are otherwise outside and cannot be changed there. */
  readonly locked?: string[]
  /** What a look was followed by and the account's rate did not allow: it is done next, without another look. */
  readonly planned?: PlannedChange
}

export type PlannedChange = {
  /** Of what was declared then. */
  readonly digest: string
  /** Whoever comes later looks again. */
  readonly untilMs: number
  readonly change: EntityChange
}

/** What changes something outside. */
export type EntityChange =
  /** The next attempt at the entity of this round: the first if it is a new one. */
  | { readonly do: 'create'; readonly round: number }
  /** `locked` is what was seen in fields that nobody can change. */
  | { readonly do: 'update'; readonly id: string; readonly drift: string[]; readonly locked?: JsonObject }
  | { readonly do: 'delete'; readonly id: string }

export type SyncRefusal = {
  readonly digest: string
  readonly atMs: number
  readonly reason: string
  readonly message: string
}

export type StandingWait = {
  readonly digest: string
  readonly untilMs: number
  readonly reason: string
  readonly message: string
}

/**
 * The memory once the entity is gone: of what comes next, nothing is known but what is the object's. `named`: what the
 * annotation names. That is spent if it was this entity, or one before it.
 */
export function withoutEntity(memory: ExternalMemory, named?: string): ExternalMemory {
  const { id, round, request, outputsAt, outputsAlso, adoptedAs, lostId: lostBefore } = memory
  const outputsBefore = memory.outputs ?? memory.outputsBefore
  const isSpent = named !== undefined && (named === adoptedAs || named === lostBefore)
  const lostId = isSpent ? named : (id ?? lostBefore)
  return {
    round: round + 1,
    ...(lostId !== undefined && { lostId }),
    ...(request !== undefined && { request }),
    ...(outputsAt && { outputsAt }),
    ...(outputsAlso && { outputsAlso }),
    ...(outputsBefore !== undefined && { outputsBefore }),
  }
}

/** The memory of an object that observes no longer: what it has seen was never its own. */
export function withoutMirror(memory: ExternalMemory): ExternalMemory {
  const { lostId: _, ...known } = withoutEntity(memory)
  return { ...known, round: memory.round, ...(memory.lostId !== undefined && { lostId: memory.lostId }) }
}

/** The memory without what a clock that was ahead would have wait for it. No wait is longer than `longestMs`. */
export function correctTimes(memory: ExternalMemory, nowMs: number, longestMs: number): ExternalMemory {
  const { intent, createdAtMs, deletedAtMs, syncedAtMs, refusal, wait, planned, ...others } = memory
  const isAhead = (ms: number | undefined): boolean => ms !== undefined && ms > nowMs + clockErrorMsMax
  const noted = [intent?.atMs, createdAtMs, deletedAtMs, syncedAtMs, refusal?.atMs]
  if (!noted.some(isAhead) && !isAhead(wait && wait.untilMs - longestMs)) return memory
  return {
    ...others,
    ...(intent && { intent: { atMs: Math.min(intent.atMs, nowMs) } }),
    ...(createdAtMs !== undefined && { createdAtMs: Math.min(createdAtMs, nowMs) }),
    ...(deletedAtMs !== undefined && { deletedAtMs: Math.min(deletedAtMs, nowMs) }),
    ...(!isAhead(syncedAtMs) && syncedAtMs !== undefined && { syncedAtMs }),
    ...(!isAhead(refusal?.atMs) && refusal && { refusal }),
  }
}

/** The memory with what the status shows from now on. */
export function withShown(memory: ExternalMemory, shown: JsonObject): ExternalMemory {
  const { shown: _, isShownInStatus: __, ...others } = memory
  return canBeNoted(shown) ? { ...others, shown } : { ...others, isShownInStatus: true }
}

/** Of the room that notes have, for one of several things in it. */
const lengthMax = 2_000

/** Whether what comes from the far side is JSON, and has room beside what else is noted. */
export function canBeNoted(value: JsonObject): boolean {
  return foreignPart(value, '') === undefined && JSON.stringify(value).length <= lengthMax
}

const key = 'external'

export function recall({ notes }: Context): ExternalMemory {
  const noted = notes.get(key)
  return isObject(noted) ? (noted as ExternalMemory) : { round: 0 }
}

/** Of the room that notes have: the rest is the author's. */
const roomMax = 3_600

/**
 * Kept when the run ends; `notes.keep()` makes it durable now. Returns what is noted. If there is no room for all of
 * it, that is without a planned change, which costs another look, then without what the status has, and then without
 * the names of the outputs that are not stored yet: their loss is not told.
 */
export function note({ notes }: Context, memory: ExternalMemory): ExternalMemory {
  const noted = fitMemory(memory)
  notes.set(key, noted)
  return noted
}

function fitMemory(memory: ExternalMemory): ExternalMemory {
  if (hasRoom(memory)) return memory
  const { planned: _, ...known } = memory
  if (hasRoom(known)) return known
  const { shown, ...others } = known
  const short: ExternalMemory = shown === undefined ? known : { ...others, isShownInStatus: true }
  if (hasRoom(short)) return short
  const { outputsUnkept: __, ...rest } = short
  return rest
}

function hasRoom(memory: ExternalMemory): boolean {
  return JSON.stringify(memory).length <= roomMax
}

/** Characters of all paths that are noted and told, and of one of them. */
const pathsLengthMax = 600
const pathLengthMax = 200

/** The first of the paths, and how many more there are. */
export function beginningOfPaths(paths: readonly string[]): string[] {
  let length = 0
  const short = paths.map((path) => shorten(path, pathLengthMax))
  const count = short.findIndex((path) => (length += path.length) > pathsLengthMax)
  return count === -1 ? short : [...short.slice(0, count), `and ${short.length - count} more`]
}
