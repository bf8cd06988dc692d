import { isObject, type JsonObject } from './json.ts'
import { timestamp } from './time.ts'

/**
 * Conditions by the API conventions and kstatus: one entry per type; `lastTransitionTime` moves only when `status`
 * does; Ready is always there (until the first run by the default of its schema), Stalled, Paused and HotLoop only
 * while true.
 */
export type Condition = {
  type: string
  status: ConditionStatus
  reason: string
  message: string
  lastTransitionTime: string
  observedGeneration?: number
}

export type ConditionStatus = 'True' | 'False' | 'Unknown'

/**
 * What a writer says of a condition; the rest follows from what was. Reasons are CamelCase, messages stable between
 * runs.
 */
export interface ConditionPatch {
  readonly status: ConditionStatus
  readonly reason: string
  readonly message?: string
}

export type ConditionPatches = Readonly<Record<string, ConditionPatch | null>>

/**
 * What is wrong with conditions that a program without types reports, in words without values. Undefined: nothing.
 */
export function findOddCondition(patches: unknown): string | undefined {
  if (!isObject(patches)) return 'conditions: an object with a condition for each type'
  for (const [type, patch] of Object.entries(patches)) {
    const field = `conditions.${type}`
    if (patch === null) continue
    if (!isObject(patch)) return `${field}: an object with status and reason, or null`
    const { status, reason, message } = patch
    if (status !== 'True' && status !== 'False' && status !== 'Unknown')
      return `${field}.status: one of 'True', 'False' and 'Unknown'`
    if (typeof reason !== 'string') return `${field}.reason: a text`
    if (message !== undefined && typeof message !== 'string') return `${field}.message: a text`
  }
  return undefined
}

/** An object of any kind, as far as its conditions go. */
export interface Conditioned {
  readonly metadata: { readonly generation: number }
  readonly status?: { readonly conditions?: unknown } | undefined
}

export function conditionsOf({ status }: Conditioned): readonly Condition[] {
  const conditions = status?.conditions
  return Array.isArray(conditions) ? (conditions.filter(isObject) as unknown as Condition[]) : []
}

/** The condition of this type, whatever it says; undefined if the object has none. */
export function conditionOf(object: Conditioned, type: string): Condition | undefined {
  return conditionsOf(object).find((condition) => condition.type === type)
}

/** True while the named condition is True for the object's newest generation. */
export function isCondition(object: Conditioned, type: string): boolean {
  const condition = conditionOf(object, type)
  return (
    condition?.status === 'True' &&
    (condition.observedGeneration ?? object.metadata.generation) >= object.metadata.generation
  )
}

/** The conditions after a patch: named ones set or (null) removed, the others as they were, in a stable order. */
export function patchConditions(
  current: readonly Condition[],
  patches: ConditionPatches,
  at: { readonly nowMs: number; readonly generation: number },
): Condition[] {
  const named = Object.entries(patches)
  const kept = current.filter(({ type }) => !named.some(([name]) => name === type))
  const set = named.flatMap(([type, patch]) =>
    patch === null
      ? []
      : [
          next(
            type,
            patch,
            current.find((c) => c.type === type),
            at,
          ),
        ],
  )
  return [...kept, ...set].sort((a, b) => (a.type < b.type ? -1 : 1))
}

function next(
  type: string,
  patch: ConditionPatch,
  before: Condition | undefined,
  at: { readonly nowMs: number; readonly generation: number },
): Condition {
  return {
    type,
    status: patch.status,
    reason: patch.reason,
    message: patch.message ?? '',
    lastTransitionTime: before?.status === patch.status ? before.lastTransitionTime : timestamp(at.nowMs),
    observedGeneration: at.generation,
  }
}

/** Conditions as a status field. */
export function asJson(conditions: readonly Condition[]): JsonObject[] {
  return conditions.map((condition) => ({ ...condition }))
}
