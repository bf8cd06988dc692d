import { child, entry, shortenSent, type FieldError } from './field-error.ts'

/**
 * Where a validating walk stands, and what it has found. One mutable record, so that a step down costs no allocation.
 */
export interface Walk {
  /** Path of the value the walk began at. */
  readonly root: string
  /** Field names and list positions from there to here. */
  readonly steps: (string | number)[]
  /** How many errors there are. */
  found: number
  /** The errors in words; none if the walk is quiet. */
  readonly errors: FieldError[]
  /** Shared by the branches of a walk. */
  readonly budget: Budget
  /** Only whether there is an error counts: the first one ends the walk, and nobody words it. */
  readonly isQuiet: boolean
  /** Whether what stands there was there before the update: then it may stay, whatever the schema says now. */
  readonly isUnchanged: ((steps: readonly (string | number)[]) => boolean) | undefined
}

/**
 * What is left of the work that a walk may cause, in steps of a pattern's matcher: a few for each value, each field and
 * each schema it is held against, more for texts by their length, many for an error in words. Where it is used up, the
 * walk ends early, and the value has to be refused.
 */
export interface Budget {
  steps: number
}

/** A tenth of a second at the most. */
export const stepsMax = 3_000_000

/** Takes so many steps; whether there were as many. */
export function spend(budget: Budget, steps: number): boolean {
  budget.steps -= steps
  return budget.steps >= 0
}

export function isSpent({ steps }: Budget): boolean {
  return steps < 0
}

/** More errors help nobody, and a reply has a limit. */
const mostErrors = 100

/** Whether looking further would find nothing that is kept. */
export function isOver({ found, isQuiet, budget }: Walk): boolean {
  return found >= (isQuiet ? 1 : mostErrors) || isSpent(budget)
}

/** The path of here, as Kubernetes prints it: `spec.ports[0].name`. Of a very long one, its beginning. */
export function location({ root, steps }: Walk): string {
  let path = root
  for (const step of steps) path = typeof step === 'number' ? entry(path, step) : child(path, step)
  return shortenSent(path)
}

/** Keeps the error, unless what it is about was like this before. */
export function report(walk: Walk, error: () => FieldError): void {
  if (isOver(walk) || walk.isUnchanged?.(walk.steps) === true) return
  if (!walk.isQuiet) spend(walk.budget, stepsOfError)
  keep(walk, error)
}

/** Keeps the error, whatever was there before and however little may still be done. */
export function keep(walk: Walk, error: () => FieldError): void {
  walk.found++
  if (!walk.isQuiet) walk.errors.push(error())
}

const stepsOfError = 100

/** The same place with errors of its own: for a branch that may turn out not to count. */
export function branchOff(walk: Walk, isQuiet: boolean): Walk {
  return { ...walk, found: 0, errors: [], isUnchanged: undefined, isQuiet }
}
