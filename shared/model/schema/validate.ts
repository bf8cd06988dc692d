import type { Json } from '../json.ts'
import { checkValue } from './check-value.ts'
import { compile } from './compiled-schema.ts'
import { type FieldError, invalid } from './field-error.ts'
import { question } from './fit/fit.ts'
import { objectFits } from './fit/fits.ts'
import { createUnchangedTest } from './ratchet.ts'
import type { StructuralSchema } from './structural-schema.ts'
import { isSpent, stepsMax, type Budget, type Walk } from './walk.ts'

/** What a value's surroundings have to say about its validity. */
export interface ValidateOptions {
  /** Where the value stands; the paths of errors begin with it. */
  readonly path?: string
  /** The value before an update: what was already so is not held against the update, even if the schema refuses it. */
  readonly old?: Json | undefined
}

/**
 * Everything in the value that its schema refuses, 100 errors at most, in Kubernetes' words; empty if it is valid.
 * Unknown fields are no error here, and missing ones with a default are: prune and fill in defaults first. The time
 * taken is bounded by the size of the value, hostile schemas included. Rules in CEL are checked by `validateRules`.
 */
export function validate(schema: StructuralSchema, value: Json, options: ValidateOptions = {}): readonly FieldError[] {
  return objectFits(schema, value, question.valid, options.old) ? none : interpretSchema(schema, value, options)
}

const none: readonly FieldError[] = []

/** What `validate` promises, by a walk over value and schema side by side, which takes its steps from the budget. */
export function interpretSchema(
  schema: StructuralSchema,
  value: Json,
  { path = '', old }: ValidateOptions = {},
  budget: Budget = { steps: stepsMax },
): readonly FieldError[] {
  const node = compile(schema)
  const isUnchanged = old === undefined ? undefined : createUnchangedTest(old, value, node)
  const walk: Walk = { root: path, steps: [], found: 0, errors: [], budget, isUnchanged, isQuiet: false }
  checkValue(node, value, walk)
  if (isSpent(walk.budget) && walk.found === 0) return [invalid(path, '', tooMuchWork)]
  return walk.errors
}

const tooMuchWork = 'takes too many steps to be checked; make it smaller, or its schema simpler'
