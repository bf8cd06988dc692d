import { skipOwnerReferences } from './apply/sole-writer.ts'
import type { ApiObject } from './object.ts'
import type { ServedKind } from './served-kind.ts'

/**
 * The JSON of an object, or of what holds it behind plain values, without its generation if objects of this kind have
 * none in Kubernetes. A number without quotes behind this name stands in metadata, or behind it.
 */
export function hideGeneration(text: string, kind: ServedKind, object: ApiObject): string {
  if (kind.hidesGeneration === undefined) return text
  const field = `,"generation":${object.metadata.generation}`
  const at = text.indexOf(field, skipOwnerReferences(text, object, 'generation'))
  return at < 0 ? text : text.slice(0, at) + text.slice(at + field.length)
}
