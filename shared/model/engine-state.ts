import type { Json } from './json.ts'
import type { OwnerReference } from './object.ts'

/**
 * What the engine keeps with an object, in the same item and by the same conditional write. Empty for an object at
 * rest, so that a run that changes nothing writes nothing. People see part of it as `status.reconcile` (present.ts); no
 * client can write it.
 */
export interface EngineState {
  /** Why the object waits, and until when. Each kind of wait owns what belongs to it. */
  readonly wait?: Wait
  /** A run that something else asked for, at the latest. It stays until a run has begun that knew of it. */
  readonly wakeAtMs?: number
  /** `wakeAtMs`, if it is only there in case that the change gets lost on its way; see engine/wake/safety-net.ts. */
  readonly netMs?: number
  /** The change of the desired state that no run has observed yet. For people and metrics: no run learns of it. */
  readonly change?: AcceptedChange
  /** The owner that the last write took the object from, to be woken by it. No run keeps it. */
  readonly formerOwner?: Pick<OwnerReference, 'apiVersion' | 'kind' | 'name'>
  /** The queue message that is hidden for the wait. A change of the object ends the hold by its handle. */
  readonly hold?: Hold
  /** What runs leave to later runs. */
  readonly memory?: Memory
}

/**
 * Why an object waits. `generation` is the one that the wait is about: a newer one starts from nothing. `atMs` is the
 * next run at the latest, in milliseconds since the epoch; it is durable, and the sweep finds it after any restart.
 */
export type Wait =
  | (Timed & { readonly kind: 'Requeue' | 'Resync' | 'Expectation' })
  | (Timed & { readonly kind: 'Backoff' | 'RetryAfter'; readonly failure: Failure })
  /** `failure` is what the object waited for before its run was put off, and `retryAtMs` until when. */
  | (Timed & { readonly kind: 'RateLimited' | 'HotLoop'; readonly failure?: Failure; readonly retryAtMs?: number })
  /** Without `atMs` no timer ends it. */
  | { readonly kind: 'Stopped'; readonly generation: number; readonly atMs?: number; readonly failure: Failure }

interface Timed {
  readonly generation: number
  readonly atMs: number
}

/** The failures in a row of one generation. */
export interface Failure {
  /** How many; 0 if the last run was told to wait, or stopped, and none failed before it. */
  readonly attempt: number
  /** The message of the last one, without times and ids, so that equal failures stay equal. */
  readonly error: string
  /** How many of them in a row had this message; from 2 on. */
  readonly sameErrors?: number
}

export interface Memory {
  /** Side effects that happen once, by the reconciler's key. They stay as long as the object. */
  readonly once?: { readonly [key: string]: OnceRecord }
  /** What the reconciler noted for its later runs, by its own keys. Notes stay as long as the object. */
  readonly notes?: { readonly [key: string]: Json }
  /** Where in `once` and `notes` values of Secrets are, so that runs that do not read the Secret tell none of them. */
  readonly secretPaths?: readonly MemoryPath[]
  /** When what the reconciler expects must have come true, by name; see reconciler/expectation.ts. */
  readonly expectations?: Deadlines
  /** When things outside were last made or found as declared, if the reconciler says so. For people only. */
  readonly syncedAtMs?: number
  /** Runs within the time of the object's rate limit. */
  readonly window?: RunWindow
  /** When its run may begin by the rate limit of the whole controller. The run strikes it out before it begins. */
  readonly reservedMs?: number
  /** How many runs by such a reservation began since one came to its end. */
  readonly unended?: number
}

/** What a run has changed of the notes, by key; undefined is what it has forgotten. */
export type NoteChanges = { readonly [key: string]: Json | undefined }

/** Names and places from the memory down to a text or a number. */
export type MemoryPath = readonly (string | number)[]

/** Milliseconds since the epoch, by name. */
export type Deadlines = { readonly [name: string]: number }

/** Who changed what, and when. */
export interface AcceptedChange {
  readonly verb: 'created' | 'changed' | 'deleted'
  readonly atMs: number
  /** When the first change was accepted that no run has observed, if it is another one. */
  readonly sinceMs?: number
  /** The field manager. */
  readonly by: string
  /** Paths of fields that it changed, the first few. */
  readonly fields?: string[]
  /** The span of the write, as a `traceparent`, where requests are traced. */
  readonly trace?: string
}

export interface OnceRecord {
  /** Digest of what the effect is about. */
  readonly of: string
  readonly state: 'begun' | 'done'
  readonly result?: Json
}

/** How often the object has run since a moment. */
export interface RunWindow {
  readonly startMs: number
  readonly runs: number
}

/** `receives`: how often the message had been handed out by then. */
export interface Hold {
  readonly handle: string
  readonly untilMs: number
  readonly receives?: number
}

/** When the object is to run, for whatever reason; undefined if no timer is set. */
export function dueAtMs({ wait, wakeAtMs }: EngineState): number | undefined {
  const waitMs = wait?.atMs
  return waitMs === undefined || wakeAtMs === undefined ? (waitMs ?? wakeAtMs) : Math.min(waitMs, wakeAtMs)
}

/** How long after a change the safety net wants its run. By then a change has long been through. */
export const netAfterMs = 300_000
/** By how much the clocks of those who set the net and who write may differ. */
const netSlackMs = 30_000

/**
 * When the safety net wants a run, if that is the object's only timer, and was set with the write of then: who knows
 * when an object was last written knows this, too, and needs no other index of it.
 */
export function nettedMs(engine: EngineState, writtenMs: number): number | undefined {
  const { netMs } = engine
  if (netMs === undefined || netMs !== dueAtMs(engine)) return undefined
  return Math.abs(netMs - netAfterMs - writtenMs) <= netSlackMs ? netMs : undefined
}

/** When those were written whose net wants a run between these times. */
export function writtenBetween(fromMs: number, toMs: number): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: fromMs - netAfterMs - netSlackMs, toMs: toMs - netAfterMs + netSlackMs }
}

/** What the wait says of failures; undefined if it is about none. */
export function failureOf({ wait }: EngineState): Failure | undefined {
  return wait !== undefined && 'failure' in wait ? wait.failure : undefined
}

/** When a failure has set its retry for, though a limit may have put a run off since. Undefined if none has. */
export function retryAtMsOf({ wait }: EngineState): number | undefined {
  switch (wait?.kind) {
    case 'Backoff':
    case 'Stopped':
      return wait.atMs
    case 'RateLimited':
    case 'HotLoop':
      return wait.retryAtMs
    default:
      return undefined
  }
}

/** Failures in a row that count for this generation: a new one starts from nothing. */
export function attemptsOf(engine: EngineState, generation: number): number {
  return engine.wait?.generation === generation ? (failureOf(engine)?.attempt ?? 0) : 0
}

/** The state with this memory. An object at rest has no trace of the engine: what says nothing is left out. */
export function withMemory({ memory: _, ...engine }: EngineState, fields: MemoryFields): EngineState {
  const memory = compactMemory(fields)
  return memory === undefined ? engine : { ...engine, memory }
}

/** The state with what stays as long as the object. A version of the code that comes later may clean up by it. */
export function withLasting(engine: EngineState, { once, notes, secretPaths }: MemoryFields = {}): EngineState {
  return withMemory(engine, { once, notes, secretPaths })
}

/**
 * The notes with what one run has changed. What it has not changed is as another run has left it, which may have gone
 * on beside it.
 */
export function withNoteChanges(notes: Memory['notes'], changes: NoteChanges): Memory['notes'] {
  const changed = Object.entries(changes)
  if (changed.length === 0) return notes
  const next = new Map(Object.entries<Json | undefined>({ ...notes }))
  for (const [key, value] of changed) next.set(key, value)
  return Object.fromEntries([...next].filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

/** Fields of a memory, some of which may say nothing. */
export type MemoryFields = { readonly [Field in keyof Memory]: Memory[Field] | undefined }

function compactMemory(fields: MemoryFields): Memory | undefined {
  let memory: Record<string, unknown> | undefined
  for (const field in fields) {
    const value = fields[field as keyof Memory]
    if (value !== undefined && !isEmptyRecord(value)) (memory ??= {})[field] = value
  }
  return memory
}

function isEmptyRecord(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
