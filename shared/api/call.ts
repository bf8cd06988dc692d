import type { ObjectKey } from '../model/object-key.ts'
import type { ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { Audit } from '../ports/audit.ts'
import type { Authenticator, User } from '../ports/authenticator.ts'
import type { ChangeFeed } from '../ports/change-feed.ts'
import type { Clock } from '../ports/clock.ts'
import type { HttpRequest, HttpResponse } from '../ports/http-handler.ts'
import type { Logger } from '../ports/logger.ts'
import type { RunHistory } from '../ports/run-history.ts'
import type { TokenSigner } from '../ports/token-signer.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { KindCatalog } from '../resources/kind-catalog.ts'
import type { Annotate, PolicyReview } from '../resources/policy-review.ts'
import type { PermitWrite, Place, Resources, WriteOptions } from '../resources/resources.ts'
import type { ReadAccess } from './access/guard.ts'
import type { ComputedObjects } from './computed/computed-objects.ts'
import type { ResourceRequest } from './request-info.ts'

/** What the API stands on. */
export interface ApiServices {
  readonly resources: Resources
  readonly catalog: KindCatalog
  readonly feed: ChangeFeed
  readonly clock: Clock
  readonly authenticate: Authenticator
  readonly readAccess: ReadAccess
  /** Told of every request; without it nobody is. */
  readonly audit?: Audit
  /** Names a record that nobody else has named. */
  readonly newAuditId?: () => string
  /** Asked about what is answered and not stored; the verbs on resources ask by themselves. */
  readonly policies: PolicyReview
  /** Of ServiceAccounts; without it they have none. */
  readonly tokens?: TokenSigner
  /** Who a token is of, for TokenReview, where tokens are known here. */
  readonly reviewToken?: Authenticator
  readonly logger: Logger
  readonly telemetry: Telemetry
  readonly explain: Explain
  /** Of kinds that are computed when somebody reads them. Default: none. */
  readonly computed?: readonly ComputedObjects[]
  /** The last runs of each object, where they are kept. */
  readonly history?: RunHistory
  /** Served at `/<name>`, to whoever is known. */
  readonly pages: ReadonlyMap<string, Page>
  /** Done by a POST to `/<name>`, for who may `post` there. Default: none. */
  readonly operations?: ReadonlyMap<string, PlaneOperation>
  /** Whether writes are taken, for `/readyz`. Default: always. */
  readonly isReady?: () => Promise<boolean>
  /** Why they are not, where that is known. */
  readonly whyNotReady?: () => string | undefined
  /** The objects of which it is known that they cannot be read. Default: none. */
  readonly damaged?: () => readonly ObjectKey[]
  /** Of Setpoint, such as `0.1.0`. */
  readonly version: string
  /** Watches open at a time; more are told to come back. Default 1000. */
  readonly watchesMax?: number
}

/** What the control plane knows and intends about an object, in words for people. */
export type Explain = (kind: ServedKind, stored: StoredObject) => Promise<string>

/** A text about the whole control plane, made when it is asked for. */
export interface Page {
  /** The media type. */
  readonly type: string
  text(): string | Promise<string>
}

/** Something that is done to the whole control plane. */
export type PlaneOperation = (request: HttpRequest) => Promise<HttpResponse>

/** One request for a resource: who asks what of which kind. */
export interface Call {
  readonly request: HttpRequest
  readonly info: ResourceRequest
  readonly kind: ServedKind
  readonly user: User
  /** What the user may write is not all that the verb allows. */
  readonly permit?: PermitWrite | undefined
  /** Whether a request that goes on would be let in now. Left out: it is over with its answer. */
  readonly isStillAllowed?: (() => Promise<boolean>) | undefined
  /** Takes what admission wants to have written beside the record of the request. */
  readonly annotate?: Annotate | undefined
  /** Objects as they are shown, where that is more than what is stored. */
  readonly complete?: ((object: ApiObject) => ApiObject) | undefined
}

/** Answers one verb. What it throws becomes a Status. */
export type VerbHandler = (call: Call) => Promise<HttpResponse>

/** Where the object of the URL stands. */
export function placeOf({ info, kind }: Call): Place {
  return { namespace: kind.namespaced ? info.namespace : '', name: info.name }
}

/** The one subresource that objects have, if the URL asks for it. */
export function subresourceOf({ info }: Call): { readonly subresource?: 'status' } {
  return info.subresource === 'status' ? { subresource: 'status' } : {}
}

/** Who writes, and what of it is allowed, as options of a write. */
export function authorOf({
  permit,
  user,
  annotate,
}: Call): Pick<WriteOptions, 'permit' | 'annotate'> & { readonly user: User } {
  return { user, ...(permit && { permit }), ...(annotate && { annotate }) }
}
