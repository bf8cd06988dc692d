import type { Json, JsonObject } from '../../../shared/model/json.ts'

/** A request. `$last` as the resourceVersion of its body is the one that was last answered of the object. */
export interface Step {
  readonly line: string
  readonly type?: string
  readonly body?: Json
}

/** Requests of one client, one after the other, on objects that are the session's own. */
export type Session = readonly Step[]

export const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const

/** What the requests of a session are about. */
export interface Target {
  /** The requests that make room for the others. */
  readonly before: readonly Step[]
  readonly path: string
  readonly apiVersion: string
  readonly kind: string
  readonly hasStatus: boolean
  readonly isStrategic: boolean
  /** The fields of an object behind its metadata. `odd` is the share of parts that are something else. */
  content(odd: number): JsonObject
  /** Where a JSON patch may point at. */
  readonly pointers: readonly string[]
}

/** Null, or a map or a list without anything. */
export function isNothing(value: Json): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}
