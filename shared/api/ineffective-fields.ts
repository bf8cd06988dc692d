import { findIneffectiveAnnotations } from '../model/control-annotations.ts'
import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import type { ApiObject } from '../model/object.ts'
import type { ServedKind } from '../model/served-kind.ts'

/**
 * What was stored and does nothing, or not what its words say: warnings to its writer, who would learn it from nothing
 * else at once.
 */
export function findIneffectiveFields({ group, kind }: ServedKind, object: ApiObject): readonly string[] {
  const isDefinition = group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition'
  const ofDefinition = isDefinition ? findIneffectiveInDefinition(object as unknown as CustomResourceDefinition) : []
  return object.metadata.annotations === undefined
    ? ofDefinition
    : [...ofDefinition, ...findIneffectiveAnnotations(object)]
}

function findIneffectiveInDefinition({ spec }: CustomResourceDefinition): readonly string[] {
  return spec.versions.flatMap(({ schema }, i) =>
    JSON.stringify(schema ?? {}).includes('"x-kubernetes-validations":[{')
      ? [`spec.versions[${i}].schema: rules of x-kubernetes-validations are stored, but they do not run`]
      : [],
  )
}
