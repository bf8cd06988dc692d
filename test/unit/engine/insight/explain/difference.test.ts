import { expect, it } from 'vitest'
import { findFieldDifferences } from '../../../../../shared/engine/insight/explain/difference.ts'

it.each([
  { because: 'they agree', spec: { size: 1 }, status: { size: 1 }, found: [] },
  { because: 'only one of them speaks of it', spec: { size: 1 }, status: { phase: 'Up' }, found: [] },
  {
    because: 'a value is another',
    spec: { size: 2 },
    status: { size: 1 },
    found: [{ path: 'size', spec: 2, status: 1 }],
  },
  {
    because: 'it lies deeper',
    spec: { a: { b: 1, c: 2 } },
    status: { a: { b: 1, c: 3 } },
    found: [{ path: 'a.c', spec: 2, status: 3 }],
  },
  {
    because: 'a list is one value',
    spec: { zones: ['a', 'b'] },
    status: { zones: ['a'] },
    found: [{ path: 'zones', spec: ['a', 'b'], status: ['a'] }],
  },
  {
    because: 'one of them says more of it',
    spec: { a: { b: 1 } },
    status: { a: 5 },
    found: [{ path: 'a', spec: { b: 1 }, status: 5 }],
  },
])('spec and status differ in $found when $because', ({ spec, status, found }) => {
  expect(findFieldDifferences(spec, status)).toEqual(found)
})
