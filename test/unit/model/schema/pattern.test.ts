import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { compilePattern, compileStepsOf } from '../../../../shared/model/schema/pattern.ts'
import { validate } from '../../../../shared/model/schema/validate.ts'
import { processorMs, slowness } from '../../../support/processor-time.ts'
import { least, share } from '../../../support/strength.ts'

describe('compilePattern', () => {
  it('takes time in proportion to the text, where backtracking would take forever', () => {
    const tookMs = processorMs(() => {
      for (const source of ['^(a+)+$', '^(a|a)*$', '^(a|ab|aab)*c$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$'])
        expect(compilePattern(source).matches(`${'a'.repeat(100_000)}!`)).toBe(false)
    })
    expect(tookMs).toBeLessThan(2_000)
  })

  const refused = [
    { source: '(', because: 'it does not parse' },
    { source: 'a(?=b)', because: 'RE2 has no lookahead' },
    { source: '(?<=a)b', because: 'RE2 has no lookbehind' },
    { source: '(a)\\1', because: 'RE2 has no back references' },
    { source: 'a{1001}', because: 'RE2 repeats a thousand times at most' },
    { source: '(a{100}){100}', because: 'repetitions multiply' },
    { source: 'a{1000}'.repeat(6), because: 'repetitions add up' },
    { source: `(${'[^a-z]'.repeat(6)}){1000}`, because: 'classes count as one character each' },
    { source: `(?:${'a'.repeat(60)}){90,}`, because: 'an open repetition counts its least' },
    { source: '('.repeat(5_000), because: 'it nests too deeply' },
    { source: '['.repeat(20_000), because: 'it is too long' },
    { source: '()'.repeat(60).concat('(){1000}'.repeat(6)), because: 'empty groups count as one character each' },
    { source: `(?:${'a'.repeat(60)}\\Q(\\E){100}`, because: 'a parenthesis that is quoted opens nothing' },
    { source: `(?:${'a'.repeat(60)}[[:alpha:](]){100}`, because: 'a parenthesis in a class opens nothing' },
    { source: `\\pL{1000}${'\\x{41}{1000}'.repeat(5)}`, because: 'escapes count as one character each' },
  ]

  it.each(refused)('refuses $source, because $because', ({ source }) => {
    const tookMs = processorMs(() =>
      expect(() => compilePattern(source)).toThrow(/error parsing regexp|unrolls to more than|has more than/),
    )
    expect(tookMs).toBeLessThan(500)
  })

  const taken = [
    { source: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', because: 'a bounded name is ordinary' },
    { source: '^([a-z]{1,63}\\.){1,4}$', because: 'a few hundred steps are ordinary' },
    { source: '[]a{1000}]{1000}', because: 'braces inside a class repeat nothing' },
    { source: '\\{1000\\}'.repeat(10), because: 'escaped braces repeat nothing' },
    { source: '(?P<name>a)(?i:B)', because: 'groups have names and flags' },
  ]

  it.each(taken)('takes $source, because $because', ({ source }) => {
    expect(() => compilePattern(source)).not.toThrow()
  })
})

/** Instructions of the program that RE2JS made; it keeps them to itself. */
function instructionsOf(source: string): number {
  const { re2Input } = RE2JS.compile(source) as unknown as { re2Input: { prog: { inst: readonly unknown[] } } }
  return re2Input.prog.inst.length
}

describe('what a pattern unrolls to', () => {
  const atom = fc.constantFrom(
    'a',
    '()',
    '(?:)',
    '[(]',
    '[[:alpha:](]',
    '\\Q(a)\\E',
    '\\Q)',
    '[]{9}]',
    '\\{9\\}',
    '\\(',
    '|',
    '^',
    '\\pL',
  )
  const times = fc.constantFrom('', '*', '?', '{3}', '{0,3}', '{2,}')
  const { source } = fc.letrec<{ source: string }>((tie) => ({
    source: fc
      .array(
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.tuple(atom, times).map((parts) => parts.join('')),
          fc.tuple(tie('source'), times).map(([inner, count]) => `(${inner})${count}`),
        ),
        { minLength: 1, maxLength: 5 },
      )
      .map((parts) => parts.join('')),
  }))

  it('is no less than a sixth of what RE2 makes of it', () => {
    let compiled = 0
    fc.assert(
      fc.property(source, (written) => {
        let instructions: number
        try {
          instructions = instructionsOf(written)
        } catch {
          return
        }
        compiled++
        // Besides what begins and ends each program.
        expect(instructions).toBeLessThanOrEqual(10 + 6 * compilePattern(written).stepsPerCharacter)
      }),
      { numRuns: 2_000 },
    )
    expect(compiled).toBeGreaterThan(500)
  })
})

describe('what it costs to compile a pattern', () => {
  it.each([
    ['a', 860],
    ['a{1000}', 150_770],
    ['(){1000}', 150_780],
    ['[ab][cd]', 1_480],
    ['\\p{L}\\PN', 6_230],
    ['a'.repeat(10_001), 100_710],
    ['(?:a{1000}){1000}', 870],
  ])('%s is known before it is compiled', (source, steps) => {
    expect(compileStepsOf(source)).toBe(steps)
  })

  it('is no less than it takes', () => {
    const hardest = [
      (i: number) => `(?:ab|cd){240}${i}`,
      (i: number) => `${'(){1000}'.repeat(4)}${i}`,
      (i: number) => `(?i)${'[a-z]'.repeat(1_000)}${i}`,
      (i: number) => `(?i)${'[\\p{L}\\p{N}]'.repeat(100)}${i}`,
      (i: number) => `${'(?:a*|b)*'.repeat(400)}${i}`,
      (i: number) => `a{0,1000}${i}`,
      (i: number) => `^[a-z]+${i}$`,
    ]
    for (const make of hardest) {
      const sources = Array.from({ length: Math.ceil(1_000_000 / compileStepsOf(make(10))) }, (_, i) => make(i + 10))
      const slow = slowness()
      const tookMs = processorMs(() => {
        for (const source of sources) compilePattern(source)
      })
      // A million steps are thirty milliseconds; the first ones of a process take longer.
      expect({ source: make(0), isSlow: tookMs / slow > 90 }).toEqual({ source: make(0), isSlow: false })
    }
  })

  it('is spent once', () => {
    const source = `(?:ab|cd){200}${Math.PI}`
    expect(compilePattern(source)).toBe(compilePattern(source))
  })

  it('is spent again for what was compiled long ago', () => {
    const first = compilePattern('long ago')
    for (let i = 0; i < 40; i++) compilePattern(`${'(?:a{1000})'.repeat(3)}${i}`)
    expect(compilePattern('long ago')).not.toBe(first)
  })
})

describe('a pattern that the faster engine may take', () => {
  const atoms = ['a', 'b', '[ab]', '[^a]', '[a-c]', '\\.', '\\d', '\\w', ':', '[-a.]', '\\]', '[^\\n]', '[\\]a]']
  const quantified = fc.tuple(fc.constantFrom(...atoms), fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '*?'))
  const sequence = fc
    .array(
      quantified.map((parts) => parts.join('')),
      { maxLength: 4 },
    )
    .map((parts) => parts.join(''))
  const group = fc
    .tuple(fc.constantFrom('(', '(?:', '(?i:', '(?P<n>'), sequence, sequence, fc.constantFrom('', '?', '*', '+', '{2}'))
    .map(([open, left, right, times]) => `${open}${left}|${right})${times}`)
  const source = fc
    .tuple(
      fc.constantFrom('^', '^', '^', ''),
      fc.array(fc.oneof(sequence, group), { maxLength: 4 }),
      fc.constantFrom('$', ''),
    )
    .map(([start, parts, end]) => `${start}${parts.join('')}${end}`)
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 'c', '1', '.', ':', ']', '\n', 'A', '\u{1d4b3}', '\u2028'),
    maxLength: 8,
  })

  it('means what it means to RE2', () => {
    const answers = { true: 0, false: 0 }
    fc.assert(
      fc.property(source, fc.array(text, { minLength: 1, maxLength: 10 }), (written, texts) => {
        fc.pre(isTaken(written))
        const expression = RE2JS.compile(written)
        const pattern = compilePattern(written)
        for (const one of texts) {
          const matches = expression.test(one)
          expect({ written, one, matches: pattern.matches(one) }).toEqual({ written, one, matches })
          answers[`${matches}`]++
        }
      }),
      { numRuns: share(2_000) },
    )
    expect(Math.min(answers.true, answers.false)).toBeGreaterThanOrEqual(least(500))
  })

  it('takes time in proportion to the text, whatever pattern it is', () => {
    const rest = fc.constantFrom('', 'b', '!', 'a!', ':', 'a:')
    fc.assert(
      fc.property(source, fc.constantFrom('a', 'b', 'ab', 'a.', 'ab:'), rest, (written, unit, end) => {
        fc.pre(isTaken(written))
        const { matches } = compilePattern(written)
        expect(processorMs(() => matches(`${unit.repeat(3_000)}${end}`))).toBeLessThan(1_000)
      }),
      { numRuns: share(1_000) },
    )
  })
})

function isTaken(source: string): boolean {
  try {
    compilePattern(source)
    return true
  } catch {
    return false
  }
}

describe('validate with patterns', () => {
  it('gives up on an object that makes too much work, and says how to help', () => {
    const schema = { type: 'array', items: { type: 'string', pattern: '(?:a?){1000}a{1000}' } } as const
    const texts = Array.from({ length: 50 }, () => 'a'.repeat(10_000))
    const tookMs = processorMs(() =>
      expect(validate(schema, texts, { path: 'spec.texts' }).at(-1)?.message).toContain(
        'is too long to be matched against its pattern; give the field a maxLength',
      ),
    )
    expect(tookMs).toBeLessThan(5_000)
  })

  it('does not give up on an ordinary object of the largest size', () => {
    const schema = { type: 'array', items: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' } } as const
    const names = Array.from({ length: 35_000 }, (_, i) => `name-${i}`)
    expect(validate(schema, names)).toEqual([])
  })
})
