import {
  adoptAnnotation,
  createAgainAnnotation,
  externalIdAnnotation,
  manageAnnotation,
} from '../../model/control-annotations.ts'
import type { ApiObject } from '../../model/object.ts'
import { stop } from '../outcome.ts'

/** What becomes of what differs, and of the mark of another owner. */
export type AdoptionMode = (typeof adoptionModes)[number]

/** `takeover` is `override`, also of an entity that is marked for another object. */
const adoptionModes = ['match', 'override', 'takeover'] as const

/** What may be done outside for an object, by its annotations. */
export interface Policy {
  readonly creates: boolean
  readonly updates: boolean
  readonly deletes: boolean
  readonly observesOnly: boolean
  /** An entity that is there already, by its id, and what becomes of what differs. */
  readonly adoption?: { readonly id: string; readonly mode: AdoptionMode }
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
  // As a segment of a path, each of these would lead to what is around the entity.
  if (id !== undefined && ['', '.', '..'].includes(id)) throw invalid(externalIdAnnotation, id, 'the id of an entity')
  const mode = parseMode(annotations[adoptAnnotation])
  const createAgain = annotations[createAgainAnnotation]
  return {
    creates: managed.includes('create'),
    updates: managed.includes('update'),
    deletes: managed.includes('delete'),
    observesOnly: managed.length === 0,
    ...(id === undefined ? {} : { adoption: { id, mode } }),
    ...(createAgain !== undefined && { createAgain }),
  }
}

function parseMode(given = 'match'): AdoptionMode {
  const mode = adoptionModes.find((one) => one === given)
  if (mode === undefined) throw invalid(adoptAnnotation, given, 'match, override or takeover')
  return mode
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
