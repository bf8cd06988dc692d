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

  it('has aliases', () => {
    expect(readYaml('a: &a {x: 1}\nb: *a\n').value).toEqual({ a: { x: 1 }, b: { x: 1 } })
  })
})
