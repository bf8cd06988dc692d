import { noFields } from './fields/field-set.ts'
import type { JsonObject } from '../json.ts'
import { compare, type Comparison } from './typed/compare.ts'
import type { MergeType } from './typed/merge-type.ts'

/**
 * An object as owners see it who wrote it in another version than the one that is written now: the fields that they own
 * are fields of that version.
 */
export interface OwnerView {
  readonly type: MergeType
  /** The object in that version; undefined if it cannot be converted. */
  readonly convert: (object: JsonObject) => JsonObject | undefined
}

/** By apiVersion; undefined where the fields of all versions are the same. */
export type OwnerViews = (apiVersion: string) => OwnerView | undefined

/** What a write changes, as it shows in each version. */
export type ChangesIn = (apiVersion: string) => Comparison

/** Each version is compared once, and only if somebody owns something in it. */
export function changesIn(
  before: JsonObject,
  after: JsonObject,
  { type, views }: { readonly type: MergeType; readonly views?: OwnerViews | undefined },
): ChangesIn {
  const own = compare(before, after, type)
  if (views === undefined) return () => own
  const known = new Map<string, Comparison>()
  return (apiVersion) => {
    const view = views(apiVersion)
    if (view === undefined) return own
    const found = known.get(apiVersion) ?? compareIn(view, before, after)
    known.set(apiVersion, found)
    return found
  }
}

/** What cannot be shown in a version changes nothing there. */
function compareIn({ type, convert }: OwnerView, before: JsonObject, after: JsonObject): Comparison {
  const [was, is] = [convert(before), convert(after)]
  return was === undefined || is === undefined ? { written: noFields, removed: noFields } : compare(was, is, type)
}
