import { expect, it } from 'vitest'
import { ConfigMap, Namespace, Secret } from '../../../shared/index.ts'

it.each([
  [Secret, { group: '', version: 'v1', kind: 'Secret', namespaced: true }],
  [ConfigMap, { group: '', version: 'v1', kind: 'ConfigMap', namespaced: true }],
  [Namespace, { group: '', version: 'v1', kind: 'Namespace', namespaced: false }],
])('$kind is as Kubernetes has it', (kind, is) => {
  expect(kind).toEqual(is)
})
