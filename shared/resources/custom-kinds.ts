import { isCondition } from '../model/conditions.ts'
import type { CustomResourceDefinition } from '../model/custom-resource-definition.ts'
import type { ApiObject } from '../model/object.ts'
import type { PrinterColumn, ServedKind } from '../model/served-kind.ts'

/**
 * The kinds a CustomResourceDefinition makes served: one per served version, the stored one first. None until it is
 * established: somebody else may have its names, and the objects that go by them.
 */
export function servedKinds(definition: CustomResourceDefinition): readonly ServedKind[] {
  if (!isCondition(definition as unknown as ApiObject, 'Established')) return []
  const { spec, status } = definition
  const { group, scope } = spec
  const names = status?.acceptedNames ?? spec.names
  const storageVersion = spec.versions.find((version) => version.storage)?.name ?? ''
  const served = spec.versions.filter((version) => version.served)
  return served
    .toSorted((a, b) => Number(b.storage) - Number(a.storage))
    .map((version) => ({
      group,
      version: version.name,
      storageVersion,
      kind: names.kind,
      listKind: names.listKind ?? `${names.kind}List`,
      plural: names.plural,
      singular: names.singular ?? names.kind.toLowerCase(),
      shortNames: names.shortNames ?? [],
      categories: names.categories ?? [],
      namespaced: scope === 'Namespaced',
      schema: version.schema?.openAPIV3Schema ?? anyObject,
      hasStatus: version.subresources?.status !== undefined,
      columns: version.additionalPrinterColumns ?? ageOnly,
      selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
      builtIn: false,
    }))
}

const anyObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const
const ageOnly: readonly PrinterColumn[] = [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }]
