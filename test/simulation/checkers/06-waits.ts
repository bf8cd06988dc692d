import { simGroup } from '../addresses.ts'
import { dueAtMs, failureOf } from '../../../shared/model/engine-state.ts'
import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { RemovedRecord } from '../../../shared/engine/state/removed-record.ts'
import { keyOf, keyText } from '../../../shared/model/object-key.ts'
import { isPaused } from '../../../shared/model/control-annotations.ts'
import type { Run } from '../runs.ts'
import { runKinds } from '../scenario.ts'
import {
  isFenceTried,
  isLinedUp,
  isPoison,
  isPoisoned,
  isRoomy,
  named,
  promptMs,
  objectsOf,
  specOf,
  type Checker,
  type Scene,
} from './checker.ts'

/**
 * Promise 6: attempts and timers are fields of the object, and no crash loses them. A count of failures goes down only
 * after a run that did not fail, or that stopped, or with a new generation; what wants to run again says when; no timer
 * is overdue.
 */
export function createWaits({ world, scenario, table, report }: Scene): Checker {
  /** Objects that had a good run, and by whom, since that one last wrote of a failure. */
  const good = new Set<string>()
  /** The same by the last run to end. What an earlier one wrote, of a failure or of none, may come later. */
  const lastGood = new Set<string>()
  const hasPaused = new Set(['stop'])

  const attempts = (before: StoredObject, after: StoredObject, by: string): void => {
    const { generation } = after.object.metadata
    const runs = uidsOf(before).map((uid) => `${uid} ${by}`)
    const isSame = before.engine.wait?.generation === generation && before.object.metadata.generation === generation
    const [was, is] = [before, after].map(({ engine }) => failureOf(engine)?.attempt ?? 0) as [number, number]
    const mayFall =
      runs.some((run) => good.has(run) || lastGood.has(run)) ||
      hasPaused.has(String(specOf(after)['mood'])) ||
      isPaused(after.object) ||
      // It stopped: that is no failure, and nothing is tried again for it.
      after.engine.wait?.kind === 'Stopped' ||
      // Its last run is done, though a later one was told that it failed: the write that says so was late.
      isLeftToOthers(after) ||
      isFenceTried(scenario)
    if (isSame && is < was && !mayFall)
      report(`promise 6, waits: the failures of ${named(after)} go from ${was} to ${is} without a good run`)
    if (is > was) for (const run of runs) good.delete(run)
  }

  /** Where nothing goes wrong, what wants to run at a time runs at that time, or with the next tick. */
  const onTime = (before: StoredObject | undefined, after: StoredObject): void => {
    const atMs = after.engine.wait?.atMs
    if (atMs === undefined || atMs === before?.engine.wait?.atMs || !isRoomy(scenario) || isPoisoned(scenario)) return
    world.after(atMs + slackMs(scenario, atMs) - world.nowMs(), () => {
      const { engine, object } = table.items.get(keyText(keyOf(after.object))) ?? {}
      if (isLinedUp(scenario, after.object.kind)) return
      if (engine?.wait?.atMs === atMs && object?.metadata.uid === after.object.metadata.uid)
        report(`promise 6, waits: the timer of ${named(after)} (${engine.wait.kind}) was due and nothing ran`)
    })
  }

  return {
    write: ({ type, before, after, by }) => {
      // Of a run of the engine's own controllers nobody is told here.
      const isWatched = runs.includes(after.object.kind)
      if (isWatched && type === 'modified' && before !== undefined) attempts(before, after, by.name)
      if (after.object.kind === 'Gadget') onTime(before, after)
    },
    runEnds: ({ uid, by }: Run, how) => {
      const run = `${uid} ${by.name}`
      if (how !== 'failed') for (const set of [good, lastGood]) set.add(run)
      else lastGood.delete(run)
    },
    unmet: () =>
      objectsOf(table, ...runKinds).flatMap((stored) => {
        const { engine } = stored
        const atMs = dueAtMs(engine)
        const wants = ['hurry', 'poll', 'nap', 'fail'].includes(String(specOf(stored)['mood']))
        if (wants && atMs === undefined)
          return [`promise 6, waits: ${named(stored)} wants to run again and has no timer`]
        const isLate = atMs !== undefined && atMs < world.nowMs() - overdueMs && !isPoison(stored)
        return isLate ? [`promise 6, waits: ${named(stored)} is overdue by ${(world.nowMs() - atMs) / 1_000} s`] : []
      }),
  }
}

const runs: readonly string[] = runKinds

/** Whose runs count for it: its own, and those of the objects whose record it is. */
function uidsOf({ object }: StoredObject): readonly string[] {
  const { removed = [] } = object as Partial<RemovedRecord>
  return [object.metadata.uid, ...removed.map(({ metadata }) => metadata.uid)]
}

/** A tick, a run, and a message that comes again after its visibility timeout. */
const overdueMs = 300_000

/** A message that was held too often leaves its wait to the tick. */
function slackMs(scenario: Scene['scenario'], atMs: number): number {
  return 65_000 + promptMs(scenario, atMs)
}

/** It is deleted, and waits for finalizers of others only. */
function isLeftToOthers({ object: { metadata } }: StoredObject): boolean {
  const own = (metadata.finalizers ?? []).some((name) => name.startsWith(simGroup))
  return metadata.deletionTimestamp !== undefined && !own
}
