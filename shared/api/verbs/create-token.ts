import { serviceAccountUser } from '../../model/access/access-book.ts'
import { accountTokenSecondsMax, apiAudience } from '../../model/access/account-token.ts'
import { textsOf } from '../../model/access/rules.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { fieldRequired, invalid, type FieldError } from '../../model/schema/field-error.ts'
import { timestamp } from '../../model/time.ts'
import type { OperatingError } from '../../model/errors.ts'
import type { ApiObject } from '../../model/object.ts'
import type { TokenBounds, TokenClaims } from '../../ports/token-signer.ts'
import { invalidBecause, refuse } from '../../resources/admission.ts'
import { secretKind } from '../../resources/built-in-kinds.ts'
import { conflict } from '../../resources/refusals.ts'
import { placeOf, type ApiServices, type Call, type VerbHandler } from '../call.ts'
import { noSuchSubresource } from '../failure.ts'
import { json, withWarnings } from '../reply.ts'
import { readQuestion } from '../reviews/read-question.ts'
import { tokenRequestKind } from '../reviews/review-kinds.ts'

/** `POST` of a TokenRequest to `serviceaccounts/NAME/token`: the answer holds a token of that ServiceAccount. */
export function createCreateToken(services: ApiServices): VerbHandler {
  const { resources, tokens } = services
  return async (call) => {
    if (tokens === undefined) throw noSuchSubresource(call.info)
    const { body, isDry, warnings } = await readQuestion(tokenRequestKind, call.request)
    const spec = isObject(body['spec']) ? body['spec'] : {}
    const seconds = spec['expirationSeconds'] ?? secondsDefault
    refuse(tokenRequestKind, '', checkSeconds(seconds))
    const { object: account } = await resources.get(call.kind, placeOf(call))
    const claims = await claimsOf(account, spec, services)
    const { audiences } = claims
    const endsIn = Math.min(Number(seconds), accountTokenSecondsMax)
    const signed = isDry ? undefined : await tokens.sign(claims, endsIn)
    const status = signed === undefined ? {} : { token: signed.token, expirationTimestamp: timestamp(signed.endsAtMs) }
    const answer = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: metadataOf(call),
      spec: { ...spec, audiences: [...audiences], expirationSeconds: endsIn },
      status,
    }
    return withWarnings(json(201, answer), warnings)
  }
}

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
async function claimsOf(account: ApiObject, spec: JsonObject, services: ApiServices): Promise<TokenClaims> {
  const { name, namespace = '', uid } = account.metadata
  const asked = textsOf(spec['audiences'])
  return {
    audiences: asked.length === 0 ? [apiAudience] : asked,
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
