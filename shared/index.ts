/** What reconcilers are written with. */
export { defineKind } from './engine/define-kind.ts'
export type { CustomObject, Kind, KindOptions, ObjectOf, StatusOf } from './engine/kind.ts'
export { defineReconciler } from './engine/define-reconciler.ts'
export type { AllEventsOptions, CleanupOptions, ReconcilerOptions } from './engine/define-reconciler.ts'
export type { DeletionPolicy } from './engine/deletion-policy.ts'
export { mapped, owned, reference } from './engine/watches.ts'
export type { MappedFrom, Owned, Reference, References, ReferenceTo, WatchOptions } from './engine/watches.ts'
export {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  matchesLabels,
  not,
  or,
  resourceVersionChanged,
} from './engine/predicates.ts'
export type { ObservedChange, Predicate } from './engine/predicates.ts'
export type { Part, Touched } from './model/stored-object.ts'
export type { Controller } from './engine/controller.ts'
export type { Applied, At, Context, Outside, OutsideVerb, WriteOutcome } from './engine/context.ts'
export type { Notes } from './engine/notes.ts'
export type { Effect, Once, OnceOptions } from './engine/once.ts'
export { again, done, retryAfter, stop, waiting, withReport } from './engine/outcome.ts'
export type { Again, Done, FailureReport, NotReady, Outcome, Report } from './engine/outcome.ts'
export { degraded, progressing } from './engine/progress-conditions.ts'
export { addFinalizer, removeFinalizer } from './engine/finalizers.ts'
export type { HeldObject } from './engine/finalizers.ts'
export { modify } from './engine/modify.ts'
export type { Modification } from './engine/modify.ts'
export { attempts } from './engine/attempts.ts'
export type { AttemptContext, AttemptsOptions, FailedAttempt } from './engine/attempts.ts'
export { expectation } from './engine/expectation.ts'
export type { Expectation, ExpectationOptions } from './engine/expectation.ts'
export type { BodyOf } from './engine/kind.ts'
export { workflow } from './engine/workflow/workflow.ts'
export type { Workflow, WorkflowResult } from './engine/workflow/workflow.ts'
export type { Dependent, Desired, When } from './engine/workflow/dependent.ts'
export type { NodeState } from './engine/workflow/plan.ts'
export { ConfigMap, Namespace, Secret } from './engine/built-in-kinds.ts'
export type { ConfigMapObject, SecretObject } from './engine/built-in-kinds.ts'
export { conditionOf, isCondition } from './model/conditions.ts'
export type { Condition, ConditionPatch } from './model/conditions.ts'
export type { Duration } from './model/duration.ts'
export type { Json, JsonObject } from './model/json.ts'
export type { ApiObject, ObjectMeta } from './model/object.ts'
export type { PrinterColumn } from './model/served-kind.ts'
export { hasCode, OperatingError } from './model/errors.ts'
