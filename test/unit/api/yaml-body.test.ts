/** YAML that would keep the parser busy for minutes, and YAML that says two things at once. */
import { describe, expect, it } from 'vitest'
import { yamlValue } from '../../../shared/api/yaml-body.ts'

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n')

describe('YAML', () => {
  it('of many keys is read before anybody gives up', () => {
    expect(Object.keys(yamlValue(lines(1_800, (i) => `key${i}: 1`)) as object)).toHaveLength(1_800)
  })

  const refused = [
    {
      text: 'a: 1\nb:\n  c: 1\n  c: 2\n',
      message: 'Map keys must be unique at line 4, column 3',
      because: 'of a key twice',
    },
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
    expect(() => yamlValue(text)).toThrow(message)
  })

  it('has aliases', () => {
    expect(yamlValue('a: &a {x: 1}\nb: *a\n')).toEqual({ a: { x: 1 }, b: { x: 1 } })
  })
})
