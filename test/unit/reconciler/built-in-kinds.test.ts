import { expect, it } from 'vitest'
import { ConfigMap, Namespace, Secret, type BodyOf } from '../../../shared/index.ts'

it.each([
  [Secret, { group: '', version: 'v1', kind: 'Secret', namespaced: true }],
  [ConfigMap, { group: '', version: 'v1', kind: 'ConfigMap', namespaced: true }],
  [Namespace, { group: '', version: 'v1', kind: 'Namespace', namespaced: false }],
])('$kind is as Kubernetes has it', (kind, is) => {
  expect(kind).toEqual(is)
})

it('what a reconciler may write of them is what the API takes', () => {
  const map: BodyOf<typeof ConfigMap> = { data: { a: 'b' }, binaryData: { c: 'AA==' }, immutable: true }
  const secret: BodyOf<typeof Secret> = { type: 'Opaque', data: { a: 'AA==' }, stringData: { c: 'd' }, immutable: true }
  expect([Object.keys(map), Object.keys(secret)]).toMatchObject([{ length: 3 }, { length: 4 }])
})
