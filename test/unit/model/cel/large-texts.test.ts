import { describe, expect, it } from 'vitest'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { plain } from '../../../../shared/model/cel/type.ts'
import type { Result } from '../../../../shared/model/cel/value.ts'
import { processorMs } from '../../../support/processor-time.ts'

function resultOf(rule: string, text: string): Result {
  const program = compileExpression(rule, { a: plain.string }, ['bool'])
  if ('fault' in program) throw new Error(program.fault)
  return program.run([text], new Meter(1_000_000))
}

describe('a text of an object, as large as that may be,', () => {
  const many = `[${'1, '.repeat(2_000)}1]`
  it.each([
    [
      'is a URL with values of one name',
      'url(a).getQuery()["q"].size() == 100000',
      `https://h/?${'q&'.repeat(100_000)}`,
    ],
    ['is put together again of its letters', 'a.split("").join("").size() == 250000', 'x'.repeat(250_000)],
    ['is known at once to be no network', `${many}.all(i, !isCIDR(a))`, '/'.repeat(300_000)],
  ])('%s', (_what, rule, text) => {
    expect(processorMs(() => expect(resultOf(rule, text)).toBe(true))).toBeLessThan(500)
  })
})

it('a path with half a character is escaped as the mark of what is none', () => {
  expect(resultOf('url(a).getEscapedPath() == "/%EF%BF%BD"', '/\ud800')).toBe(true)
})
