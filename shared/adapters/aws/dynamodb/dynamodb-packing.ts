import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * The texts of an item as one attribute, a third as long: DynamoDB bills a write by the kilobyte, and a kubectl-applied
 * object takes two as it is. Short texts stay readable.
 */
export interface ItemTexts {
  readonly doc: string
  /** Empty for an object at rest. */
  readonly engine: string
}

export type PackedTexts = Readonly<Record<'doc' | 'engine' | 'packed', AttributeValue | undefined>>

/** With what else an item has, below one unit of a write. */
const plainMax = 500

export function packTexts({ doc, engine }: ItemTexts): PackedTexts {
  if (doc.length + engine.length <= plainMax)
    return { doc: { S: doc }, engine: engine === '' ? undefined : { S: engine }, packed: undefined }
  const B = new Uint8Array(deflateRawSync(`${engine}\n${doc}`, { dictionary }))
  return { doc: undefined, engine: undefined, packed: { B } }
}

/** From an item of the table, or of its stream, where bytes are in base 64. */
export function unpackTexts({ doc, engine, packed }: Partial<PackedTexts>): ItemTexts {
  if (packed === undefined) return { doc: doc?.S ?? '', engine: engine?.S ?? '' }
  const bytes: string | Uint8Array = packed.B ?? ''
  const text = inflateRawSync(typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : bytes, { dictionary })
  // No JSON of one line has a line feed.
  const end = text.indexOf(10)
  return { engine: text.toString('utf8', 0, end), doc: text.toString('utf8', end + 1) }
}

/**
 * What objects have in common, the most usual last. It must never change: items that were packed with it could not be
 * read any more. A better one would need an attribute of another name.
 */
const dictionary = Buffer.from(
  [
    '"managedFields":[{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","time":"',
    '","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},',
    '"f:kubectl.kubernetes.io/last-applied-configuration":{}},"f:labels":{".":{}},"f:finalizers":{},',
    '"f:ownerReferences":{}},"f:spec":{},"f:status":{"f:conditions":{}}}}],"operation":"Apply","subresource":"status",',
    '"ownerReferences":[{"apiVersion":"","kind":"","name":"","uid":"","controller":true,"blockOwnerDeletion":true}],',
    '"deletionTimestamp":"","labels":{"app.kubernetes.io/name":"","app.kubernetes.io/managed-by":"setpoint"},',
    '"failure":{"attempt":1,"error":"","sameErrors":2},"wait":{"kind":"Backoff","generation":1,"atMs":17',
    '"hold":{"handle":"","untilMs":17,"receives":1},"memory":{"once":{},"notes":{},"expectations":{},',
    '"syncedAtMs":17,"window":{"startMs":17,"runs":1}},"change":{"verb":"created","atMs":17,"sinceMs":17,',
    '"by":"kubectl-client-side-apply","fields":["spec."]},"wakeAtMs":17,"netMs":17,{"change":{"verb":"changed","atMs":17',
    '{"apiVersion":"setpoint.dev/v1alpha1","kind":"","metadata":{"name":"","namespace":"default","uid":"',
    '","resourceVersion":"17","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z",',
    '"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\\"apiVersion\\":\\"\\",\\"kind\\":\\"\\",',
    '\\"metadata\\":{\\"annotations\\":{},\\"name\\":\\"\\",\\"namespace\\":\\"default\\"},\\"spec\\":{\\"',
    '"finalizers":["setpoint.dev/"]},"spec":{"name":"","secretRef":{"name":"","key":""}},"status":{',
    '"observedGeneration":1,"conditions":[{"type":"Ready","status":"False","reason":"","message":"',
    '","lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":1},{"type":"Stalled","status":"True","reason":"',
  ].join(''),
)
