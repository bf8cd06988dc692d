import { describe, expect, it } from 'vitest'
import * as fieldError from '../../../../shared/model/schema/field-error.ts'

describe('field errors', () => {
  const { invalid, fieldRequired, notSupported, duplicate, forbidden, tooLong, tooMany, typeInvalid } = fieldError
  const rows = [
    { error: fieldRequired('spec.size'), message: 'Required value', because: 'there is nothing to add' },
    { error: fieldRequired('spec.size', 'say one'), message: 'Required value: say one', because: 'a detail follows' },
    {
      error: invalid('spec.n', 0, 'too small'),
      message: 'Invalid value: 0: too small',
      because: 'numbers stand plain',
    },
    {
      error: invalid('spec.n', 2 ** 40, 'x'),
      message: 'Invalid value: 1099511627776: x',
      because: 'integers are whole',
    },
    {
      error: invalid('spec.n', 1_234_567.5, 'x'),
      message: 'Invalid value: 1.2345675e+06: x',
      because: 'Go writes %v so',
    },
    {
      error: invalid('spec.n', 0.00001, 'x'),
      message: 'Invalid value: 1e-05: x',
      because: 'Go exponents have two digits',
    },
    { error: invalid('spec.b', true, 'x'), message: 'Invalid value: true: x', because: 'flags stand plain' },
    { error: invalid('spec.s', 'a"b', 'x'), message: 'Invalid value: "a\\"b": x', because: 'texts are quoted' },
    {
      error: invalid('spec.o', { b: 1, a: [] }, 'x'),
      message: 'Invalid value: {"a":[],"b":1}: x',
      because: 'objects are JSON in order',
    },
    { error: invalid('spec.z', null, 'x'), message: 'Invalid value: null: x', because: 'null is JSON' },
    {
      error: typeInvalid('spec.s', 'string', 'x'),
      message: 'Invalid value: "string": x',
      because: 'only the reason differs',
    },
    {
      error: notSupported('spec.m', 'x', ['a', 'b']),
      message: 'Unsupported value: "x": supported values: "a", "b"',
      because: 'the choice is listed',
    },
    {
      error: notSupported('spec.m', 'x', []),
      message: 'Unsupported value: "x"',
      because: 'there is no choice to list',
    },
    {
      error: duplicate('spec.l[1]', { name: 'a' }),
      message: 'Duplicate value: {"name":"a"}',
      because: 'the keys tell which',
    },
    { error: forbidden('spec.x', 'not here'), message: 'Forbidden: not here', because: 'the value does not matter' },
    {
      error: tooLong('spec.s', 3),
      message: 'Too long: may not be more than 3 bytes',
      because: 'the value is left out',
    },
    {
      error: tooMany('spec.l', 5, 3),
      message: 'Too many: 5: must have at most 3 items',
      because: 'the count is what is wrong',
    },
  ]

  it.each(rows)('say "$message", because $because', ({ error, message }) => {
    expect(error.message).toBe(message)
  })

  it('name the object itself as Kubernetes does', () => {
    expect(fieldRequired('').field).toBe('<nil>')
  })

  it('repeat only the beginning of a long value', () => {
    expect(invalid('spec.s', 'x'.repeat(100_000), 'no').message.length).toBeLessThan(1_100)
  })
})

describe('quoted', () => {
  const rows = [
    { text: 'plain ä 𝒳', quoted: '"plain ä 𝒳"', because: 'what can be printed stands as it is' },
    { text: 'a\\b', quoted: '"a\\\\b"', because: 'a backslash is doubled' },
    { text: '\n\t\v\x07', quoted: '"\\n\\t\\v\\a"', because: 'Go knows these letters' },
    { text: '\x00\x7f', quoted: '"\\x00\\x7f"', because: 'other ASCII controls have two digits' },
    { text: '\u200b\u00a0', quoted: '"\\u200b\\u00a0"', because: 'invisible characters would mislead' },
    { text: '\u{e0001}', quoted: '"\\U000e0001"', because: 'beyond the first plane there are eight digits' },
  ]

  it.each(rows)('writes $quoted, because $because', ({ text, quoted }) => {
    expect(fieldError.quote(text)).toBe(quoted)
  })
})
