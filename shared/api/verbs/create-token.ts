import { serviceAccountUser } from '../../model/access/access-book.ts'
import { accountTokenSecondsMax, apiAudience } from '../../model/access/account-token.ts'
import { textsOf } from '../../model/access/rules.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { fieldRequired, invalid, type FieldError } from '../../model/schema/field-error.ts'
import { timestamp } from '../../model/time.ts'
import type { OperatingError } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import { AdmissionBudget } from '../../model/policy/admission-budget.ts'
import type { TokenBounds, TokenClaims } from '../../ports/token-signer.ts'
import { invalidBecause, refuse } from '../../resources/admission.ts'
import { secretKind } from '../../resources/built-in-kinds.ts'
import type { Reviewed } from '../../resources/policy-review.ts'
import { conflict } from '../../resources/refusals.ts'
import type { WriteOptions } from '../../resources/resources.ts'
import { authorOf, placeOf, type ApiServices, type Call, type VerbHandler } from '../call.ts'
import { noSuchSubresource } from '../failure.ts'
import { placeBody } from '../place-body.ts'
import { json, withWarnings } from '../reply.ts'
import { readQuestion, requireTypes } from '../reviews/read-question.ts'
import { tokenRequestKind } from '../reviews/review-kinds.ts'

/**
 * `POST` of a TokenRequest to `serviceaccounts/NAME/token`: the answer holds a token of that ServiceAccount. As on
 * Kubernetes, admission changes the request and reviews it: its rules bound audiences and lifetimes.
 */
export function createCreateToken(services: ApiServices): VerbHandler {
  const { resources, tokens, policies } = services
  return async (call) => {
    if (tokens === undefined) throw noSuchSubresource(call.info)
    const { body, options, warnings } = await readQuestion(tokenRequestKind, call.request)
    const asked = requestFor(call, body)
    const reviewed = reviewedBy(call, options)
    const mutated = await policies.mutate({ ...reviewed, object: asked })
    const wanted = mutated?.object ?? asked
    requireTypes(tokenRequestKind, wanted)
    const spec = isObject(wanted.spec) ? wanted.spec : {}
    const seconds = spec['expirationSeconds'] ?? secondsDefault
    const { object: account } = await resources.get(call.kind, placeOf(call))
    refuse(tokenRequestKind, '', checkSeconds(seconds))
    const audiences = audiencesOf(spec)
    const object = { ...wanted, spec: { ...spec, audiences, expirationSeconds: seconds } }
    const warned = await policies.review({ ...reviewed, object })
    const claims = await claimsOf(account, object.spec, services)
    const endsIn = Math.min(Number(seconds), accountTokenSecondsMax)
    const signed = options.dryRun === true ? undefined : await tokens.sign(claims, endsIn)
    const status = signed === undefined ? {} : { token: signed.token, expirationTimestamp: timestamp(signed.endsAtMs) }
    const answer = {
      ...tokenRequestType,
      metadata: metadataOf(call),
      spec: { ...object.spec, expirationSeconds: endsIn },
      status,
    }
    return withWarnings(json(201, answer), [...warnings, ...(mutated?.warnings ?? []), ...(warned ?? [])])
  }
}

/** The request with all that is said by its path. Throws INVALID and BAD_REQUEST if it says another place itself. */
function requestFor(call: Call, body: JsonObject): ApiObject {
  const { name } = call.info
  const { name: said = name } = isObject(body['metadata']) ? body['metadata'] : {}
  if (said !== '' && said !== name) refuse(tokenRequestKind, name, [invalid('metadata.name', said, otherName)])
  const { metadata, spec } = placeBody(call, body)
  const wanted = { expirationSeconds: secondsDefault, ...(isObject(spec) ? spec : {}) }
  return { ...tokenRequestType, metadata, spec: wanted, status: {} } as unknown as ApiObject
}

const otherName = 'must match the service account name if specified'

/** How admission is asked about a token: as a creation at the path of the ServiceAccount. */
function reviewedBy(call: Call, { dryRun = false, said }: WriteOptions): Omit<Reviewed, 'object'> {
  const { user, annotate } = authorOf(call)
  const path = { kind: tokenRequestKind, resource: call.kind, subresource: 'token' }
  return { ...path, operation: 'CREATE', user, annotate, said, dryRun, budget: new AdmissionBudget() }
}

const tokenRequestType = { kind: 'TokenRequest', apiVersion: 'authentication.k8s.io/v1' }
const secondsDefault = 3_600
const secondsMin = 600

function checkSeconds(seconds: unknown): readonly FieldError[] {
  const why = 'may not specify a duration less than 10 minutes'
  return Number(seconds) < secondsMin ? [invalid('spec.expirationSeconds', seconds, why)] : []
}

function metadataOf({ info: { name, namespace } }: Call): JsonObject {
  return { name, namespace, creationTimestamp: null }
}

/** A token without an audience is for this API. */
function audiencesOf(spec: JsonObject): string[] {
  const asked = textsOf(spec['audiences'])
  return asked.length === 0 ? [apiAudience] : [...asked]
}

async function claimsOf(account: ApiObject, spec: JsonObject, services: ApiServices): Promise<TokenClaims> {
  const { name, namespace = '', uid } = account.metadata
  return {
    audiences: audiencesOf(spec),
    subject: serviceAccountUser(namespace, name),
    bound: {
      namespace,
      serviceaccount: { name, uid },
      ...(isObject(spec['boundObjectRef']) ? await boundBy(spec['boundObjectRef'], namespace, services) : {}),
    },
  }
}

/** A Secret is all that a token can be bound to here, beside its ServiceAccount. */
async function boundBy(
  ref: JsonObject,
  namespace: string,
  { resources }: ApiServices,
): Promise<Pick<TokenBounds, 'secret'>> {
  const path = 'spec.boundObjectRef'
  const { kind, name, uid } = ref
  if (kind !== 'Secret')
    refuse(tokenRequestKind, '', [invalid(`${path}.kind`, kind, 'a token can be bound to a Secret')])
  if (typeof name !== 'string' || name === '') throw refusalOfName(path)
  const { object: secret } = await resources.get(secretKind, { namespace, name })
  if (uid !== undefined && uid !== '' && uid !== secret.metadata.uid)
    throw conflict(secretKind, secret.metadata, `the UID in the bound object reference (${String(uid)}) does not match`)
  return { secret: { name, uid: secret.metadata.uid } }
}

function refusalOfName(path: string): OperatingError {
  return invalidBecause(tokenRequestKind, '', [fieldRequired(`${path}.name`)])
}
