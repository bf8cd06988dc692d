import { declaredAnnotationsOf } from '../../model/control-annotations.ts'
import { digest } from '../../model/digest.ts'
import type { Json } from '../../model/json.ts'
import type { ApiObject } from '../../model/object.ts'
import { canonicalJson } from '../../model/schema/canonical-json.ts'

/** Tells whether something outside has to change: of spec, labels, annotations and what the references stand for. */
export function declarationDigest({ metadata, ...object }: ApiObject, references: Json): string {
  const { labels = {}, annotations } = metadata
  const spec = (object as { readonly spec?: Json }).spec ?? null
  return digest(canonicalJson({ spec, labels, annotations: declaredAnnotationsOf(annotations), references }))
}
