import { expect, it } from 'vitest'
import { costlyOf, strangersIn } from './costly.ts'
import type { EndedTest } from './test-run.ts'

function ended(file: string, fullName: string, tookMs: number, state: EndedTest['state'] = 'passed'): EndedTest {
  return { file, name: fullName, fullName, state, tookMs }
}

it('a test is costly from the limit on, if it passed and says nothing of the whole tree', () => {
  const tests = [
    ended('b.test.ts', 'z', 100),
    ended('b.test.ts', 'y > a', 250),
    ended('a.test.ts', 'quick', 99),
    ended('a.test.ts', 'slow', 101),
    ended('a.test.ts', 'broken', 900, 'failed'),
    ended('c.test.ts', 'left out', 0, 'skipped'),
    ended('test/architecture/layers.test.ts', 'slow', 900),
  ]
  expect(JSON.stringify(costlyOf(tests, 100))).toBe('{"a.test.ts":["slow"],"b.test.ts":["y > a","z"]}')
})

it('a name that no test of the file has is a stranger', () => {
  const costly = { 'a.test.ts': ['gone', 'here'], 'b.test.ts': ['here'] }
  expect(strangersIn(costly, [ended('a.test.ts', 'here', 0, 'skipped')])).toEqual([
    'a.test.ts > gone',
    'b.test.ts > here',
  ])
})
