/** What reconcilers are written with. */
export { defineKind } from './reconciler/define-kind.ts'
export type { CustomObject, Kind, KindOptions, ObjectOf, StatusOf } from './reconciler/kind.ts'
export type { AdmissionContext, Completed, MaybePromise, Problem } from './reconciler/hooks.ts'
export type { Content, Converted, OlderVersion, OlderVersionOptions } from './reconciler/older-version.ts'
export { defineReconciler } from './reconciler/define-reconciler.ts'
export type {
  AllEventsOptions,
  CanaryOptions,
  CleanupOptions,
  ReconcilerOptions,
} from './reconciler/define-reconciler.ts'
export { secretSource, secretTarget } from './reconciler/secret-source.ts'
export type { SecretSource, SecretTarget } from './reconciler/secret-source.ts'
export type { VaultGrants, VaultPrefix } from './reconciler/vault-grants.ts'
export { canaries } from './reconciler/canary/canaries.ts'
export { Canary } from './reconciler/canary/canary-kind.ts'
export type { DeletionPolicy } from './reconciler/controller.ts'
export type { Access, Grant } from './reconciler/rights.ts'
export { mapped, owned, reference } from './reconciler/watches.ts'
export type { MappedFrom, Owned, Reference, References, ReferenceTo, WatchOptions } from './reconciler/watches.ts'
export {
  and,
  annotationsChanged,
  generationChanged,
  labelsChanged,
  matchesLabels,
  not,
  or,
  resourceVersionChanged,
} from './reconciler/predicates.ts'
export type { ObservedChange, Predicate } from './reconciler/predicates.ts'
export type { Part, Touched } from './model/stored-object.ts'
export type { Controller } from './reconciler/controller.ts'
export type { Applied, AssumedRole, At, Context, Outside, OutsideVerb, WriteOutcome } from './reconciler/context.ts'
export type { Notes } from './reconciler/notes.ts'
export type { Effect, Once, OnceOptions } from './reconciler/once.ts'
export { again, done, retryAfter, stop, waiting, withReport } from './reconciler/outcome.ts'
export type { Again, Done, FailureReport, NotReady, Outcome, Report } from './reconciler/outcome.ts'
export { degraded, progressing } from './reconciler/progress-conditions.ts'
export { addFinalizer, removeFinalizer } from './reconciler/finalizers.ts'
export type { HeldObject } from './reconciler/finalizers.ts'
export { modify } from './reconciler/modify.ts'
export type { Modification } from './reconciler/modify.ts'
export { attempts } from './reconciler/attempts.ts'
export type { AttemptContext, AttemptsOptions, FailedAttempt } from './reconciler/attempts.ts'
export { expectation } from './reconciler/expectation.ts'
export type { Expectation, ExpectationOptions } from './reconciler/expectation.ts'
export type { BodyOf } from './reconciler/kind.ts'
export { workflow } from './reconciler/workflow/workflow.ts'
export type { Workflow, WorkflowResult } from './reconciler/workflow/workflow.ts'
export type { Dependent, Desired, When } from './reconciler/workflow/dependent.ts'
export type { NodeState } from './reconciler/workflow/plan.ts'
export { ConfigMap, Namespace, Secret } from './reconciler/built-in-kinds.ts'
export type { ConfigMapObject, SecretBody, SecretObject } from './reconciler/built-in-kinds.ts'
export { conditionOf, isCondition } from './model/conditions.ts'
export type { Condition, ConditionPatch } from './model/conditions.ts'
export type { Duration } from './model/duration.ts'
export type { Json, JsonObject } from './model/json.ts'
export type { ApiObject, ObjectMeta } from './model/object.ts'
export type { PrinterColumn } from './model/served-kind.ts'
export { hasCode, OperatingError } from './model/errors.ts'
export { defineExternal, externalStatus } from './reconciler/external/external.ts'
export type { Connecting, Declaring, ExternalOptions, Outputs } from './reconciler/external/external-options.ts'
export type { ExternalApi, Owner } from './reconciler/external/external-api.ts'
export { mayRequire, requires } from './reconciler/external/requirements.ts'
export type { Requirement, Requirements, Resolved } from './reconciler/external/requirements.ts'
export { HttpError, parseRetryAfter } from './reconciler/external/http-error.ts'
export { MissingReferenceError } from './reconciler/external/failure-class.ts'
export { createRateBudget, createRateBudgets } from './reconciler/external/rate-budget.ts'
export type { BudgetLane, RateBudget, RateBudgetOptions } from './reconciler/external/rate-budget.ts'
