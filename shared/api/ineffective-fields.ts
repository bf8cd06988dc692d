import { findIneffectiveAnnotations } from '../model/control-annotations.ts'
import type { ApiObject } from '../model/object.ts'

/**
 * What was stored and does nothing, or not what its words say: warnings to its writer, who would learn it from nothing
 * else at once.
 */
export function findIneffectiveFields(object: ApiObject): readonly string[] {
  return object.metadata.annotations === undefined ? [] : findIneffectiveAnnotations(object)
}
