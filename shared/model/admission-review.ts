import { bytesFromBase64 } from './base64.ts'
import { isObject, type Json, type JsonObject } from './json.ts'
import { objectText } from './object-text.ts'
import type { ApiObject } from './object.ts'
import { parseJson } from './parse-json.ts'

/** AdmissionReview of admission.k8s.io/v1: what a webhook is asked, and what it says. */

const identity = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const

export interface WebhookQuestion {
  readonly uid: string
  /** Of AdmissionRequest, without the objects. */
  readonly request: JsonObject
  readonly object: ApiObject | undefined
  readonly oldObject: ApiObject | undefined
}

export function writeReview({ uid, request, object, oldObject }: WebhookQuestion): string {
  const review = JSON.stringify({ ...identity, request: { uid, ...request } })
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
  readonly status: { readonly code: number; readonly reason: string; readonly message: string }
}

const warningsMax = 10
const warningLengthMax = 256
const messageLengthMax = 1_000
const operationsMax = 10_000

/** The answer of a webhook, or what is wrong with it, in Kubernetes' words. */
export function readReview(
  answer: string,
  { uid, isMutating }: { readonly uid: string; readonly isMutating: boolean },
): WebhookVerdict | { readonly fault: string } {
  const read = tryParse(answer)
  const review = isObject(read) ? read : {}
  const { response, apiVersion, kind } = review
  if (!isObject(response)) return { fault: 'webhook response was absent' }
  if (response['uid'] !== uid)
    return { fault: `expected response.uid="${uid}", got ${JSON.stringify(textOf(response['uid']))}` }
  if (apiVersion !== identity.apiVersion || kind !== identity.kind) {
    const found = `${textOf(apiVersion)}, Kind=${textOf(kind)}`
    return { fault: `expected webhook response of ${identity.apiVersion}, Kind=${identity.kind}, got ${found}` }
  }
  const patch = readPatch(response, isMutating)
  if ('fault' in patch) return patch
  const { warnings } = response
  return {
    allowed: response['allowed'] === true,
    patch: patch.operations,
    warnings: (Array.isArray(warnings) ? warnings : [])
      .filter((warning) => typeof warning === 'string')
      .slice(0, warningsMax)
      .map((warning) => warning.slice(0, warningLengthMax)),
    notes: readNotes(response['auditAnnotations']),
    status: readStatus(response['status']),
  }
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

function readPatch({ patch = '', patchType }: JsonObject, isMutating: boolean): Patch {
  const isEmpty = patch === '' || patch === null
  const hasType = patchType !== undefined && patchType !== null
  if (!isMutating) {
    if (!isEmpty) return { fault: 'validating webhook may not return response.patch' }
    return hasType ? { fault: 'validating webhook may not return response.patchType' } : { operations: [] }
  }
  if (!isEmpty && !hasType) return { fault: 'webhook returned response.patch but not response.patchType' }
  if (isEmpty && hasType) return { fault: 'webhook returned response.patchType but not response.patch' }
  if (isEmpty) return { operations: [] }
  if (patchType !== 'JSONPatch') return { fault: `unsupported patch type ${JSON.stringify(textOf(patchType))}` }
  return decodePatch(String(patch))
}

function decodePatch(patch: string): Patch {
  try {
    const operations = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytesFromBase64(patch)))
    if (!Array.isArray(operations) || !operations.every(isObject))
      return { fault: 'received undecodable patch in webhook response: it is no list of operations' }
    if (operations.length > operationsMax) return { fault: `the patch has more than ${operationsMax} operations` }
    return { operations }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { fault: `received undecodable patch in webhook response: ${why.slice(0, messageLengthMax)}` }
  }
}

function readStatus(status: Json | undefined): WebhookVerdict['status'] {
  const { code, reason, message } = isObject(status) ? status : {}
  const isFailure = typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600
  return {
    code: isFailure ? code : 400,
    reason: textOf(reason),
    message: typeof message === 'string' ? message.slice(0, messageLengthMax) : '',
  }
}
