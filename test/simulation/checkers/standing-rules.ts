import type { StoredObject } from '../../../shared/model/stored-object.ts'
import type { TableWrite } from '../plane.ts'
import type { World } from '../world.ts'
import type { Scene } from './checker.ts'

/** What is stored of rules for writes, and how long it has been so. */
export interface StandingRules {
  note(write: TableWrite): void
  /** The rule, if it stood as it is long enough before that moment for every process to know it. */
  find(text: string, beforeMs: number): StoredObject | undefined
  /** Whether some process may know a rule of this name at that moment or later. */
  mayBeKnown(text: string, sinceMs: number): boolean
}

interface Standing {
  rule: StoredObject | undefined
  sinceMs: number
  /** When there was one last before that. */
  lastMs: number
}

/** Rules by `Kind name`. */
export function createStandingRules(world: World, scenario: Scene['scenario']): StandingRules {
  const all = new Map<string, Standing>()
  const delayMs = ruleDelayMs(scenario)
  return {
    note: ({ type, after }) => {
      const text = `${after.object.kind} ${after.object.metadata.name}`
      const before = all.get(text)
      const lastMs = before?.rule === undefined ? (before?.lastMs ?? -Infinity) : world.nowMs()
      all.set(text, { rule: type === 'removed' ? undefined : after, sinceMs: world.nowMs(), lastMs })
    },
    find: (text, beforeMs) => {
      const standing = all.get(text)
      return standing !== undefined && standing.sinceMs + delayMs < beforeMs ? standing.rule : undefined
    },
    mayBeKnown: (text, sinceMs) => {
      const standing = all.get(text)
      return standing !== undefined && (standing.rule !== undefined || standing.lastMs + delayMs >= sinceMs)
    },
  }
}

/**
 * On AWS a process reads the rules again when they are half a minute old by its clock, which may jump. On one machine
 * they count with the answer to their writer, who may have to wait for the process.
 */
export function ruleDelayMs({ climate, local }: Scene['scenario']): number {
  const stillMs = climate.pause > 0 ? climate.pauseMsMax : 0
  if (local !== undefined) return 2_000 + 4 * climate.latencyMsMax + stillMs
  return 30_000 + 2 * climate.skewMsMax + 4 * climate.latencyMsMax
}
