import { apiAudience } from '../../model/access/account-token.ts'
import { rulesFor } from '../../model/access/authorize.ts'
import type { Attributes, PolicyRule } from '../../model/access/rules.ts'
import { textsOf } from '../../model/access/rules.ts'
import { OperatingError } from '../../model/errors.ts'
import { isObject, textOf, type JsonObject } from '../../model/json.ts'
import { apiVersionOf } from '../../model/object.ts'
import { fieldRequired, invalid, type FieldError } from '../../model/schema/field-error.ts'
import { refuse } from '../../resources/admission.ts'
import { userInfoOf } from '../../resources/user-info.ts'
import { findAccount, type KnownAccount } from '../access/account-tokens.ts'
import { decideAccess } from '../access/guard.ts'
import type { ApiServices, Call, VerbHandler } from '../call.ts'
import { json, withWarnings } from '../reply.ts'
import { methodNotAllowed } from '../request-info.ts'
import { readQuestion } from './read-question.ts'

type ReviewServices = Pick<ApiServices, 'readAccess' | 'resources' | 'reviewToken' | 'tokens'>

/** `POST` of a review: the body comes back with the answer as its status. */
export function createReview(services: ReviewServices): VerbHandler {
  return async (call) => {
    const { kind, info, request } = call
    if (info.name !== '') throw methodNotAllowed()
    const { body, warnings } = await readQuestion(kind, request)
    const status = (await answers[kind.kind]?.(body, call, services)) ?? {}
    const reviewed = {
      ...body,
      apiVersion: apiVersionOf(kind.group, kind.version),
      kind: kind.kind,
      metadata: metadataOf(body),
      status,
    }
    return withWarnings(json(201, reviewed), warnings)
  }
}

type Answer = (body: JsonObject, call: Call, services: ReviewServices) => Promise<JsonObject>

const answers: Readonly<Record<string, Answer>> = {
  SelfSubjectReview: async (_body, { user }) => ({ userInfo: userInfoOf(user) }),

  SelfSubjectAccessReview: async (body, call, { readAccess }) => {
    const spec = specOf(body)
    refuse(call.kind, '', checkTarget(spec))
    return accessStatus(await decideAccess(call.user, wantedBy(spec), readAccess))
  },

  SubjectAccessReview: (body, call, { readAccess }) => reviewSubject(specOf(body), call, readAccess),

  LocalSubjectAccessReview: (body, call, { readAccess }) => {
    const spec = specOf(body)
    refuse(call.kind, '', checkPlace(spec, call.info.namespace))
    return reviewSubject(spec, call, readAccess)
  },

  SelfSubjectRulesReview: async (body, { user }, { readAccess }) => {
    const { namespace } = specOf(body)
    if (typeof namespace !== 'string' || namespace === '')
      throw new OperatingError('BAD_REQUEST', 'no namespace on request')
    const { rules, problem } = rulesFor(user, namespace, await readAccess())
    return {
      resourceRules: rules.filter(({ resources }) => resources.length > 0).map(resourceRule),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs: [...verbs], nonResourceURLs: [...nonResourceURLs] })),
      incomplete: problem !== '',
      ...(problem === '' ? {} : { evaluationError: problem }),
    }
  },

  TokenReview: async (body, _call, services) => {
    const { token = '', audiences } = specOf(body)
    if (token === '') throw new OperatingError('BAD_REQUEST', 'token is required for TokenReview in authentication')
    const found = await reviewToken(textOf(token), textsOf(audiences), services)
    if (found === undefined) return { authenticated: false, error: unknownToken(services) }
    return { authenticated: true, user: userInfoOf(found.user), audiences: [...found.audiences] }
  },
}

function unknownToken({ reviewToken: review }: ReviewServices): string {
  if (review !== undefined) return 'the token is not known'
  return 'it is no token of a ServiceAccount for this audience, and others are not known here'
}

/** A token that names no audience of its own is for this API. */
async function reviewToken(
  token: string,
  audiences: readonly string[],
  services: ReviewServices,
): Promise<KnownAccount | undefined> {
  const wanted = audiences.length === 0 ? [apiAudience] : audiences
  const user = await services.reviewToken?.(`Bearer ${token}`)
  if (user === undefined) return findAccount(token, wanted, services)
  return wanted.includes(apiAudience) ? { user, audiences: [apiAudience] } : undefined
}

async function reviewSubject(
  spec: JsonObject,
  { kind }: Call,
  readAccess: ReviewServices['readAccess'],
): Promise<JsonObject> {
  const { user: name = '', groups } = spec
  const user = { name: String(name), groups: textsOf(groups) }
  const isNobody = user.name === '' && user.groups.length === 0
  const nobody = fieldRequired('spec.user', 'at least one of user or group must be specified')
  refuse(kind, '', [...(isNobody ? [nobody] : []), ...checkTarget(spec)])
  return accessStatus(await decideAccess(user, wantedBy(spec), readAccess))
}

function accessStatus({ allowed, reason }: { readonly allowed: boolean; readonly reason: string }): JsonObject {
  return reason === '' ? { allowed } : { allowed, reason }
}

function specOf({ spec }: JsonObject): JsonObject {
  return isObject(spec) ? spec : {}
}

function wantedBy({ resourceAttributes: resource, nonResourceAttributes: path }: JsonObject): Attributes {
  if (isObject(path)) return { verb: textOf(path['verb']), path: textOf(path['path']) }
  const asked = isObject(resource) ? resource : {}
  return {
    verb: textOf(asked['verb']),
    group: textOf(asked['group']),
    resource: textOf(asked['resource']),
    subresource: textOf(asked['subresource']),
    namespace: textOf(asked['namespace']),
    name: textOf(asked['name']),
  }
}

function checkTarget(spec: JsonObject): readonly FieldError[] {
  if (isObject(spec['resourceAttributes']) !== isObject(spec['nonResourceAttributes'])) return []
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [invalid('spec.resourceAttributes', spec, why)]
}

/** A local review is about the namespace that it is in. */
function checkPlace(
  { resourceAttributes, nonResourceAttributes }: JsonObject,
  namespace: string,
): readonly FieldError[] {
  const path = isObject(nonResourceAttributes)
    ? [invalid('spec.nonResourceAttributes', nonResourceAttributes, 'disallowed on this kind of request')]
    : []
  const asked = isObject(resourceAttributes) ? textOf(resourceAttributes['namespace']) : namespace
  const place = invalid('spec.resourceAttributes.namespace', asked, 'must match metadata.namespace')
  return asked === namespace ? path : [...path, place]
}

function resourceRule({ verbs, apiGroups, resources, resourceNames }: PolicyRule): JsonObject {
  const rule = { verbs: [...verbs], apiGroups: [...apiGroups], resources: [...resources] }
  return resourceNames.length === 0 ? rule : { ...rule, resourceNames: [...resourceNames] }
}

function metadataOf({ metadata }: JsonObject): JsonObject {
  return { creationTimestamp: null, ...(isObject(metadata) ? metadata : {}) }
}
