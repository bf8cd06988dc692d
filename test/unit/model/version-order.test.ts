import { expect, it } from 'vitest'
import { compareVersions } from '../../../shared/model/version-order.ts'

/** Source: Kubernetes, "Versions in CustomResourceDefinitions", version priority. */
const inOrder = [
  'v10',
  'v2',
  'v1',
  'v11beta2',
  'v10beta3',
  'v10beta2',
  'v3beta1',
  'v12alpha1',
  'v11alpha2',
  'v0alpha0',
  'foo1',
  'foo10',
  'v',
  'v1beta',
  'v1gamma1',
]

it.each(inOrder.map((version, place) => [version, place] as const))('%s has place %d', (version, place) => {
  const places = inOrder.map((other) => Math.sign(compareVersions(version, other)))
  expect(places).toEqual(inOrder.map((_, i) => Math.sign(place - i)))
})

it('versions in any order come into this one', () => {
  expect(inOrder.toReversed().toSorted(compareVersions)).toEqual(inOrder)
  expect(inOrder.toSorted().toSorted(compareVersions)).toEqual(inOrder)
})
