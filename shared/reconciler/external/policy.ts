import {
  adoptAnnotation,
  createAgainAnnotation,
  externalIdAnnotation,
  manageAnnotation,
} from '../../model/control-annotations.ts'
import type { ApiObject } from '../../model/object.ts'
import { stop } from '../outcome.ts'

/** What may be done outside for an object, by its annotations. */
export interface Policy {
  readonly creates: boolean
  readonly updates: boolean
  readonly deletes: boolean
  readonly observesOnly: boolean
  /** An entity that is there already, by its id, and what becomes of what differs. */
  readonly adoption?: { readonly id: string; readonly mode: 'match' | 'override' }
  /** The token of a create that a person knows did not happen. */
  readonly createAgain?: string
}

const verbs = ['create', 'update', 'delete']

/**
 * Throws what stops the run if an annotation says nothing that it could mean: a slip of the pen must not delete
 * anything.
 */
export function policyOf({ metadata: { annotations = {} } }: ApiObject): Policy {
  const managed = parseManagedVerbs(annotations[manageAnnotation])
  const id = annotations[externalIdAnnotation]
  const mode = annotations[adoptAnnotation] ?? 'match'
  const createAgain = annotations[createAgainAnnotation]
  if (mode !== 'match' && mode !== 'override') throw invalid(adoptAnnotation, mode, 'match or override')
  return {
    creates: managed.includes('create'),
    updates: managed.includes('update'),
    deletes: managed.includes('delete'),
    observesOnly: managed.length === 0,
    ...(id === undefined ? {} : { adoption: { id, mode } }),
    ...(createAgain !== undefined && { createAgain }),
  }
}

function parseManagedVerbs(given = verbs.join()): readonly string[] {
  const named = given.split(',').map((verb) => verb.trim())
  if (named.length === 1 && named[0] === 'observe') return []
  if (named.every((verb) => verbs.includes(verb))) return named
  throw invalid(manageAnnotation, given, `some of ${verbs.join(',')}, or observe`)
}

function invalid(annotation: string, given: string, allowed: string): Error {
  return stop('PolicyInvalid', `${annotation} is ${JSON.stringify(given)}, and not ${allowed}`)
}
