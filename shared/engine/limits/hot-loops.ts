import { conditionOf, conditionsOf } from '../../model/conditions.ts'
import { findChangedFields } from '../../model/changed-fields.ts'
import { keyOf, keyText } from '../../model/object-key.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Wait } from '../../model/engine-state.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import type { WakeUp } from '../../ports/work-queue.ts'
import { createTokenBucket, type TokenBucket } from './token-bucket.ts'

/**
 * Stops objects that run again and again although nothing fails: a burst of 100 runs and one a second after that. Then
 * the loop is open: only one run every 30 s is let through, to see whether it is over. It is once 30 s have passed in
 * which nothing but that probe wanted to run. A new generation always runs, unless the controller made it itself.
 *
 * Runs are counted in memory, and only for objects that ran within the last minutes: nothing grows with the objects
 * there are. That the loop is open is written in the object, by its wait: a process that has just begun, or another
 * one, goes on with probes.
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
/** By then the bucket is full again. */
const forgetMs = 120_000
const forgetEveryMs = 1_000
/** From here on it is noted what each run changes. */
const suspicious = 50

interface Loop {
  readonly bucket: TokenBucket
  readonly changes: Map<string, number>
  generation: number
  lastRunMs: number
  isOpen: boolean
  /** Wanted to run since the last run, and did not. */
  isWanted: boolean
  wokenBy: string
}

/** `controller`: whose changes of its own objects count as loops. */
export function createHotLoops(controller: string): HotLoops {
  /** In the order of the last runs. */
  const loops = new Map<string, Loop>()
  let forgotAtMs = -Infinity

  /** Not at every run: to find the first of a Map takes long when many before it have gone. */
  const forget = (nowMs: number): void => {
    // The clock was put back: nothing has run in the time to come.
    if (nowMs < forgotAtMs) for (const loop of loops.values()) loop.lastRunMs = Math.min(loop.lastRunMs, nowMs)
    forgotAtMs = nowMs
    for (const [key, { lastRunMs }] of loops) {
      if (nowMs - lastRunMs < forgetMs) break
      loops.delete(key)
    }
  }

  const loopOf = (object: ApiObject, nowMs: number): Loop => {
    const key = keyText(keyOf(object))
    if (Math.abs(nowMs - forgotAtMs) >= forgetEveryMs) forget(nowMs)
    const loop = loops.get(key) ?? begin(object, nowMs)
    loops.delete(key)
    loops.set(key, loop)
    return loop
  }

  return {
    findBlock: ({ object, engine }, wakeUps, nowMs) => {
      const loop = loopOf(object, nowMs)
      if (engine.wait?.kind === 'HotLoop' && !loop.isOpen) open(loop, engine.wait, nowMs)
      loop.wokenBy = engine.wait?.kind === 'Requeue' ? 'its own request to run again' : (wakeUps[0]?.reason ?? '')
      const isNew = object.metadata.generation !== loop.generation
      loop.generation = object.metadata.generation
      if (isNew && engine.change?.by !== controller) return close(loop)
      const isProbe = nowMs - loop.lastRunMs >= probeMs
      if (loop.isOpen && isProbe && !loop.isWanted && wakeUps.every(({ origin }) => origin === 'timer')) close(loop)
      const mayRun = loop.isOpen ? isProbe : loop.bucket.take(nowMs)
      return mayRun ? undefined : block(loop, object)
    },

    ran: (before, { againMs = Infinity, after }, nowMs) => {
      const loop = loops.get(keyText(keyOf(before)))
      if (loop === undefined) return
      loop.lastRunMs = nowMs
      loop.isWanted = againMs < probeMs
      if (loop.bucket.tokens(nowMs) > suspicious) return loop.changes.clear()
      for (const field of findChangedFields({ status: statusOf(before) }, { status: statusOf(after()) }, 5))
        loop.changes.set(field, (loop.changes.get(field) ?? 0) + 1)
    },

    probeAtMs: (object) => {
      const loop = loops.get(keyText(keyOf(object)))
      return loop?.isOpen === true ? loop.lastRunMs + probeMs : undefined
    },
  }
}

function begin({ metadata: { generation } }: ApiObject, nowMs: number): Loop {
  return {
    bucket: createTokenBucket(limits),
    changes: new Map(),
    generation,
    lastRunMs: nowMs,
    isOpen: false,
    isWanted: false,
    wokenBy: '',
  }
}

/** As it was left by a process that knew more. What a user has changed since is new to this one, too. */
function open(loop: Loop, { generation, atMs = 0 }: Wait, nowMs: number): void {
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
  loop.changes.clear()
}

/** A condition is the engine's, and its message may well differ. */
function statusOf({ status = {}, ...object }: ApiObject): NonNullable<ApiObject['status']> {
  const conditions = conditionsOf({ ...object, status }).map(({ type, status: is }) => [type, is])
  return { ...status, conditions: Object.fromEntries(conditions) as Record<string, string> }
}

function explainLoop({ changes, wokenBy }: Loop): Pick<Blocked, 'reason' | 'message'> {
  const [field] = [...changes].sort((a, b) => b[1] - a[1])[0] ?? []
  const what = 'it ran 100 times at once and would go on'
  return field === undefined
    ? { reason: 'RunsWithoutEnd', message: `${what}; woken by: ${wokenBy}` }
    : { reason: 'StatusNeverSettles', message: `${what}; ${field} changed with every run` }
}
