import { describe, expect, it } from 'vitest'
import { OperatingError } from '../../../../shared/model/errors.ts'
import { describeRejection } from '../../../../shared/runtime/local/rejections.ts'

const lateCall = 'the run of Widget default/w is over, and this call of its context comes too late'

describe('a rejection that nobody waits for', () => {
  it.each<[unknown, RegExp]>([
    [new TypeError('no Geheim123'), /^TypeError\n {4}at .*rejections\.test/],
    [new Error('two\n    at Geheim123:1:2'), /^Error\n {4}at /],
    [Object.assign(new Error(''), { password: 'Geheim123' }), /^Error\n {4}at /],
    [new Error('a', { cause: new Error('Geheim123') }), /^Error\n {4}at /],
    [Object.assign(new Error('Geheim123'), { message: 'changed' }), /^Error\n {4}at /],
    [Object.assign(new Error('Geheim123'), { name: 'Geheim123', stack: undefined }), /^Error$/],
    [new OperatingError('INVALID', 'Geheim123 does not fit'), /^OperatingError\n {4}at /],
    [
      new OperatingError('DEADLINE_EXCEEDED', lateCall),
      /^OperatingError: the run of Widget default\/w is over.*\n {4}at /,
    ],
    ['Geheim123', /^a value that is no Error, but string$/],
    [null, /^a value that is no Error, but null$/],
    [{ password: 'Geheim123' }, /^a value that is no Error, but object$/],
  ])('is told by what it is and where it was made: %#', (reason, told) => {
    expect(describeRejection(reason)).toMatch(told)
    expect(describeRejection(reason)).not.toContain('Geheim123')
  })
})
