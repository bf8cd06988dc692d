import { describe, expect, it } from 'vitest'
import { compilePattern } from '../../../../shared/model/schema/pattern.ts'
import { validate } from '../../../../shared/model/schema/validate.ts'
import { processorMs } from '../../../support/processor-time.ts'

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
