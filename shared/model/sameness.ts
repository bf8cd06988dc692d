import { isObject, type Json } from './json.ts'

/** Whether two values are the same; asked of parts of what it was asked of before, it knows the answer. */
export type Sameness = (before: Json | undefined, after: Json | undefined) => boolean

export function createSameness(): Sameness {
  const known = new WeakMap<object, { readonly before: Json | undefined; readonly same: boolean }>()
  const isSame: Sameness = (before, after) => {
    if (before === after) return true
    if (typeof after !== 'object' || after === null || typeof before !== 'object' || before === null) return false
    const answer = known.get(after)
    if (answer !== undefined && answer.before === before) return answer.same
    const same = Array.isArray(after) ? isSameList(before, after) : isSameObject(before, after)
    known.set(after, { before, same })
    return same
  }
  /** Every part is compared, so that the answer for each is known. */
  const isSameList = (before: Json, after: readonly Json[]): boolean => {
    if (!Array.isArray(before) || before.length !== after.length) return false
    return after.reduce((same: boolean, item, i) => isSame(before[i], item) && same, true)
  }
  const isSameObject = (before: Json, after: Json): boolean => {
    if (!isObject(before) || !isObject(after)) return false
    let same = true
    for (const name in after) {
      const was = Object.hasOwn(before, name) ? before[name] : undefined
      if (!isSame(was, after[name])) same = false
    }
    for (const name in before) if (before[name] !== undefined && !Object.hasOwn(after, name)) same = false
    return same
  }
  return isSame
}
