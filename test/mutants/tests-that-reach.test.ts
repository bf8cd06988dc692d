import { describe, expect, it } from 'vitest'
import { testsThatReach } from './tests-that-reach.ts'

describe('the tests that judge a mutant', () => {
  const imports: Readonly<Record<string, readonly string[]>> = {
    'shared/model/json.ts': [],
    'shared/model/object.ts': ['shared/model/json.ts'],
    'shared/api/api.ts': ['shared/model/object.ts'],
    'test/unit/model/json.test.ts': ['shared/model/json.ts'],
    'test/unit/api/api.test.ts': ['shared/api/api.ts'],
    'test/unit/api/api.long.test.ts': ['shared/api/api.ts'],
    'test/e2e/api.test.ts': ['shared/api/api.ts'],
    'test/unit/other.test.ts': [],
  }
  const graph = new Map(Object.entries(imports))

  it.each([
    ['by way of others', ['shared/model/json.ts'], ['unit/api/api', 'unit/model/json']],
    ['not what it imports', ['shared/api/api.ts'], ['unit/api/api']],
    ['any of several', ['shared/api/api.ts', 'shared/model/json.ts'], ['unit/api/api', 'unit/model/json']],
    ['none', ['shared/none.ts'], []],
  ])('are those that reach its file: %s', (_what, paths, names) => {
    expect(testsThatReach(paths, graph).toSorted()).toEqual(names.map((name) => `test/${name}.test.ts`))
  })
})
