import { describe, expect, it } from 'vitest'
import { SecretValues } from '../../../../shared/engine/insight/secret-values.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const base64 = (value: string | Uint8Array): string => Buffer.from(value).toString('base64')
const bare = (value: string | Uint8Array): string => base64(value).replaceAll('=', '')

/** What a run of a widget knows that has met these Secrets. */
function knowing(...secrets: readonly object[]): SecretValues {
  const { object } = storedWidget('orders-db', { namespace: 'production' })
  const values = new SecretValues({ ...object, spec: { color: 'turquoise', list: [null, { deep: 'Declared1' }] } })
  for (const secret of secrets) values.note(secret as JsonObject)
  return values
}

const given = (value: string) => ({ stringData: { key: value } })
const stored = (value: string | Uint8Array) => ({ data: { key: base64(value) } })
const lines = ['-----BEGIN A KEY-----', 'first-line-of-16', 'a-line-of-15-ch', '  second-line-of-sixteen  '].join('\n')
const binary = Uint8Array.from([0xff, 0xfe, 0xfd, 0xfc, 0xfb])
const withBom = '\ufeffGeheim1'

describe('a text', () => {
  it.each<[string, object, string, string]>([
    ['a value alone', given('abc123'), 'abc123', '***'],
    ['a value at the beginning', given('abc123'), 'abc123 was it', '*** was it'],
    ['a value at the end', given('abc123'), 'it was abc123', 'it was ***'],
    ['a value twice', given('abc123'), 'abc123, abc123abc123', '***, ******'],
    ['a short value', given('abc12'), 'it was abc12 YWJjMTI', 'it was abc12 YWJjMTI'],
    ['another value', given('abc123'), 'it was abc124', 'it was abc124'],
    ['the beginning of a value', given('abc123456'), 'it was abc123', 'it was abc123'],
    ['a value that is stored', stored('Geheim123'), 'Geheim123', '***'],
    ['a value that is stored, short', stored('abcde'), `abcde ${bare('abcde')}`, `abcde ${bare('abcde')}`],
    ['a value as it is stored', stored('Geheim1234'), base64('Geheim1234'), '***=='],
    ['a value as it would be stored', given('Geheim1234'), bare('Geheim1234'), '***'],
    ['a value without its line’s end', given('Geheim123\n'), 'Geheim123!', '***!'],
    ['the same as it would be stored', given('Geheim123\n'), `${bare('Geheim123\n')} ${bare('Geheim123')}`, '*** ***'],
    ['bytes that are no text', stored(binary), bare(binary), '***'],
    [
      'few bytes that are no text',
      stored(binary.slice(0, 3)),
      `${bare(binary.slice(0, 3))} 12`,
      `${bare(binary.slice(0, 3))} 12`,
    ],
    ['what is stored and is no base64', { data: { key: 'Ge%eim123' } }, 'Ge%eim123', '***'],
    ['what is stored and is no base64, in a URL', { data: { key: 'Ge%eim123' } }, 'Ge%25eim123', '***'],
    ['bytes that are no text in a URL', stored(binary), encodeURIComponent(base64(binary)), '***'],
    [
      'what is stored with a byte order mark',
      { data: { key: `${bare(withBom).slice(0, -1)}R` } },
      bare(withBom),
      '***',
    ],
    ['a value in a URL', given('p@ss word'), 'x?p=p%40ss%20word&', 'x?p=***&'],
    [
      'a value as base64 in a URL',
      given('???>>>???'),
      `x/${bare('???>>>???').replaceAll('/', '_').replaceAll('+', '-')}`,
      'x/***',
    ],
    ['a value in JSON', given('say "hi" twice'), JSON.stringify({ a: 'say "hi" twice' }), '{"a":"***"}'],
    ['half a character', given('abc123\ud800'), `it was ${encodeURIComponent('abc123\ufffd')}`, 'it was ***'],
    ['a text of lines, whole', given(lines), `<${lines.trim()}>`, '<***>'],
    ['a line of a text', given(lines), '<first-line-of-16> <second-line-of-sixteen>', '<***> <***>'],
    ['a short line of a text', given(lines), '<a-line-of-15-ch>', '<a-line-of-15-ch>'],
    ['the frame of a key', given(lines), '-----BEGIN A KEY-----', '-----BEGIN A KEY-----'],
    ['the longer of two values', { stringData: { a: 'Geheim12', b: 'Geheim123' } }, 'Geheim123', '***'],
    [
      'the longer of two values, the other way round',
      { stringData: { a: 'Geheim123', b: 'Geheim12' } },
      'Geheim123',
      '***',
    ],
    [
      'both of two values that begin alike',
      { stringData: { a: 'Geheim12', b: 'Geheim34' } },
      'Geheim12 Geheim34',
      '*** ***',
    ],
    ['the shorter of two values at the end', { stringData: { a: 'Geheim12', b: 'Geheim1234' } }, 'Geheim12', '***'],
    ['a part of the object’s name', given('orders'), 'orders-db has orders', 'orders-db has orders'],
    ['a part of the object’s namespace', given('product'), 'production', 'production'],
    ['a part of the Secret’s name', { metadata: { name: 'my-login-1' }, ...given('my-login') }, 'my-login', 'my-login'],
    ['what the object says in clear', given('turquoise'), 'turquoise', 'turquoise'],
    ['what the object says in clear, deep in it', given('Declared1'), 'Declared1', 'Declared1'],
    ['a part of what the object says', given('turquo'), 'turquoise', '***ise'],
    [
      'what is declared to be public',
      {
        metadata: { annotations: { 'setpoint.dev/public-keys': 'host' } },
        stringData: { host: 'db.example', password: 'Geheim123' },
      },
      'Geheim123@db.example',
      '***@db.example',
    ],
    [
      'what is stored and declared to be public',
      {
        metadata: { annotations: { 'setpoint.dev/public-keys': 'host' } },
        data: { host: base64('db.example'), password: base64('Geheim123') },
      },
      'Geheim123@db.example',
      '***@db.example',
    ],
    ['a Secret whose fields are no texts', { data: { a: 5 }, stringData: 'abc123', metadata: 5 }, 'abc123', 'abc123'],
    ['a Secret of the cluster', { metadata: { name: 'x' }, ...given('abc123') }, 'abc123', '***'],
    ['a Secret without a name', { metadata: { namespace: 'x' }, ...given('abc123') }, 'abc123', '***'],
  ])('with %s: %j', (_what, secret, text, told) => {
    const values = knowing(secret)
    expect(values.mask(text)).toBe(told)
    expect(values.hasMasked).toBe(told !== text)
  })

  it('with what one Secret declares to be public tells it, whatever another one says', () => {
    const open = { metadata: { annotations: { 'setpoint.dev/public-keys': 'key' } }, ...given('abc123') }
    expect(knowing(given('abc123'), open).mask('abc123')).toBe('abc123')
  })
})

describe('of a long value', () => {
  it.each([
    [16_384, true],
    [16_385, false],
  ])('with %d characters the encoded form is known: %j', (length, is) => {
    const value = 'x'.repeat(length)
    const values = knowing(given(value))
    expect(values.mask(value)).toBe('***')
    expect(values.mask(bare(value)) === '***').toBe(is)
  })

  it('as it is stored is known', () => {
    const value = `-----${'x'.repeat(17_000)}`
    expect(knowing(stored(value)).mask(bare(value))).toBe('***')
  })

  it('the lines are known', () => {
    const value = `${'x'.repeat(17_000)}\nlast-line-of-sixteen`
    expect(knowing(given(value)).mask('last-line-of-sixteen')).toBe('***')
  })

  const million = 1 << 20

  it.each([
    ['four million characters are known, and no more', [4 * million], 'abc123'],
    ['what is too much is not, and what comes then is', [4 * million + 1], '***'],
    ['there is room to the last character', [4 * million - 6], '***'],
    ['there is none for one more', [4 * million - 5], 'abc123'],
    ['the same value counts once', [2 * million, 2 * million], '***'],
    ['two values count both', [2 * million, 2 * million - 5], 'abc123'],
  ])('%s', (_what, lengths, told) => {
    const values = knowing(...lengths.map((length) => given('x'.repeat(length))), given('abc123'))
    expect(values.mask('abc123')).toEqual(told)
  })
})

describe('names and JSON', () => {
  const values = knowing(given('Geheim123'))

  it.each([
    ['Synced', 'Synced'],
    ['HasGeheim123', 'Masked'],
  ])('%s is told as %s', (name, told) => {
    expect(values.maskName(name)).toBe(told)
  })

  it('are told with their keys and what is deep in them', () => {
    const object = {
      'a-Geheim123': 1,
      list: ['x Geheim123', null, 2, ['Geheim123']],
      deep: { is: 'Geheim123', no: false },
    }
    expect(values.maskJson(object)).toEqual({
      'a-***': 1,
      list: ['x ***', null, 2, ['***']],
      deep: { is: '***', no: false },
    })
  })
})
