import { expect, it } from 'vitest'
import { asStored } from '../../../../shared/reconciler/canary/as-stored.ts'
import type { Kind } from '../../../../shared/reconciler/kind.ts'

it.each([
  [true, 'Namespaced'],
  [false, 'Cluster'],
])('a kind without its schema (namespaced: %j) has its names, its scope and its one version', (namespaced, scope) => {
  const kind = { group: 'test.dev', version: 'v2', kind: 'Page', namespaced }
  expect(asStored({ ...kind, definition: { spec: 'another' } } as unknown as Kind)).toEqual({
    ...kind,
    definition: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'page.test.dev' },
      spec: {
        group: 'test.dev',
        scope,
        names: { kind: 'Page', plural: 'page' },
        versions: [{ name: 'v2', served: true, storage: true }],
      },
    },
  })
})
