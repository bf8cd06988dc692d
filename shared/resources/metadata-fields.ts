import { objectMetaSchema, ownerReference } from '../model/schema/object-meta.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'

/** What is left of the metadata that a writer says, and what there is to say about the rest. */
interface Sifted {
  /** The same reference if nothing went. */
  readonly metadata: JsonObject
  /** Paths of fields that no object has. */
  readonly unknown: readonly string[]
  /** The uids of owners that stand there more than once. */
  readonly repeated: readonly string[]
}

/**
 * Metadata without the unknown fields of owners, and with each owner once. An unknown field of its own is told and
 * stays. A part of another type stays as it is.
 */
export function siftMetadata(metadata: JsonObject): Sifted {
  const unknown: string[] = []
  for (const name in metadata) if (!metadataFields.has(name)) unknown.push(`metadata.${name}`)
  const owners = metadata['ownerReferences']
  if (!Array.isArray(owners)) return { metadata, unknown, repeated: [] }
  const seen = new Set<string>()
  const kept: Json[] = []
  const repeated: string[] = []
  for (const [i, owner] of owners.entries()) {
    const known = siftOwner(owner, i, unknown)
    const text = ownerText(known)
    if (seen.has(text)) repeated.push(uidOf(known))
    else kept.push(known)
    seen.add(text)
  }
  const isSame = kept.length === owners.length && kept.every((owner, i) => owner === owners[i])
  return { metadata: isSame ? metadata : { ...metadata, ownerReferences: kept }, unknown, repeated }
}

/** Equal owners have equal texts. */
function ownerText(owner: Json): string {
  if (!isObject(owner)) return JSON.stringify(owner)
  let text = ''
  for (const name of ownerNames) {
    const value = owner[name] ?? null
    text += value === null ? ',' : `${JSON.stringify(value)},`
  }
  return text
}

function siftOwner(owner: Json, place: number, unknown: string[]): Json {
  if (!isObject(owner)) return owner
  let isKnown = true
  for (const name in owner) {
    if (ownerFields.has(name)) continue
    isKnown = false
    unknown.push(`metadata.ownerReferences[${place}].${name}`)
  }
  if (isKnown) return owner
  return Object.fromEntries(Object.entries(owner).filter(([name]) => ownerFields.has(name)))
}

function uidOf(owner: Json): string {
  return isObject(owner) ? String(owner['uid']) : ''
}

const metadataFields = namesIn(objectMetaSchema)
const ownerFields = namesIn(ownerReference)
const ownerNames = [...ownerFields]

function namesIn({ properties = {} }: StructuralSchema): ReadonlySet<string> {
  return new Set(Object.keys(properties))
}
