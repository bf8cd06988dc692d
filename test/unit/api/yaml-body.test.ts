/** YAML that would keep the parser busy for minutes, and YAML that says two things at once. */
import { describe, expect, it } from 'vitest'
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
      text: `a: [${','.repeat(15_000)}]`,
      message: 'Unexpected , in flow sequence at line 1, column 6',
      because: 'of errors',
    },
    {
      text: lines(1_000, (i) => `- &a${i} x\n- *a${i}`),
      message: 'There are more than 100 aliases',
      because: 'of aliases',
    },
    { text: `a: ${'x'.repeat(20_480)}`, message: 'send it as JSON', because: 'of more than twenty kibibytes' },
    { text: '['.repeat(20_000), message: 'Maximum call stack', because: 'of endless depth' },
  ]
  it.each(refused)('$because is refused', ({ text, message }) => {
    expect(() => readYaml(text)).toThrow(message)
  })

  it('that says a key twice means the last of them, and says so', () => {
    expect(readYaml('a: 1\nb:\n  c: 1\n  c: 2\na: 3\n')).toEqual({
      value: { a: 3, b: { c: 2 } },
      faults: ['yaml: line 5: key "a" already set in map', 'yaml: line 4: key "c" already set in map'],
    })
    expect(readYaml(lines(1_800, () => 'a: 1')).faults).toHaveLength(100)
  })

  it.each<readonly [string, string, unknown]>([
    ['a number that a double holds', 'a: 12', { a: 12 }],
    ['a number as a key', '1: 2', { '1': 2 }],
    ['bytes of a tag, as they are written', 'a: !!binary aGk=', { a: 'aGk=' }],
    ['a date', 'a: 2001-01-01', { a: '2001-01-01' }],
    ['nothing', '', null],
    ['two hundred levels on one line', `${'- '.repeat(200)}x`, deep(200)],
    ['as many characters as it may have', `a: ${'x'.repeat(20_477)}`, { a: 'x'.repeat(20_477) }],
    ['a hundred aliases of one value', `- &a x\n${lines(100, () => '- *a')}`, Array.from({ length: 101 }, () => 'x')],
    ['a hundred aliases', aliases(100), Array.from({ length: 200 }, (_, i) => `${i >> 1}`)],
  ])('may be %s', (_, text, value) => {
    expect(readYaml(text)).toEqual({ value, faults: [] })
  })

  function aliases(count: number): string {
    return lines(count, (i) => `- &a${i} "${i}"\n- *a${i}`)
  }

  function deep(levels: number): unknown {
    return levels === 0 ? 'x' : [deep(levels - 1)]
  }

  it.each<readonly [string, string, string]>([
    ['one character more', `a: ${'x'.repeat(20_478)}`, 'YAML of more than 20480 characters is not taken'],
    ['one more level on a line', `${'- '.repeat(201)}x`, 'there are more than 200 levels on one line'],
    ['one more alias', `a: &a x\nb:\n- ${'*a\n- '.repeat(100)}*a`, 'more than 100 aliases at line 103, column 3'],
    [
      'ten aliases of nine aliases',
      'a: &a x\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\n',
      'aliases of aliases stand for more than 100 values',
    ],
    ['an alias of nothing', 'a: *b', 'Unresolved alias'],
    ['a list as a key', 'b: 1\n? [1]\n: 2', 'A map key must be a plain value at line 2, column 3'],
    ['an alias of a list as a key', 'a: &a [1]\n*a : 2', 'A map key must be a plain value at line 1, column 7'],
    ['two documents', 'a: 1\n---\nb: 2', 'Source contains multiple documents'],
  ])('may not be %s', (_, text, message) => {
    expect(() => readYaml(text)).toThrow(message)
  })

  it('leaves errors their stacks when it has read what is wrong', () => {
    const { stackTraceLimit } = Error
    expect(() => readYaml('a: [1')).toThrow('at line 1')
    expect(Error.stackTraceLimit).toBe(stackTraceLimit)
  })

  it('has aliases', () => {
    expect(readYaml('a: &a {x: 1}\nb: *a\n').value).toEqual({ a: { x: 1 }, b: { x: 1 } })
  })
})
