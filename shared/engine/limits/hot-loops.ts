import { conditionOf, conditionsOf } from '../../model/conditions.ts'
import { findChangedFields } from '../../model/changed-fields.ts'
import { isDeleting, type ApiObject } from '../../model/object.ts'
import { parseTimestamp } from '../../model/time.ts'
import type { Wait } from '../../model/engine-state.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { WakeUp } from '../../ports/work-queue.ts'
import { createTokenBucket, type TokenBucket } from './token-bucket.ts'

/**
 * Stops objects that run again and again although nothing fails: a burst of 100 runs and one a second after that. Then
 * the loop is open: only one run every 30 s is let through, to see whether it is over. It is once 30 s have passed in
 * which nothing but that probe wanted to run. A new generation always runs, unless the controller made it itself.
 *
 * Runs are counted in memory, for objects that ran within the last minutes, and for no more than 40,000 of them:
 * nothing grows with the objects there are. That the loop is open is written in the object, by its wait: a process that
 * has just begun, or another one, goes on with probes.
 */
export interface HotLoops {
  /** Undefined: run. Else: not before then, for this reason. */
  findBlock(stored: StoredObject, wakeUps: readonly WakeUp[], nowMs: number): Blocked | undefined
  /** Notes a run that has ended. */
  ran(before: ApiObject, run: EndedRun, nowMs: number): void
  /** When the next probe is due, while the loop is open. */
  probeAtMs(object: ApiObject): number | undefined
}

export interface EndedRun {
  /** When it wants the next one, if it says. */
  readonly againMs: number | undefined
  /** What it makes of the object; asked for only if the object runs suspiciously often. */
  readonly after: () => ApiObject
}

export interface Blocked {
  readonly untilMs: number
  readonly reason: string
  readonly message: string
}

const limits = { burst: 100, perSecond: 1 }
const probeMs = 30_000
/** Within this time a controller hears of its own write. */
const soonMs = 5_000
/** From here on it is noted what each run changes. */
const suspicious = 50

interface Loop {
  readonly bucket: TokenBucket
  /** How many runs changed a field, by its path. Made for a loop that is suspicious. */
  changes: Map<string, number> | undefined
  generation: number
  lastRunMs: number
  isOpen: boolean
  /** Wanted to run since the last run, and did not. */
  isWanted: boolean
  wokenBy: string
}

/** `controller`: whose changes of its own objects count as loops. */
export function createHotLoops(controller: string): HotLoops {
  const loops = new RecentLoops()
  return {
    findBlock: ({ object, engine }, wakeUps, nowMs) => {
      const loop = loops.loopOf(object, nowMs)
      if (engine.wait?.kind === 'HotLoop' && !loop.isOpen) open(loop, engine.wait, nowMs)
      loop.wokenBy = engine.wait?.kind === 'Requeue' ? 'its own request to run again' : (wakeUps[0]?.reason ?? '')
      const isNew = object.metadata.generation !== loop.generation
      loop.generation = object.metadata.generation
      if (isNew && isOthersChange({ object, engine }, controller, nowMs)) return close(loop)
      const isProbe = nowMs - loop.lastRunMs >= probeMs
      if (loop.isOpen && isProbe && !loop.isWanted && wakeUps.every(({ origin }) => origin === 'timer')) close(loop)
      const mayRun = loop.isOpen ? isProbe : loop.bucket.take(nowMs)
      return mayRun ? undefined : block(loop, object)
    },

    ran: (before, { againMs = Infinity, after }, nowMs) => {
      const loop = loops.known(before)
      if (loop === undefined) return
      loop.lastRunMs = nowMs
      loop.isWanted = againMs < probeMs
      if (loop.bucket.tokens(nowMs) > suspicious) loop.changes = undefined
      else countChanges((loop.changes ??= new Map()), before, after())
    },

    probeAtMs: (object) => {
      const loop = loops.known(object)
      return loop?.isOpen === true ? loop.lastRunMs + probeMs : undefined
    },
  }
}

/** After this time the bucket is full again. */
const forgetMs = 120_000
const generationMax = 20_000

/** Loops of objects that ran lately, in two generations: the older one is forgotten when the younger one is full. */
class RecentLoops {
  #younger = new Map<string, Loop>()
  #older = new Map<string, Loop>()
  #turnedAtMs = 0

  /** The loop of an object that is about to run. */
  loopOf(object: ApiObject, nowMs: number): Loop {
    if (this.#younger.size >= generationMax || Math.abs(nowMs - this.#turnedAtMs) >= forgetMs) this.#turn(nowMs)
    const { uid } = object.metadata
    let loop = this.#younger.get(uid)
    if (loop === undefined) {
      loop = this.#older.get(uid) ?? begin(object, nowMs)
      this.#younger.set(uid, loop)
    }
    // The clock was put back: nothing has run in the time to come.
    loop.lastRunMs = Math.min(loop.lastRunMs, nowMs)
    return loop
  }

  known({ metadata: { uid } }: ApiObject): Loop | undefined {
    return this.#younger.get(uid) ?? this.#older.get(uid)
  }

  #turn(nowMs: number): void {
    this.#older = this.#younger
    this.#younger = new Map()
    this.#turnedAtMs = nowMs
  }
}

/**
 * Whether somebody else than the controller made the new generation. Of built-in kinds no change is noted: there the
 * managed fields tell who wrote in the last second of a write, but not who only took fields away. What the controller
 * writes wakes it at once.
 */
function isOthersChange({ object, engine: { change } }: StoredObject, controller: string, nowMs: number): boolean {
  if (change !== undefined) return change.by !== controller
  if (isDeleting(object)) return true
  const entries = (object.metadata.managedFields ?? []).filter(({ subresource }) => subresource === undefined)
  const last = entries.reduce((latest, { time = '' }) => (time > latest ? time : latest), '')
  const writers = entries.filter(({ time = '' }) => time === last)
  if (nowMs - (parseTimestamp(last) ?? 0) > soonMs) return true
  return writers.length === 0 || writers.some(({ manager }) => manager !== controller)
}

function countChanges(changes: Map<string, number>, before: ApiObject, after: ApiObject): void {
  for (const field of findChangedFields({ status: statusOf(before) }, { status: statusOf(after) }, 5))
    changes.set(field, (changes.get(field) ?? 0) + 1)
}

function begin({ metadata: { generation } }: ApiObject, nowMs: number): Loop {
  return {
    bucket: createTokenBucket(limits),
    changes: undefined,
    generation,
    lastRunMs: nowMs,
    isOpen: false,
    isWanted: false,
    wokenBy: '',
  }
}

/** As it was left by a process that knew more. What a user has changed since is new to this one, too. */
function open(loop: Loop, { generation, atMs }: Extract<Wait, { readonly atMs: number }>, nowMs: number): void {
  loop.isOpen = true
  loop.isWanted = true
  loop.generation = generation
  loop.lastRunMs = Math.max(atMs, nowMs) - probeMs
}

function block(loop: Loop, object: ApiObject): Blocked {
  loop.isOpen = true
  loop.isWanted = true
  return { untilMs: loop.lastRunMs + probeMs, ...(findTold(object) ?? explainLoop(loop)) }
}

/** Whoever opened the loop saw the runs before it; a probe alone tells less. */
function findTold(object: ApiObject): Pick<Blocked, 'reason' | 'message'> | undefined {
  const told = conditionOf(object, 'HotLoop')
  return told?.status === 'True' ? { reason: told.reason, message: told.message } : undefined
}

function close(loop: Loop): undefined {
  loop.isOpen = false
  loop.changes = undefined
}

/** A condition is the engine's, and its message may well differ. */
function statusOf({ status = {}, ...object }: ApiObject): NonNullable<ApiObject['status']> {
  const conditions = conditionsOf({ ...object, status }).map(({ type, status: is }) => [type, is])
  return { ...status, conditions: Object.fromEntries(conditions) as Record<string, string> }
}

function explainLoop({ changes, wokenBy }: Loop): Pick<Blocked, 'reason' | 'message'> {
  const [field] = [...(changes ?? [])].sort((a, b) => b[1] - a[1])[0] ?? []
  const what = 'it ran 100 times without a pause'
  return field === undefined
    ? { reason: 'RunsWithoutEnd', message: `${what}; woken by: ${wokenBy}` }
    : { reason: 'StatusNeverSettles', message: `${what}; ${field} changed with every run` }
}
