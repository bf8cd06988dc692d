import { isObject, type Json, type JsonObject } from '../model/json.ts'

/** What is left of the metadata that a writer says, and what there is to say about the rest. */
interface Sifted {
  /** The same reference if nothing went. */
  readonly metadata: JsonObject
  /** Paths of fields that no object has. */
  readonly unknown: readonly string[]
  /** The uids of owners that stand there more than once. */
  readonly repeated: readonly string[]
}

/** Takes what nobody knows out of metadata, and each owner that is there already. It passes over ill-typed parts. */
export function siftMetadata(metadata: JsonObject): Sifted {
  const unknown: string[] = []
  for (const name in metadata) if (!metadataFields.has(name)) unknown.push(`metadata.${name}`)
  const owners = metadata['ownerReferences']
  if (!Array.isArray(owners)) return { metadata, unknown, repeated: [] }
  const seen = new Set<string>()
  const kept: Json[] = []
  const repeated: string[] = []
  for (const [i, owner] of owners.entries()) {
    const known = siftOwner(owner, `metadata.ownerReferences[${i}]`, unknown)
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
  return JSON.stringify(isObject(owner) ? [...ownerFields].map((name) => owner[name] ?? null) : owner)
}

function siftOwner(owner: Json, path: string, unknown: string[]): Json {
  if (!isObject(owner)) return owner
  const names = Object.keys(owner)
  const strange = names.filter((name) => !ownerFields.has(name))
  if (strange.length === 0) return owner
  unknown.push(...strange.map((name) => `${path}.${name}`))
  return Object.fromEntries(Object.entries(owner).filter(([name]) => ownerFields.has(name)))
}

function uidOf(owner: Json): string {
  return isObject(owner) ? String(owner['uid']) : ''
}

/** `metav1.ObjectMeta`. */
const metadataFields: ReadonlySet<string> = new Set([
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
])

/** `metav1.OwnerReference`. */
const ownerFields: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'name',
  'uid',
  'controller',
  'blockOwnerDeletion',
])
