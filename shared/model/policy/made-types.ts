import type { PolicyGoal } from '../cel/program.ts'
import { listOf, objectOf, plain } from '../cel/type.ts'

/** What expressions of mutations make: objects whose types are named by their place, and operations of JSON Patch. */

const patch = objectOf(
  'JSONPatch',
  new Map([
    ['op', plain.string],
    ['path', plain.string],
    ['from', plain.string],
    ['value', plain.dyn],
  ]),
)

const constructs: NonNullable<PolicyGoal['constructs']> = (name) => {
  if (name === 'JSONPatch') return patch
  return name === 'Object' || name.startsWith('Object.') ? objectOf(name) : undefined
}

export const wholeObjects: PolicyGoal = { gives: [objectOf('Object')], constructs }
export const patchOperations: PolicyGoal = { gives: [listOf(patch)], constructs }
