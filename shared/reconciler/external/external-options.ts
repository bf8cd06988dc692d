import type { Duration } from '../../model/duration.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Context } from '../context.ts'
import type { CleanupOptions } from '../define-reconciler.ts'
import type { StatusOf } from '../kind.ts'
import type { SecretTarget } from '../secret-source.ts'
import type { ExternalApi, Owner } from './external-api.ts'
import type { RateBudget } from './rate-budget.ts'
import type { Requirements, Resolved } from './requirements.ts'

/**
 * A reconciler for entities on the far side of an API, kept as declared: references are checked first, each with a
 * condition of its own; what differs is put back once in each period, what is deleted there is made again; changes of
 * spec, labels or annotations, and of what is declared of a reference, are sent at once, and nothing else is. A crash
 * at any moment makes no second entity and leaves none behind.
 * What an object's annotations say: `setpoint.dev/resync` its own period; `external-id` and `adopt` an entity that is
 * there already; `manage` what may be done outside; `deletion-policy`, `paused`, `reconcile-requested-at` as for every
 * kind.
 */
export interface ExternalOptions<Read, Required extends Requirements<Read>, Client>
  extends
    Omit<CleanupOptions<Read>, 'reconcile' | 'cleanup' | 'resync' | 'when'>,
    Pick<ExternalBehaviour, 'assert' | 'condition'> {
  readonly references?: Required
  /**
   * What the API's calls need: addresses, credentials. It calls nobody itself. What it throws may have a report
   * (`withReport`), and that counts.
   */
  connect(object: Read, at: Connecting<NoInfer<Required>>): Promise<Client>
  /** The fields that are declared, and no others, as the API wants them, with the owner's mark. A pure function. */
  declared(object: Read, at: Declaring<NoInfer<Required>, Client>): JsonObject
  readonly api: ExternalApi<Client>
  /**
   * Where calls go and whose they are, such as a server and an account: an entity that was made in one place is not
   * looked for in another, where it would count as gone. Each run asks: keep the answer, since only the first of a
   * process is within the account's budget.
   */
  place?(client: Client): Promise<string>
  /** What the status shows of the entity beside its id. */
  shown?(entity: JsonObject, client: Client): Partial<StatusOf<Read>>
  /**
   * Values that the far side chose, for fields of the spec that are empty: they are written into the spec once. A
   * value that somebody writes meanwhile stays.
   */
  lateInitialized?(entity: JsonObject): JsonObject
  /**
   * Kept in a Secret beside the object, or in AWS. What is in AWS goes when the entity is deleted with the object. A
   * Secret is the object's child: it goes with the object even if the entity stays.
   */
  readonly outputs?: Outputs<Read>
  /** How often what is declared is asserted; the object's annotation says otherwise. Default 1 m. */
  readonly syncPeriod?: Duration
  /**
   * How long an entity may not be seen after it was made, and a create whose answer was lost may take. Default 30 s.
   */
  readonly grace?: Duration
  /** What the account may call. Default: no limit but what the far side says. */
  budget?(client: Client): RateBudget
}

export interface ExternalBehaviour {
  /** `always`: each period, whether or not something differs. `onDrift`: only if. Default `always`. */
  readonly assert?: 'always' | 'onDrift'
  /** Tells how the last sync went. Default `Synced`. */
  readonly condition?: string
}

export interface Connecting<Required> {
  readonly refs: Resolved<Required>
  /** Of its notes the key `external` is taken, and 400 characters are free. */
  readonly ctx: Context
}

export interface Declaring<Required, Client> {
  readonly refs: Resolved<Required>
  readonly client: Client
  readonly owner: Owner
}

export interface Outputs<Read> {
  /** The Secret's name. If it becomes another, what is kept goes there, and the Secret of the name before goes. */
  name(object: Read): string
  /**
   * What the far side tells only once, such as a password in the answer to `create`, is left out or undefined later: it
   * stays as it is kept, until another entity is made. If it is lost because its first write fails, the object says so
   * until the entity is deleted outside, or until somebody puts a value into the Secret.
   */
  data(entity: JsonObject): Readonly<Record<string, string | undefined>>
  /**
   * The keys that only the answer to `create` has. If that answer was lost and the entity is found again, the object
   * says that these are lost. Without this list the object says nothing of them.
   */
  readonly toldOnce?: readonly string[]
  /**
   * In AWS, in the place of the Secret: a secret of Secrets Manager or a SecureString. Undefined: the Secret.
   * `vault.writes` of the reconciler must grant it.
   */
  to?(object: Read): SecretTarget | undefined
}

/** What a user has said of the far side, the types of the kind left behind. */
export type RemoteApi<Client> = Pick<
  ExternalOptions<ApiObject, Requirements<ApiObject>, Client>,
  'connect' | 'declared' | 'api' | 'place' | 'outputs' | 'lateInitialized' | 'budget'
> & { shown?(entity: JsonObject, client: Client): JsonObject }
