import { describe, expect, it } from 'vitest'
import { exactNumber, keepExactly, refuseInexact } from '../../../shared/api/exact-numbers.ts'
import { OperatingError } from '../../../shared/model/errors.ts'
import { endOf } from './end-of.ts'

const why = 'is a number that cannot be kept exactly; write it as a string'
const large = '9007199254740993'

describe('the numbers of a JSON text', () => {
  it.each([
    '{"a":1,"b":-1.5,"c":1e3,"d":0.1}',
    '{"a":9007199254740991}',
    '{"a":9007199254740992}',
    '{"a":-9007199254740991,"b":1e22,"c":1E+300}',
    '{"a":0.12345678901234567890}',
    '{"a":1234567890123456.5}',
    `{"a":"x:${large}","b":" ${large}"}`,
    `{"spec":{"versions":[{"schema":{"x":{"minimum":${large},"maximum":${large},"multipleOf":${large}}}}]}}`,
  ])('are kept in %s', (text) => {
    expect(endOf(() => refuseInexact(text))).toBeUndefined()
  })

  it.each([
    [`{"a":${large}}`, `a: it ${why}`],
    [`{"a":{"b":[1,-${large}]}}`, `a.b[1]: it ${why}`],
    ['{"a":1e400}', `a: it ${why}`],
    [`{"a":${'9'.repeat(70)}}`, `a: it ${why}`],
    [`{"data":{"a":${large}}}`, `data.a: it ${why}`],
    [`{"stringData":{"a":${large}}}`, `stringData.a: it ${why}`],
    [`{"data":${large}}`, `data: it ${why}`],
    [`{"database":${large}}`, `database: it ${why}`],
    [`{"spec":{"data":${large}}}`, `spec.data: it ${why}`],
    [
      `{"spec":{"versions":[{"schema":{"minimum":1,"x":{"default":${large}}}}]}}`,
      `spec.versions[0].schema.x.default: it ${why}`,
    ],
    [`{"schema":{"x":{"y":{"minimum":${large}}}}}`, `schema.x.y.minimum: it ${why}`],
    [`{"spec":{"minimum":${large}}}`, `spec.minimum: it ${why}`],
  ])('are refused in %s', (text, message) => {
    expect(endOf(() => refuseInexact(text))).toBe(`BAD_REQUEST: ${message}`)
  })

  it('are refused with the field as the cause', () => {
    const causes = [{ reason: 'FieldValueInvalid', field: 'a', message: `it ${why}` }]
    expect(() => refuseInexact(`{"a":${large}}`)).toThrow(expect.objectContaining({ details: { causes } }))
    expect(() => refuseInexact(`{"a":${large}}`)).toThrow(OperatingError)
  })
})

describe('the numbers of another parser', () => {
  it.each<[unknown, unknown]>([
    [5n, 5],
    [-5n, -5],
    [9_007_199_254_740_992n, 9_007_199_254_740_992],
    [1.5, 1.5],
    ['5', '5'],
    [null, null],
  ])('%s is %s', (value, kept) => {
    expect(exactNumber('a', value)).toBe(kept)
  })

  it('are refused where they stand', () => {
    const value = { a: [exactNumber('', 9_007_199_254_740_993n)], b: exactNumber('', Infinity) }
    expect(endOf(() => keepExactly(value))).toBe(`BAD_REQUEST: a[0]: it ${why}`)
    expect(endOf(() => keepExactly({ b: value.b }))).toBe(`BAD_REQUEST: b: it ${why}`)
  })

  it('are doubles where Kubernetes has doubles, too', () => {
    const bound = { minimum: exactNumber('', 9_007_199_254_740_993n), other: [1, null, 'x', true] }
    const versions = [{ schema: { x: bound } }]
    expect(keepExactly({ spec: { versions } })).toEqual({
      spec: { versions: [{ schema: { x: { minimum: 9_007_199_254_740_992, other: [1, null, 'x', true] } } }] },
    })
  })
})
