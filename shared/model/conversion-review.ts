import { isObject, type Json, type JsonObject } from './json.ts'
import { apiVersionOf, type ApiObject } from './object.ts'
import type { ReviewVersion } from './review-versions.ts'
import { parseJson } from './parse-json.ts'

/** ConversionReview of apiextensions.k8s.io, v1 or v1beta1: objects for a webhook, and what it makes of them. */

function identityFor(review: ReviewVersion) {
  return { apiVersion: apiVersionOf('apiextensions.k8s.io', review), kind: 'ConversionReview' } as const
}

export interface ConversionQuestion {
  /** The version that the webhook is spoken to in. */
  readonly review: ReviewVersion
  readonly uid: string
  readonly group: string
  /** Into which the objects are to be converted. */
  readonly version: string
  readonly objects: readonly ApiObject[]
}

export function writeConversion({ review, uid, group, version, objects }: ConversionQuestion): string {
  const request = { uid, desiredAPIVersion: apiVersionOf(group, version), objects }
  return JSON.stringify({ ...identityFor(review), request })
}

/** What a webhook makes of the content of one object. */
export interface ConvertedContent {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  /** Without apiVersion, kind and metadata. */
  readonly content: JsonObject
}

/** What became of each object in its place, or what is wrong with the answer, in Kubernetes' words. */
export function readConversion(
  answer: string,
  question: ConversionQuestion,
): readonly ConvertedContent[] | { readonly fault: string } {
  const review = tryParse(answer)
  const { response, apiVersion, kind } = isObject(review) ? review : {}
  const isChecked = question.review === 'v1'
  const identity = identityFor(question.review)
  if (isChecked && (apiVersion !== identity.apiVersion || kind !== identity.kind))
    return { fault: `expected webhook response of ${identity.apiVersion}, Kind=${identity.kind}` }
  if (!isObject(response)) return { fault: 'no response provided' }
  const { uid, result, convertedObjects } = response
  if (isChecked && uid !== question.uid) return { fault: `expected response.uid="${question.uid}", got ${shown(uid)}` }
  const { status, message } = isObject(result) ? result : {}
  if (status !== 'Success')
    return { fault: typeof message === 'string' ? message : `response.result.status was ${shown(status)}` }
  const made = Array.isArray(convertedObjects) ? convertedObjects : []
  const wanted = question.objects.length
  if (made.length !== wanted) return { fault: `returned ${made.length} objects, expected ${wanted}` }
  const converted: ConvertedContent[] = []
  for (const [i, object] of question.objects.entries()) {
    const one = readObject(made[i], object, question)
    if ('fault' in one) return { fault: `returned invalid converted object at index ${i}: ${one.fault}` }
    converted.push(one)
  }
  return converted
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    // What is no JSON is no answer.
    return undefined
  }
}

function shown(value: Json | undefined): string {
  return JSON.stringify(typeof value === 'string' ? value.slice(0, 100) : null)
}

const sameFields = ['name', 'namespace', 'uid'] as const

function readObject(
  made: Json | undefined,
  given: ApiObject,
  { group, version }: ConversionQuestion,
): ConvertedContent | { readonly fault: string } {
  if (!isObject(made)) return { fault: 'it is no object' }
  const { apiVersion, kind, metadata, ...content } = made
  const wanted = apiVersionOf(group, version)
  if (apiVersion !== wanted)
    return { fault: `invalid groupVersion (expected ${wanted}, received ${shown(apiVersion)})` }
  if (kind !== given.kind) return { fault: `invalid kind (expected ${given.kind}, received ${shown(kind)})` }
  if (!isObject(metadata)) return { fault: 'missing metadata in converted object' }
  const moved = sameFields.find((field) => (metadata[field] ?? '') !== (given.metadata[field] ?? ''))
  if (moved !== undefined) return { fault: `must have the same ${moved}` }
  const labels = readTexts(metadata, 'labels')
  const annotations = readTexts(metadata, 'annotations')
  if ('fault' in labels) return labels
  return 'fault' in annotations ? annotations : { ...labels, ...annotations, content }
}

function readTexts(
  metadata: JsonObject,
  field: 'labels' | 'annotations',
): Pick<ConvertedContent, typeof field> | { readonly fault: string } {
  const texts = metadata[field] ?? {}
  if (!isObject(texts)) return { fault: `invalid metadata.${field} in converted object` }
  const wrong = Object.keys(texts).find((name) => typeof texts[name] !== 'string')
  if (wrong !== undefined) return { fault: `metadata.${field}[${wrong.slice(0, 100)}] must be a string` }
  return Object.keys(texts).length === 0 ? {} : { [field]: texts as Record<string, string> }
}
