/** YAML that would keep the parser busy for minutes, and YAML that says two things at once. */
import { describe, expect, it } from 'vitest'
import { keepExactly } from '../../../shared/api/exact-numbers.ts'
import { readYaml } from '../../../shared/api/yaml-body.ts'

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n')

describe('YAML', () => {
  it('of many keys is read before anybody gives up', () => {
    expect(Object.keys(readYaml(lines(1_800, (i) => `key${i}: 1`)).value as object)).toHaveLength(1_800)
  })

  const refused = [
    { text: 'a: [1\n', message: 'at line 2, column 1', because: 'that does not end' },
    {
      text: `a: [${','.repeat(5_900)}]`,
      message: 'there is an unexpected token at line 1, column 6',
      because: 'of errors',
    },
    {
      text: lines(1_000, (i) => `- &a${i} x\n- *a${i}`),
      message: 'There are more than 100 aliases',
      because: 'of aliases',
    },
    { text: `a: ${'x'.repeat(20_480)}`, message: 'send it as JSON', because: 'of more than twenty kibibytes' },
    { text: '['.repeat(6_000), message: 'the text is nested too deeply', because: 'of endless depth' },
  ]
  it.each(refused)('$because is refused', ({ text, message }) => {
    expect(() => readYaml(text)).toThrow(message)
  })

  it('that says a key twice means the last of them, and says so', () => {
    expect(readYaml('a: 1\nb:\n  c: 1\n  c: 2\na: 3\n')).toEqual({
      value: { a: 3, b: { c: 2 } },
      faults: ['yaml: line 5: key "a" already set in map', 'yaml: line 4: key "c" already set in map'],
    })
    const ofTwoLines = '? "a\n  b"\n: 1\n'
    expect(readYaml(ofTwoLines + ofTwoLines).faults).toEqual(['yaml: line 4: key "a b" already set in map'])
    expect(readYaml(lines(1_800, () => 'a: 1')).faults).toHaveLength(100)
  })

  const words = [true, true, true, true, false, false, false, false, 'yEs']
  const texts = ['.', '1e', '0o8', '0x', '12:30', '1.2.3', '_1']
  it.each<readonly [string, string, unknown]>([
    ['a number that a double holds', 'a: 12', { a: 12 }],
    ['a number as a key', '1: 2', { '1': 2 }],
    ['bytes of a tag, as they are written', 'a: !!binary aGk=', { a: 'aGk=' }],
    ['a date', 'a: 2001-01-01', { a: '2001-01-01' }],
    ['a date of a tag, as it is written', 'a: !!timestamp 2001-01-01', { a: '2001-01-01' }],
    ['a set of a tag, as a map', 'a: !!set {x, z}', { a: { x: null, z: null } }],
    ['pairs of a tag, as a list', 'a: !!pairs [x: 1, x: 2]', { a: [{ x: 1 }, { x: 2 }] }],
    ['nothing', '', null],
    ['words for yes and no, as kubectl reads them', 'a: [y, yes, On, TRUE, n, No, OFF, false, yEs]', { a: words }],
    ['the same words in quotes', 'a: [\'yes\', "no", !!str on]', { a: ['yes', 'no', 'on'] }],
    [
      'numbers to other bases',
      'a: [0644, -0644, 0o644, 0x1F, -0b11, 0B1, 08, 00]',
      { a: [420, -420, 420, 31, -3, 1, 8, 0] },
    ],
    ['digits in groups', 'a: [1_000, 0_7, 1_0.5_0, 1e1_0]', { a: [1000, 7, 10.5, 1e10] }],
    ['fractions', 'a: [.5, -.5, +.5, 1., 1.5e3, 1e-7]', { a: [0.5, -0.5, 0.5, 1, 1500, 1e-7] }],
    ['what looks like numbers and is none', 'a: [., 1e, 0o8, 0x, 12:30, 1.2.3, _1]', { a: texts }],
    ['words and numbers as keys', 'yes: 1\n0644: 2\n', { true: 1, '420': 2 }],
    ['nothing in many words', 'a: [~, null, Null, NULL]\nb:', { a: [null, null, null, null], b: null }],
    ['what a map is merged of', 'a: &a {x: 1, z: 1}\nb: {<<: *a, z: 2}', { a: { x: 1, z: 1 }, b: { x: 1, z: 2 } }],
    [
      'what it is merged of, in a list',
      'a: &a {x: 1}\nb: {<<: [*a, {x: 2, w: 3}]}',
      { a: { x: 1 }, b: { x: 1, w: 3 } },
    ],
    [
      'merged of what is merged',
      'a: &a {x: 1}\nb: &b {<<: *a}\nc: {<<: *b}',
      { a: { x: 1 }, b: { x: 1 }, c: { x: 1 } },
    ],
    ['a key of that name in quotes', 'a: {"<<": 1}', { a: { '<<': 1 } }],
    ['two hundred levels on one line', `${'- '.repeat(200)}x`, deep(200)],
    ['as many characters as it may have', `a: ${'x'.repeat(20_477)}`, { a: 'x'.repeat(20_477) }],
    ['as many marks as it may have', `[${'1,'.repeat(5_998)}]`, Array.from({ length: 5_998 }, () => 1)],
    [
      'six thousand values, and as many that are merged',
      `${merged(156, 16)}\nc: [${'1,'.repeat(5_500)}]`,
      expect.anything(),
    ],
    ['merged of ten thousand values', merged(312, 16), expect.anything()],
    ['a hundred aliases of one value', `- &a x\n${lines(100, () => '- *a')}`, Array.from({ length: 101 }, () => 'x')],
    ['a hundred aliases', aliases(100), Array.from({ length: 200 }, (_, i) => `${i >> 1}`)],
  ])('may be %s', (_, text, value) => {
    expect(readYaml(text)).toEqual({ value, faults: [] })
  })

  function aliases(count: number): string {
    return lines(count, (i) => `- &a${i} "${i}"\n- *a${i}`)
  }

  function keys(count: number): string {
    return Array.from({ length: count }, (_, i) => `k${i}: 1`).join(', ')
  }

  /** So many times a map of so many keys: it has twice as many values, and is one itself. */
  function merged(count: number, times: number): string {
    return `a: &a {${keys(count)}}\nb:\n${lines(times, () => '- <<: *a')}`
  }

  /** Each is ten of the one before. */
  function mergedOfMerged(levels: number): string {
    const ten = (name: string): string => Array.from({ length: 10 }, () => `*${name}`).join(', ')
    return `x0: &x0 {k: v}\n${lines(levels, (i) => `x${i + 1}: &x${i + 1} {<<: [${ten(`x${i}`)}]}`)}`
  }

  function deep(levels: number): unknown {
    return levels === 0 ? 'x' : [deep(levels - 1)]
  }

  it.each<readonly [string, string, string]>([
    ['one character more', `a: ${'x'.repeat(20_478)}`, 'YAML of more than 20480 characters is not taken'],
    ['one more mark', `[${'1,'.repeat(5_999)}]`, 'YAML with more than 6000 line ends, commas, colons'],
    ['one more line', '\n'.repeat(6_001), 'YAML with more than 6000 line ends, commas, colons'],
    ['one more level on a line', `${'- '.repeat(201)}x`, 'there are more than 200 levels on one line'],
    ['one more alias', `a: &a x\nb:\n- ${'*a\n- '.repeat(100)}*a`, 'more than 100 aliases at line 103, column 3'],
    [
      'ten aliases of nine aliases',
      'a: &a x\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n',
      'aliases of aliases stand for more than 100 values',
    ],
    [
      'five aliases of sixteen',
      `- &a x\n- &b [${'*a, '.repeat(16)}]\n- [${'*b, '.repeat(5)}]`,
      'aliases of aliases stand for more than 100 values',
    ],
    ['an alias of nothing', 'a: *b', 'an alias stands for nothing above it'],
    ['merged of what is no map', 'a: {<<: 5}', 'Merge sources must be maps or map aliases'],
    ['merged of itself', 'a: &a {<<: *a}', 'maps that are merged by << stand for more than 10000 values'],
    ['merged of one value more', merged(68, 73), 'stand for more than 10000 values'],
    ['merged of much', merged(100, 50), 'stand for more than 10000 values'],
    ['merged of what is merged of much', mergedOfMerged(9), 'stand for more than 10000 values'],
    ['a list as a key', 'b: 1\n? [1]\n: 2', 'A map key must be a plain value at line 2, column 3'],
    ['an alias of a list as a key', 'a: &a [1]\n*a : 2', 'A map key must be a plain value at line 1, column 7'],
    ['two documents', 'a: 1\n---\nb: 2', 'there is more than one document'],
  ])('may not be %s', (_, text, message) => {
    expect(() => readYaml(text)).toThrow(message)
  })

  it('leaves errors their stacks when it has read what is wrong', () => {
    const { stackTraceLimit } = Error
    expect(() => readYaml('a: [1')).toThrow('at line 1')
    expect(Error.stackTraceLimit).toBe(stackTraceLimit)
  })

  it('may have bounds of numbers without end, above and below', () => {
    const schema = 'x: {minimum: -.inf, maximum: .inf}'
    const kept = keepExactly(readYaml(`spec: {versions: [{schema: {${schema}}}]}`).value)
    expect(kept).toEqual({ spec: { versions: [{ schema: { x: { minimum: -Infinity, maximum: Infinity } } }] } })
  })

  it('has aliases', () => {
    expect(readYaml('a: &a {x: 1}\nb: *a\n').value).toEqual({ a: { x: 1 }, b: { x: 1 } })
  })
})
