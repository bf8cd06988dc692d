import { textFromBase64 } from './base64.ts'
import type { ErrorDetails } from './errors.ts'
import { isObject, type Json, type JsonObject } from './json.ts'
import { objectText } from './object-text.ts'
import { apiVersionOf, type ApiObject } from './object.ts'
import type { ReviewVersion } from './review-versions.ts'
import { parseJson } from './parse-json.ts'

/** AdmissionReview of admission.k8s.io, v1 or v1beta1: what a webhook is asked, and what it says. */

const kindName = 'AdmissionReview'

function apiVersionFor(version: ReviewVersion): string {
  return apiVersionOf('admission.k8s.io', version)
}

export interface WebhookQuestion {
  readonly version: ReviewVersion
  readonly uid: string
  /** Of AdmissionRequest, without the objects. */
  readonly request: JsonObject
  readonly object: ApiObject | undefined
  readonly oldObject: ApiObject | undefined
}

export function writeReview({ version, uid, request, object, oldObject }: WebhookQuestion): string {
  const review = JSON.stringify({ apiVersion: apiVersionFor(version), kind: kindName, request: { uid, ...request } })
  // The text of an object is made once for all who are asked about it.
  return `${review.slice(0, -2)},"object":${textOr(object)},"oldObject":${textOr(oldObject)}}}`
}

function textOr(object: ApiObject | undefined): string {
  return object === undefined ? 'null' : objectText(object)
}

/** What a webhook says of a request. */
export interface WebhookVerdict {
  readonly allowed: boolean
  readonly patch: readonly JsonObject[]
  readonly warnings: readonly string[]
  /** What it wants to have written beside the record of the request. */
  readonly notes: readonly (readonly [string, string])[]
  /** Why it does not allow it. */
  readonly status: ReviewStatus
}

/** What is told to whom a webhook denies something, as it says. */
export interface ReviewStatus {
  readonly code: number
  readonly reason: string
  readonly message: string
  readonly details: Omit<ErrorDetails, 'answer'>
}

const warningsMax = 10
const warningLengthMax = 256
const messageLengthMax = 1_000
const operationsMax = 10_000

interface Question extends Pick<WebhookQuestion, 'uid' | 'version'> {
  readonly isMutating: boolean
}

/** The answer of a webhook, or what is wrong with it, in Kubernetes' words. Of v1beta1 less is asked. */
export function readReview(answer: string, question: Question): WebhookVerdict | { readonly fault: string } {
  const read = tryParse(answer)
  const review = isObject(read) ? read : {}
  const { response, apiVersion, kind } = review
  if (!isObject(response)) return { fault: 'webhook response was absent' }
  if (question.version === 'v1') {
    const fault = findFault({ apiVersion, kind, uid: response['uid'] }, question)
    if (fault !== undefined) return { fault }
  }
  const { warnings, allowed = false } = response
  if (allowed !== null && typeof allowed !== 'boolean') return { fault: 'response.allowed must be true or false' }
  const patch = readPatch(response, question)
  if ('fault' in patch) return patch
  return {
    allowed: allowed === true,
    patch: patch.operations,
    warnings: (Array.isArray(warnings) ? warnings : [])
      .filter((warning) => typeof warning === 'string')
      .slice(0, warningsMax)
      .map((warning) => warning.slice(0, warningLengthMax)),
    notes: readNotes(response['auditAnnotations']),
    status: readStatus(response['status']),
  }
}

/** Why an answer is none to the question. */
function findFault(
  { apiVersion, kind, uid }: Readonly<Record<'apiVersion' | 'kind' | 'uid', Json | undefined>>,
  question: Question,
): string | undefined {
  if (uid !== question.uid) return `expected response.uid="${question.uid}", got ${JSON.stringify(textOf(uid))}`
  const expected = apiVersionFor(question.version)
  if (apiVersion === expected && kind === kindName) return undefined
  const found = `${textOf(apiVersion)}, Kind=${textOf(kind)}`
  return `expected webhook response of ${expected}, Kind=${kindName}, got ${found}`
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    // What is no JSON is no answer.
    return undefined
  }
}

function readNotes(notes: Json | undefined): WebhookVerdict['notes'] {
  const found = isObject(notes) ? Object.entries(notes) : []
  return found.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : [])).slice(0, notesMax)
}

const notesMax = 20

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value.slice(0, 100) : ''
}

type Patch = { readonly operations: readonly JsonObject[] } | { readonly fault: string }

/** The patch of what is denied counts for nothing: it need not be one. */
function readPatch({ patch = '', patchType, allowed }: JsonObject, { version, isMutating }: Question): Patch {
  const isAllowed = allowed === true
  const isEmpty = patch === '' || patch === null
  const hasType = patchType !== undefined && patchType !== null
  if (version === 'v1beta1')
    return isEmpty || !isMutating || !isAllowed ? { operations: [] } : decodePatch(String(patch))
  if (!isMutating) {
    if (!isEmpty) return { fault: 'validating webhook may not return response.patch' }
    return hasType ? { fault: 'validating webhook may not return response.patchType' } : { operations: [] }
  }
  if (!isEmpty && !hasType) return { fault: 'webhook returned response.patch but not response.patchType' }
  if (isEmpty && hasType) return { fault: 'webhook returned response.patchType but not response.patch' }
  if (isEmpty || !isAllowed) return { operations: [] }
  if (patchType !== 'JSONPatch') return { fault: `unsupported patch type ${JSON.stringify(textOf(patchType))}` }
  return decodePatch(String(patch))
}

function decodePatch(patch: string): Patch {
  try {
    const operations = parseJson(textFromBase64(patch))
    if (!Array.isArray(operations) || !operations.every(isObject))
      return { fault: 'received undecodable patch in webhook response: it is no list of operations' }
    if (operations.length > operationsMax) return { fault: `the patch has more than ${operationsMax} operations` }
    return { operations }
  } catch (error) {
    // The parser would tell a part of it, which may be a Secret's.
    const why = error instanceof SyntaxError ? 'it is no JSON' : 'it is no base64 of UTF-8'
    return { fault: `received undecodable patch in webhook response: ${why}` }
  }
}

function readStatus(status: Json | undefined): ReviewStatus {
  const { code, reason, message, details } = isObject(status) ? status : {}
  const isFailure = typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600
  return {
    code: isFailure ? code : 400,
    reason: textOf(reason),
    message: shortTextOf(message),
    details: readDetails(details),
  }
}

/** What it is about, and the causes field by field: webhooks in Go send them with each INVALID. */
function readDetails(details: Json | undefined): ReviewStatus['details'] {
  const { name, group, kind, uid, causes, retryAfterSeconds: seconds } = isObject(details) ? details : {}
  const texts = Object.entries({ name, group, kind, uid }).map(([field, text]) => [field, shortTextOf(text)])
  return {
    ...Object.fromEntries(texts.filter(([, text]) => text !== '')),
    ...(Array.isArray(causes) && { causes: causes.filter(isObject).slice(0, causesMax).map(readCause) }),
    ...(Number.isSafeInteger(seconds) && Number(seconds) > 0 && { retryAfterSeconds: Number(seconds) }),
  }
}

const causesMax = 100

function readCause({ reason, message, field }: JsonObject): NonNullable<ErrorDetails['causes']>[number] {
  const place = shortTextOf(field)
  return { reason: textOf(reason), message: shortTextOf(message), ...(place !== '' && { field: place }) }
}

function shortTextOf(value: Json | undefined): string {
  return typeof value === 'string' ? value.slice(0, messageLengthMax) : ''
}
