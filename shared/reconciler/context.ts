import type { Allowances } from '../ports/allowances.ts'
import type { Duration } from '../model/duration.ts'
import type { JsonObject } from '../model/json.ts'
import type { ObjectMeta } from '../model/object.ts'
import type { RoleCredentials } from '../ports/roles.ts'
import type { Logger } from '../ports/logger.ts'
import type { Kind } from './kind.ts'
import type { Notes } from './notes.ts'
import type { Once } from './once.ts'
import type { SecretSource, SecretTarget } from './secret-source.ts'

/**
 * What a run has in hand. Every verb is refused once the run's time is over, so that a run that lost its turn cannot
 * write; `event` and `log` only tell, and are not. Names without a namespace are in the namespace of the object that is
 * reconciled; where that is in none, a namespace must be named.
 */
export interface Context {
  /**
   * A strong read: sees every write that was acknowledged before it, this run's own included; `undefined` if it does
   * not exist. It has its defaults, and is what its type says: the run fails where what is stored does not fit its
   * kind. A child of the object that is reconciled is given as it is stored, though. With `cached`, an object that this
   * run has read or written already is given as it was then, without asking the store.
   */
  get<Read>(
    kind: Kind<Read, unknown>,
    at: string | At,
    options?: { readonly cached?: boolean },
  ): Promise<Read | undefined>

  /**
   * All objects of a kind in the object's namespace (or another, or all: `namespace: ''`), by label if asked. Of a kind
   * without namespaces it is all. Each is what its type says, as with `get`.
   */
  list<Read>(
    kind: Kind<Read, unknown>,
    options?: { readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> },
  ): Promise<readonly Read[]>

  /**
   * Makes an object's fields be as given, creating it if need be; fields not given are left to others, and fields
   * given the time before but not now are removed. The object becomes a child of the reconciled one unless `owned:
   * false`, or unless it is that one itself. Equal objects are not written.
   */
  apply<Read, Body>(
    kind: Kind<Read, Body>,
    object: Applied<Body>,
    options?: { readonly owned?: boolean },
  ): Promise<Read>

  /**
   * Creates an object, a child unless `owned: false`. Throws ALREADY_EXISTS if there is one of that name, as there
   * will be the next time this runs: `apply` is what converges. For what is made once and never touched again.
   */
  create<Read, Body>(
    kind: Kind<Read, Body>,
    object: Applied<Body>,
    options?: { readonly owned?: boolean },
  ): Promise<Read>

  /** How the write went that `apply`, `create` or `patch` of this run returned this object from. */
  outcomeOf(object: object): WriteOutcome | undefined

  /**
   * The objects of a kind that the reconciled one controls, by name, as they are stored: one that was written by an
   * older definition of its kind may not be what its type says until it is applied anew.
   */
  children<Read>(kind: Kind<Read, unknown>): Promise<readonly Read[]>

  /**
   * A merge patch of an object that exists; of its status alone with `subresource: 'status'`. Made again on the
   * newest version if another write came between, ten times at most; throws VERSION_CONFLICT then, or at once if the
   * patch names a resourceVersion that has passed.
   */
  patch<Read>(
    kind: Kind<Read, unknown>,
    at: string | At,
    patch: JsonObject,
    options?: { readonly subresource?: 'status' },
  ): Promise<Read>

  /**
   * Asks for deletion; false if it did not exist. It may live on until its finalizers are done. With a `uid` another
   * object that has the name by now stays.
   */
  delete(kind: Kind<unknown, unknown>, at: string | (At & { readonly uid?: string })): Promise<boolean>

  /** Tells people: `kubectl describe` shows it. Equal events are counted, not repeated. */
  event(type: 'Normal' | 'Warning', reason: string, message: string): Promise<void>

  /**
   * What is expected of the world, by name, and until when in milliseconds since the epoch. What is in it when the
   * run ends, however it ends, is kept with the object. It wakes an object that rests or was told to run later, at its
   * time; a backoff or a stop ends by itself. `expectation` is made for it.
   */
  readonly expectations: Map<string, number>

  /**
   * The object is gone, and this is its last state; only with `onRemoved: 'reconcile'`. It can own nothing any more.
   * What `once` and `notes` remember of its life is gone with it: they begin anew, and last until the last run ends.
   */
  readonly removed: boolean

  /**
   * A side effect that must not be repeated. `effect` is run unless the last call for this key of this object had the
   * same `of` and ended well; the result of that call is returned then. The object remembers the last `of` of each
   * key and no earlier one: after A and B, A is run again, with the token that it had. Effects that must not come back
   * need a key each. The engine records the call with the object, before and after, so that retries, later runs and
   * restarts know of it. After a throw, or a crash within the call, the engine cannot know whether the effect happened:
   * it runs `effect` again with the same `token`, and `mayHaveHappened` says so. Results are JSON, small, and stored in
   * clear.
   */
  readonly once: Once

  /** What this run and later ones are to know, kept with the object. */
  readonly notes: Notes

  /** What is done outside of this control plane, for metrics and for people. `defineExternal` tells it by itself. */
  readonly outside: Outside

  readonly log: Logger
  /** Aborts when the run's time is over or the process stops. */
  readonly signal: AbortSignal
  /** When the run's time is over, in milliseconds since the epoch: the controller's `timeout` after it began. */
  readonly deadlineMs: number
  /** Failures in a row before this run. */
  readonly attempt: number
  /** Milliseconds since the epoch. The only clock a reconciler may use. */
  now(): number
  /**
   * Waits, for moments within a run; longer waits are `again`. If the signal aborts first, it resolves at once, and the
   * next verb refuses.
   */
  sleep(duration: Duration): Promise<void>
}

export interface Outside {
  /** What all processes count of an account's calls. Left out where one process makes them all. */
  readonly allowances?: Allowances
  /**
   * Credentials of a role, for what this run does in AWS: by default of the role that the namespace of the object
   * names in its annotation `setpoint.dev/role-arn`. They are good until the run's time is over. Only on AWS, and in
   * tests.
   */
  assumeRole(role?: AssumedRole): Promise<RoleCredentials>
  /**
   * The text that a field of a spec names (`secretSource`): in a Secret of the namespace or, on AWS, in Secrets
   * Manager or Parameter Store. It is kept nowhere, and what the run tells has `***` in its place. Throws UNAVAILABLE
   * while it is not there, and FORBIDDEN for a name that `vault` of the reconciler does not grant.
   */
  readSecret(source: SecretSource): Promise<string>
  /**
   * Makes a secret or a parameter of AWS hold the values (`secretTarget`). It is this object's then, by its tags;
   * throws ALREADY_EXISTS for one that is somebody else's. Equal values are not written.
   */
  keepSecret(target: SecretTarget, data: Readonly<Record<string, string>>): Promise<void>
  /** Removes what `keepSecret` has made for this object, for its clean-up. */
  removeSecret(target: SecretTarget): Promise<void>
  /** A call of somebody else's API is over. */
  recordCall(verb: OutsideVerb, result: 'success' | 'error'): void
  /**
   * Something outside was not as an earlier run had left it, and has been put back: counted as drift, logged, and
   * told as an event. The message names the fields, and is the same for the same drift.
   */
  recordDrift(message: string): Promise<void>
  /**
   * The text with `***` in the place of each value of a Secret that this run has had. What a run tells is concealed so
   * in any case; a text that is cut before is to be concealed first, because a part of a value is not recognised.
   */
  conceal(text: string): string
}

/** A role to take, and in whose name. */
export interface AssumedRole {
  /** Default: that of the object's namespace. An object's own word is its writer's: see `externalId`. */
  readonly roleArn?: string
  /**
   * What the role's trust policy asks for. Default `setpoint:<namespace>`, so that nobody who writes into one
   * namespace has the role of another one taken.
   */
  readonly externalId?: string
  /** Whose session it is: one for all objects of a namespace, or one for each object. Default `namespace`. */
  readonly session?: 'namespace' | 'object'
  /** Tags of the session besides ours, `setpoint:controller`, `setpoint:namespace` and `setpoint:name`. */
  readonly tags?: Readonly<Record<string, string>>
}

export type OutsideVerb = 'get' | 'find' | 'create' | 'update' | 'delete'

export type WriteOutcome = 'created' | 'updated' | 'unchanged'

export interface At {
  readonly name: string
  readonly namespace?: string
}

export type Applied<Body> = Body & {
  readonly metadata: { readonly name: string } & Partial<Pick<ObjectMeta, 'namespace' | 'labels' | 'annotations'>>
}
