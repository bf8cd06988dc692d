import type { CustomResourceDefinition } from '../../model/custom-resource-definition.ts'
import type { Kind } from '../kind.ts'

/**
 * The kind without its schema: an object that does not fit that is read as it is stored, and hides no other one. For
 * who asks for the metadata and the conditions alone.
 */
export function asStored({ group, version, kind, namespaced }: Kind): Kind {
  const definition: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.toLowerCase()}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, plural: kind.toLowerCase() },
      versions: [{ name: version, served: true, storage: true }],
    },
  }
  return { group, version, kind, namespaced, definition }
}
