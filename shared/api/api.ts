import { proceed, type Eventual } from '../model/eventual.ts'
import type { AccessBook } from '../model/access/access-book.ts'
import { isSuperuser } from '../model/access/authorize.ts'
import type { Attributes } from '../model/access/rules.ts'
import { OperatingError } from '../model/errors.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { Authenticator, User } from '../ports/authenticator.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../ports/http-handler.ts'
import { customResourceDefinitionKind } from '../resources/built-in-kinds.ts'
import { policyGroup } from '../resources/policy-kinds.ts'
import type { PermitWrite } from '../resources/resources.ts'
import { withAccounts } from './access/account-tokens.ts'
import type { AuditNote } from './access/audit-line.ts'
import { annotating, createAuditTrail, notingChanges } from './access/audit-trail.ts'
import { attributesOf } from './access/attributes.ts'
import { permitFor } from './access/grants.ts'
import { permitParams } from './access/param-reads.ts'
import { isStillAllowed } from './access/readmission.ts'
import { isClusterRole, showGathered } from './access/gathered-rules.ts'
import { decideAgain, requireAllowed, type ReadAccess } from './access/guard.ts'
import { actingUser } from './access/impersonation.ts'
import { certificateOfSender } from './access/page-origin.ts'
import type { ApiServices, VerbHandler } from './call.ts'
import { apiServiceObjects } from './computed/api-services.ts'
import { apiServiceKind, computedKinds, isComputed } from './computed/computed-kinds.ts'
import { createReadComputed } from './computed/read-computed.ts'
import { resourceVerbs } from './discovery/resource-verbs.ts'
import { emptyKinds, verbRefusal, withUnstoredKinds } from './empty-kinds.ts'
import {
  errorFields,
  toOperatingError,
  failure,
  isOurs,
  noSuchResource,
  noSuchSubresource,
  notThere,
} from './failure.ts'
import { createHealth } from './health.ts'
import { createMeasure } from './measure.ts'
import { createPathHandler } from './paths.ts'
import { withWarnings } from './reply.ts'
import { methodNotAllowed, requestInfo, type ResourceRequest, type Verb } from './request-info.ts'
import { createReview } from './reviews/review.ts'
import { isReview, reviewKinds } from './reviews/review-kinds.ts'
import { withServerTiming } from './server-timing.ts'
import { subresourcesOf } from './subresources.ts'
import { createCreate } from './verbs/create.ts'
import { createCreateToken } from './verbs/create-token.ts'
import { createDeleteCollection } from './verbs/delete-collection.ts'
import { createDelete } from './verbs/delete.ts'
import { createExplainVerb } from './verbs/explain.ts'
import { createFinalize } from './verbs/finalize.ts'
import { createGet } from './verbs/get.ts'
import { createList } from './verbs/list.ts'
import { createMigrate } from './verbs/migrate.ts'
import { createPatch } from './verbs/patch.ts'
import { createRunsVerb } from './verbs/runs.ts'
import { createScale } from './verbs/scale.ts'
import { createUpdate } from './verbs/update.ts'
import { createWatch } from './verbs/watch.ts'
import { websocketAuthorization } from './websocket/handshake.ts'
import { withYamlAnswers } from './yaml-answer.ts'

/**
 * The HTTP API: Kubernetes' resource conventions over the verbs on resources. The main path of a request: authenticate,
 * read what it asks for, find the kind, hand it to the verb; one file per verb. What is thrown on the way becomes a
 * Status.
 */
export function createApi(given: ApiServices): HttpHandler {
  const services = withApiServices(given)
  const { logger } = services
  const authenticate = withAccounts(services.authenticate, services)
  const handlerOf = createHandlers(services)
  const health = createHealth(services)
  const answerPath = createPathHandler({ ...services, checks: health.checks })
  const trail = createAuditTrail(services)

  const end = (response: HttpResponse, note: AuditNote | undefined): HttpResponse =>
    note === undefined || trail === undefined ? response : trail.end(note, response)

  const senderOf = (request: HttpRequest): ReturnType<Authenticator> =>
    authenticate(authorizationOf(request), certificateOfSender(request))

  const answer = async (request: HttpRequest, note?: AuditNote): Promise<HttpResponse> => {
    const found = senderOf(request)
    const sender = found instanceof Promise ? await found : found
    if (sender === undefined) throw new OperatingError('UNAUTHORIZED', 'Unauthorized')
    if (note !== undefined) note.sender = sender
    // Once for a request: a reading may ask the table whether what is known still holds.
    let book: Eventual<AccessBook> | undefined
    const readAccess: ReadAccess = () => (book ??= services.readAccess())
    const acting = actingUser(request, sender, readAccess)
    const user = acting instanceof Promise ? await acting : acting
    if (note !== undefined) note.user = user
    const info = requestInfo(request)
    const isFree = note === undefined && isSuperuser(user)
    const admitted = isFree
      ? undefined
      : admit({ user, wanted: attributesOf(request, info), readAccess, note }, services)
    const permit = admitted instanceof Promise ? await admitted : admitted
    if (!info.isResource) return end(await answerPath(request, info.segments), note)
    const named = findKind(info, services)
    const kind = requireServed(info, named instanceof Promise ? await named : named)
    const annotate = annotating(kind, note)
    const complete = isClusterRole(kind) ? showGathered(await readAccess()) : undefined
    const isAllowedOn = info.verb === 'watch' ? askAgain(request, info) : undefined
    const call = { request, info, kind, user, permit, annotate, complete, isStillAllowed: isAllowedOn }
    const reply = handlerOf(info, kind)(call)
    const { deprecation } = kind
    if (deprecation === undefined) return end(await reply, note)
    return end(withWarnings(await told(request, reply), [deprecation]), note)
  }

  const askAgain = (request: HttpRequest, info: ResourceRequest) => (): Promise<boolean> =>
    isStillAllowed(request, attributesOf(request, info), { sender: senderOf, readAccess: services.readAccess })

  const tell = (request: HttpRequest, error: unknown): HttpResponse => {
    const why = toOperatingError(error)
    if (isOurs(why))
      logger.error('request failed', { method: request.method, path: request.path, ...errorFields(error) })
    return failure(why)
  }

  const told = (request: HttpRequest, reply: Promise<HttpResponse>): Promise<HttpResponse> =>
    reply.catch((error: unknown) => tell(request, error))

  const answerAll: HttpHandler = (request) => {
    const open = health.open.get(request.path)
    if (open !== undefined) return told(request, open(request))
    const note = trail?.begin(request)
    if (trail === undefined || note === undefined) return told(request, answer(request))
    return answer(request, note).catch((error: unknown) => trail.end(note, tell(request, error)))
  }
  return withServerTiming(withYamlAnswers(answerAll), services.clock)
}

function authorizationOf(request: HttpRequest): string | undefined {
  return request.header('authorization') ?? websocketAuthorization(request)
}

/** What is served is known here alone. */
function withApiServices(services: ApiServices): ApiServices {
  const { computed = [] } = services
  return {
    ...services,
    computed: [...computed, apiServiceObjects(services, [...computed.map(({ kind }) => kind), apiServiceKind])],
  }
}

/** What somebody wants to do. */
interface Asked {
  readonly user: User
  readonly wanted: Attributes
  readonly readAccess: ReadAccess
  readonly note: AuditNote | undefined
}

/** Throws FORBIDDEN. What is not allowed is not even said to exist. */
function admit({ user, wanted, readAccess, note }: Asked, services: ApiServices): Eventual<PermitWrite | undefined> {
  note?.want(wanted)
  return proceed(decideAgain(user, wanted, readAccess), (decision) => {
    if (note !== undefined) note.decision = decision
    requireAllowed(decision, user, wanted)
    if (wanted.path !== undefined || !writing.includes(wanted.verb)) return
    if (isSuperuser(user)) return note && notingChanges(undefined, note)
    const permitted = proceed(readAccess(), (book) =>
      wanted.group === policyGroup ? permitParams({ user, wanted, book }, services) : permitFor(user, wanted, book),
    )
    return note === undefined ? permitted : proceed(permitted, (permit) => notingChanges(permit, note))
  })
}

/** What is written is looked at, too. */
const writing: readonly string[] = ['create', 'update', 'patch']

function createHandlers(services: ApiServices): (info: ResourceRequest, kind: ServedKind) => VerbHandler {
  const measured = createMeasure(services)
  const verbs: Readonly<Record<Verb, VerbHandler>> = {
    get: measured('get', createGet(services)),
    list: measured('list', createList(services)),
    watch: measured('watch', createWatch(services)),
    create: measured('create', createCreate(services)),
    update: measured('update', createUpdate(services)),
    patch: measured('patch', createPatch(services)),
    delete: measured('delete', createDelete(services)),
    deletecollection: measured('deletecollection', createDeleteCollection(services)),
  }
  const scale = createScale(services)
  const ofSubresource: Readonly<Record<string, Partial<Readonly<Record<Verb, VerbHandler>>>>> = {
    explain: { get: measured('get', createExplainVerb(services)) },
    runs: { get: measured('get', createRunsVerb(services)) },
    token: { create: measured('create', createCreateToken(services)) },
    migrate: { create: measured('create', createMigrate(services)) },
    finalize: { update: measured('update', createFinalize(services)) },
    scale: { get: measured('get', scale), update: measured('update', scale), patch: measured('patch', scale) },
  }
  const review = measured('create', createReview(services))
  const readComputed = createReadComputed(services)
  const ofComputed = { get: measured('get', readComputed), list: measured('list', readComputed) }
  return ({ verb, subresource }, kind) => {
    if (isReview(kind)) return review
    if (isComputed(kind)) return verb === 'get' ? ofComputed.get : ofComputed.list
    return ofSubresource[subresource]?.[verb] ?? verbs[verb]
  }
}

/** The kind of the URL. */
function findKind(
  info: ResourceRequest,
  { catalog, computed = [] }: Pick<ApiServices, 'catalog' | 'computed'>,
): Eventual<ServedKind | undefined> {
  const isNamed = ({ group, version, plural }: ServedKind): boolean =>
    plural === info.resource && group === info.group && version === info.version
  if (unstored.has(info.resource)) {
    const review = reviewKinds.find(isNamed)
    if (review !== undefined) return review
    const kind = emptyKinds.find(isNamed) ?? computed.find((one) => isNamed(one.kind))?.kind
    // A miss of the catalog reads the definitions again: requests for kinds of which nothing is stored shall not.
    if (kind !== undefined) return catalog.all().then((kinds) => withUnstoredKinds(kinds, [kind]).find(isNamed))
  }
  return catalog.byPlural(info.group, info.version, info.resource)
}

/** What kinds are called that nothing is stored of. A definition may have the same name in another group. */
const unstored: ReadonlySet<string> = new Set(
  [...reviewKinds, ...emptyKinds, ...computedKinds].map(({ plural }) => plural),
)

/**
 * The kind, if it is served where the URL says: in a namespace or not, with this subresource or none. Throws NOT_FOUND.
 */
function requireServed(info: ResourceRequest, kind: ServedKind | undefined): ServedKind {
  if (kind === undefined) throw noSuchResource(info)
  if (!standsThere(kind, info)) throw notThere(kind)
  if (info.subresource === '') {
    if (!resourceVerbs(kind).includes(info.verb)) throw verbRefusal(kind)
    return kind
  }
  const allowed = isReview(kind) || isComputed(kind) ? undefined : subresourceVerbs(info.subresource, kind)
  if (allowed === undefined) throw noSuchSubresource(info)
  if (!allowed.includes(info.verb)) throw methodNotAllowed()
  return kind
}

/** What can be done with a subresource; `undefined` if objects of the kind have none of this name. */
function subresourceVerbs(subresource: string, kind: ServedKind): readonly Verb[] | undefined {
  if (subresource === 'explain' || subresource === 'runs') return ['get']
  if (subresource === 'migrate' && kind === customResourceDefinitionKind) return ['create']
  return subresourcesOf(kind).find(({ name }) => name === subresource)?.verbs
}

/** Verbs that make sense over all namespaces. */
const acrossNamespaces: readonly Verb[] = ['list', 'watch']

/** A namespace is itself the place that roles are asked about: no other one stands in it. */
function standsThere(kind: ServedKind, info: ResourceRequest): boolean {
  if (kind.namespaced) return info.namespace !== '' || acrossNamespaces.includes(info.verb)
  return info.namespace === '' || (info.resource === 'namespaces' && info.name === info.namespace)
}
