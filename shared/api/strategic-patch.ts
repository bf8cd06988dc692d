import { OperatingError } from '../model/errors.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { isObject } from '../model/json.ts'
import { isKubernetesGroup } from '../model/kubernetes-groups.ts'
import type { StructuralSchema } from '../model/schema/structural-schema.ts'
import type { ServedKind } from '../model/served-kind.ts'
import { isMergedTexts, mergeKeyOf, orderPrefix, removalPrefix, withMetadataLists } from '../resources/keyed-merge.ts'

/**
 * A strategic merge patch of a built-in kind as a merge patch by whose schema lists with keys merge item by item.
 * kubectl's client-side apply and `edit` send one for the kinds it was compiled with, and know no other way. It differs
 * from a JSON merge patch in its directives (`$patch` and the like), too, and in lists of metadata: a patch with other
 * directives than those of such lists is refused. A kind that a definition brings takes one only in a group of
 * Kubernetes itself, where kubectl is compiled with the kind; Kubernetes refuses it for all others too. Throws
 * UNSUPPORTED_MEDIA_TYPE.
 */
export function strategicAsMerge(kind: ServedKind, patch: JsonObject): JsonObject {
  if (!kind.builtIn && !isKubernetesGroup(kind.group))
    throw patchRefusal('kinds defined by a CustomResourceDefinition do not support it')
  const mergesList = kind.builtIn ? (field: string) => mergedLists.includes(field) : mayMergeList
  const schema = kind.builtIn ? withMetadataLists(kind.schema) : undefined
  const listField = mergesByKey(patch, { path: '', schema }, mergesList)
  if (listField !== undefined)
    throw patchRefusal(`it is supported only where it equals a JSON merge patch, and ${listField} is not such a field`)
  return patch
}

function patchRefusal(why: string): OperatingError {
  return new OperatingError(
    'UNSUPPORTED_MEDIA_TYPE',
    `the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml; ` +
      `application/strategic-merge-patch+json: ${why}; use kubectl patch --type=merge or kubectl apply --server-side`,
  )
}

/** Lists of the built-in kinds that a strategic patch merges; it replaces all others. */
const mergedLists: readonly string[] = [
  'metadata.finalizers',
  'metadata.ownerReferences',
  'metadata.managedFields',
  'status.conditions',
]

/** A definition does not say which lists the client takes to merge by key: lists of values such as arguments do not. */
function mayMergeList(field: string, value: Json | undefined): boolean {
  return mergedLists.includes(field) || (Array.isArray(value) && value.some(isObject))
}

type MergesList = (field: string, value: Json | undefined) => boolean

interface Part {
  readonly path: string
  /** Of a built-in kind: its lists with keys merge as kubectl takes them to. */
  readonly schema: StructuralSchema | undefined
}

function mergesByKey(value: Json | undefined, { path, schema }: Part, mergesList: MergesList): string | undefined {
  if (!isObject(value)) return undefined
  for (const name in value) {
    const field = path === '' ? name : `${path}.${name}`
    const inner = schema?.properties?.[name]
    const isKeyed = isMergedTexts(inner) || (mergeKeyOf(inner) !== undefined && field !== 'status.conditions')
    if (isOrder(name, schema)) continue
    if (name.startsWith('$') || (!isKeyed && value[name] !== null && mergesList(field, value[name]))) return field
    const parts = isKeyed && Array.isArray(value[name]) ? value[name].map(withoutDeletion) : [value[name]]
    const below = { path: field, schema: isKeyed ? inner?.items : inner }
    const found = parts.map((part) => mergesByKey(part, below, mergesList)).find((one) => one !== undefined)
    if (found !== undefined) return found
  }
  return undefined
}

/** The order of a list that merges, or what goes of it. */
function isOrder(name: string, schema: StructuralSchema | undefined): boolean {
  const of = (prefix: string): StructuralSchema | undefined =>
    name.startsWith(prefix) ? schema?.properties?.[name.slice(prefix.length)] : undefined
  const ordered = of(orderPrefix)
  return mergeKeyOf(ordered) !== undefined || isMergedTexts(ordered) || isMergedTexts(of(removalPrefix))
}

function withoutDeletion(item: Json): Json {
  if (!isObject(item) || item['$patch'] !== 'delete') return item
  const { $patch: _, ...rest } = item
  return rest
}
