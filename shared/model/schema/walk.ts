import { child, entry, type FieldError } from './field-error.ts'

/** Where a validating walk stands, and what it has found. One mutable record, so that a step down costs no allocation. */
export interface Walk {
  /** Path of the value the walk began at. */
  readonly root: string
  /** Field names and list positions from there to here. */
  readonly steps: (string | number)[]
  readonly errors: FieldError[]
  /** Shared by the branches of a walk. */
  readonly budget: Budget
  /** Whether what stands there was there before the update: then it may stay, whatever the schema says now. */
  readonly isUnchanged: ((steps: readonly (string | number)[]) => boolean) | undefined
}

/** What is left of the work that a walk may cause: a step for each value and each schema it is held against, more for a pattern. */
export interface Budget {
  steps: number
}

/** At the pace of the matcher at its slowest, less than a tenth of a second. */
export const stepsMax = 5_000_000

/** Whether the budget had so much left. */
export function spend(budget: Budget, steps: number): boolean {
  budget.steps -= steps
  return budget.steps >= 0
}

/** More errors help nobody, and a reply has a limit. */
const mostErrors = 100

/** Whether looking further would find nothing that is kept. */
export function isFull(walk: Walk): boolean {
  return walk.errors.length >= mostErrors
}

/** The path of here, as Kubernetes prints it: `spec.ports[0].name`. */
export function location({ root, steps }: Walk): string {
  let path = root
  for (const step of steps) path = typeof step === 'number' ? entry(path, step) : child(path, step)
  return path
}

/** Keeps the error, unless what it is about was like this before. */
export function report(walk: Walk, error: FieldError): void {
  if (!isFull(walk) && walk.isUnchanged?.(walk.steps) !== true) walk.errors.push(error)
}

/** The same place with a list of its own: for a branch that may turn out not to count. */
export function branchOff(walk: Walk): Walk {
  return { ...walk, errors: [], isUnchanged: undefined }
}
