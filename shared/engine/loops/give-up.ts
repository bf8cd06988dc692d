import { absentIfDamaged } from '../../model/damage.ts'
import { equal } from '../../model/json.ts'
import { keyText, type ObjectKey } from '../../model/object-key.ts'
import type { StoredObject } from '../../model/stored-object.ts'
import { recordKey } from '../state/removed-record.ts'
import { isStalled } from '../state/stalled-state.ts'
import type { TurnRunner } from '../state/turn.ts'
import { fanOutName } from '../wake/fan-out.ts'
import { createDeadLetters, type DeadLettersOptions } from './dead-letter.ts'

/** A run that did not come to its end, by the name of its controller and its object. */
export interface UnendedRun {
  readonly loop: string
  readonly key: ObjectKey
  /** An earlier start has given it up, and the process has not ended in it since. */
  readonly isGivenUp?: boolean
}

/** The runs that are to be given up at a start. */
export interface GivingUp {
  readonly runs: readonly UnendedRun[]
  /** Gets each run whose object has become Stalled by this start. */
  readonly onGivenUp?: (run: UnendedRun) => void
}

/** The runner of a loop, but for turns of objects that were given up. */
export type HoldBack = (loop: string, run: TurnRunner) => TurnRunner

/**
 * What dead letters are on AWS, for a process that ended again and again in runs of these: each object says that it is
 * Stalled, and waits. What would wake it is told again after such an end, so until then its turns are settled without a
 * run, unless its spec or its annotations were changed. An object that was given up before is not written again, and
 * waits on as long as it says so: two of them would end one process after the other in turns. One that cannot be
 * written is told in the log, and its turns come again until it can: it does not run.
 */
export async function giveUp(
  { runs, onGivenUp }: GivingUp,
  options: Omit<DeadLettersOptions, 'queueOf'>,
): Promise<HoldBack> {
  const { store, clock, logger } = options
  const takeIn = createDeadLetters({ ...options, queueOf: noQueue })
  const known = new Set(options.controllers.map(({ name }) => name))
  const givenUp = new Map<string, StoredObject>()
  const untold = new Map<string, UnendedRun>()
  for (const run of runs.filter(({ loop }) => known.has(loop))) await tryToTell(run)

  async function tryToTell(run: UnendedRun): Promise<boolean> {
    const { loop, key } = run
    const texts = textsOf(run)
    try {
      const stored = await tell(run)
      for (const text of texts) {
        untold.delete(text)
        if (stored !== undefined) givenUp.set(text, stored)
      }
      return true
    } catch (error) {
      logger.error('object not given up; it waits until it can be written', { loop, ...key, error: String(error) })
      for (const text of texts) untold.set(text, run)
      return false
    }
  }

  /** The object as it waits; undefined if it need not, or is gone. */
  async function tell(run: UnendedRun): Promise<StoredObject | undefined> {
    const { loop, key, isGivenUp = false } = run
    if (!isGivenUp) await takeIn({ loop, wakeUp: { ...wakeUp, key } })
    const stored = await find(key)
    if (isGivenUp) return stored !== undefined && isStalled(stored, clock.nowMs()) ? stored : undefined
    onGivenUp?.(run)
    if (stored !== undefined)
      logger.error('the process ended again and again while this object ran: it is Stalled', { loop, ...key })
    return stored
  }

  async function find(key: ObjectKey): Promise<StoredObject | undefined> {
    return absentIfDamaged(async () => (await store.get(key)) ?? store.get(recordKey(key)))
  }

  return (loop, run) => {
    if (givenUp.size === 0 && untold.size === 0) return run
    return async (turn, signal) => {
      const text = runText({ loop, key: turn.key })
      const waiting = untold.get(text)
      if (waiting !== undefined && !(await tryToTell(waiting))) return turn.delay(untoldMs)
      const before = givenUp.get(text)
      // A timer is looked at for what the object says of it.
      if (before === undefined || turn.wakeUps.every(({ origin }) => origin === 'timer')) return run(turn, signal)
      if (isAsGivenUp(before, await find(turn.key), clock.nowMs())) return turn.settle()
      givenUp.delete(text)
      return run(turn, signal)
    }
  }
}

/** Until a turn comes again whose object could not be written. */
const untoldMs = 10_000

/** A fan-out that is told again would leave the object a timer, and the timer would run it. */
function textsOf({ loop, key }: UnendedRun): readonly string[] {
  return [loop, fanOutName({ name: loop })].map((name) => runText({ loop: name, key }))
}

/** What a dead letter tells of the wake-up is for the engine's own loops. */
const wakeUp = {
  origin: 'change',
  dedupId: 'unended',
  lane: 'background',
  reason: 'its runs ended the process',
} as const

function noQueue(): never {
  throw new TypeError('a controller has no dead letters that are sent again')
}

/** The name of a run. No part of it holds a slash. */
export function runText({ loop, key }: Pick<UnendedRun, 'loop' | 'key'>): string {
  return `${loop}/${keyText(key)}`
}

function isAsGivenUp(before: StoredObject, live: StoredObject | undefined, nowMs: number): boolean {
  const { metadata } = before.object
  const { wait } = live?.engine ?? {}
  // A run that came to its end has left another wait, or none.
  if (live === undefined || (wait?.atMs ?? 0) <= nowMs || !equal(wait, before.engine.wait)) return false
  const { uid, generation, annotations } = live.object.metadata
  return uid === metadata.uid && generation === metadata.generation && equal(annotations, metadata.annotations)
}
