import { expect, it } from 'vitest'
import { deprecationOf } from '../../../shared/model/crd/deprecation.ts'
import type { CustomResourceDefinition } from '../../../shared/model/custom-resource-definition.ts'

type Version = CustomResourceDefinition['spec']['versions'][number]

function adviceFor(name: string, others: readonly (string | Partial<Version>)[]): string | undefined {
  const version = (one: string | Partial<Version>) => ({
    served: true,
    ...(typeof one === 'string' ? { name: one } : one),
  })
  const deprecated = version({ name, deprecated: true }) as Version
  const spec = { group: 'a.dev', names: { kind: 'K' }, versions: [deprecated, ...others.map(version)] }
  return deprecationOf(spec as unknown as CustomResourceDefinition['spec'], deprecated)
    ?.replace('a.dev/', '')
    .split('; ')[1]
}

it.each([
  ['v1', ['v2'], 'use a.dev/v2 K'],
  ['v1', ['v2', 'v3'], 'use a.dev/v3 K'],
  ['v1beta1', ['v1'], 'use a.dev/v1 K'],
  ['v1alpha1', ['v1beta1'], 'use a.dev/v1beta1 K'],
  ['v1beta1', ['v1beta2'], 'use a.dev/v1beta2 K'],
  ['v2', ['v1'], undefined],
  ['v1', ['v2beta1'], undefined],
  ['v1', ['other'], undefined],
  ['other', ['v1alpha1'], 'use a.dev/v1alpha1 K'],
  ['b', ['a'], 'use a.dev/a K'],
  ['a', ['b'], undefined],
  ['v1', [{ name: 'v2', served: false }], undefined],
  ['v1', [{ name: 'v2', deprecated: true }], undefined],
  ['v10', ['v9'], undefined],
  ['v1', ['v9', 'v10'], 'use a.dev/v10 K'],
  ['v1', ['v10', 'v9'], 'use a.dev/v10 K'],
  ['v1beta9', ['v1beta10'], 'use a.dev/v1beta10 K'],
  ['v2beta1', ['v1beta9'], undefined],
  ['v1beta9', ['v2beta1'], 'use a.dev/v2beta1 K'],
  ['v2alpha1', ['v1beta1'], 'use a.dev/v1beta1 K'],
  ['v1alpha1', ['v0'], 'use a.dev/v0 K'],
  ['d', ['a', 'b', 'c'], 'use a.dev/a K'],
  ['d', ['c', 'b', 'a'], 'use a.dev/a K'],
  ['d', ['b', 'c', 'a'], 'use a.dev/a K'],
])('who uses %s, which is deprecated beside %j, is told: %s', (name, others, advice) => {
  expect(adviceFor(name, others)).toBe(advice)
})

it.each<[Partial<Version>, string | undefined]>([
  [{}, undefined],
  [{ deprecated: false }, undefined],
  [{ deprecationWarning: 'old' }, undefined],
  [{ deprecated: true, deprecationWarning: 'old' }, 'old'],
  [{ deprecated: true, deprecationWarning: '' }, ''],
  [{ deprecated: true }, 'a.dev/v1 K is deprecated'],
])('who uses a version with %j is told: %s', (more, warning) => {
  const version = { name: 'v1', served: true, storage: true, ...more }
  const spec = { group: 'a.dev', names: { kind: 'K', plural: 'ks' }, scope: 'Cluster', versions: [version] } as const
  expect(deprecationOf(spec, version)).toBe(warning)
})
