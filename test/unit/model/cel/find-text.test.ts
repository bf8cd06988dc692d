import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findLastText, findText, splitText } from '../../../../shared/model/cel/functions/find-text.ts'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { plain } from '../../../../shared/model/cel/type.ts'
import { processorMs } from '../../../support/processor-time.ts'

describe('a text in a text', () => {
  /** Of few letters, so that much is found, and nearly found. */
  const lettersOf = (lengths: fc.StringConstraints) =>
    fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b'), ...lengths })
  const letters = lettersOf({ maxLength: 60 })
  /** Half of them so long that they are looked for in our way, and some by one letter. */
  const soughts = fc.oneof(
    letters,
    lettersOf({ minLength: 31, maxLength: 33 }),
    lettersOf({ minLength: 32, maxLength: 60 }),
  )
  const repeated = fc.tuple(letters, fc.integer({ min: 1, max: 8 })).map(([part, times]) => part.repeat(times))

  it('is found where JavaScript finds it, however long it is', () => {
    fc.assert(
      fc.property(repeated, soughts, fc.array(repeated, { maxLength: 4 }), fc.nat(150), (text, sought, more, from) => {
        const whole = [text, ...more].join(sought)
        expect(findText(whole, sought, from)).toBe(whole.indexOf(sought, from))
        expect(findLastText(whole, sought, from)).toBe(whole.lastIndexOf(sought, from))
        expect(splitText(whole, sought)).toEqual(whole.split(sought))
      }),
      { numRuns: 500 },
    )
  })

  it('is found where it lies in itself, and parts a text from left to right', () => {
    for (const part of ['a', 'ab', 'aab']) {
      const [whole, sought] = [part.repeat(65), part.repeat(33)]
      for (const from of [0, 1, 2, 5, 60, 81, 82, 1_000]) {
        expect(findText(whole, sought, from)).toBe(whole.indexOf(sought, from))
        expect(findLastText(whole, sought, from)).toBe(whole.lastIndexOf(sought, from))
      }
      expect(splitText(whole, sought)).toEqual(whole.split(sought))
    }
  })

  it.each([
    ['a.contains(b)', false],
    ['a.indexOf(b) >= 0', false],
    ['a.lastIndexOf(b) >= 0', false],
    ['a.split(b).size() > 1', false],
    ['a.replace(b, "") != a', false],
    ['(a + b + a).contains(b)', true],
  ])('of hundreds of thousands of letters, each of which nearly fits, is looked for at once: %s', (rule, holds) => {
    const program = compileExpression(rule, { a: plain.string, b: plain.string }, ['bool'])
    if ('fault' in program) throw new Error(program.fault)
    const half = 'a'.repeat(40_000)
    for (const sought of [`${half}b${half}`, `b${half}${half}`, `${half}${half}b`]) {
      const values = ['a'.repeat(250_000), sought]
      const tookMs = processorMs(() => expect(program.run(values, new Meter(1_000_000))).toBe(holds))
      expect(tookMs).toBeLessThan(100)
    }
  })
})
