import { describe, expect, it } from 'vitest'
import { nearestTests } from './nearest-tests.ts'

describe('the tests that judge a mutant', () => {
  const imports: Readonly<Record<string, readonly string[]>> = {
    'shared/model/json.ts': [],
    'shared/model/object.ts': ['shared/model/json.ts'],
    'shared/api/api.ts': ['shared/model/object.ts', 'shared/model/json.ts'],
    'test/unit/model/json.test.ts': ['shared/model/json.ts'],
    'test/unit/api/api.test.ts': ['shared/api/api.ts'],
    'test/contract/api.test.ts': ['shared/api/api.ts'],
    'test/e2e/api.test.ts': ['shared/api/api.ts'],
    'test/unit/other.test.ts': [],
  }
  const graph = new Map(Object.entries(imports))

  it.each([
    ['the nearest first', 'shared/model/json.ts', ['unit/model/json', 'unit/api/api', 'contract/api']],
    ['by way of others', 'shared/model/object.ts', ['unit/api/api', 'contract/api']],
    ['of equally near ones the likest first', 'shared/api/api.ts', ['unit/api/api', 'contract/api']],
    ['none', 'shared/none.ts', []],
  ])('are those that reach its file: %s', (_what, path, names) => {
    expect(nearestTests(path, graph)).toEqual(names.map((name) => `test/${name}.test.ts`))
  })
})
