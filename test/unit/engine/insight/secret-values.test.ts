import { describe, expect, it } from 'vitest'
import { processorMs } from '../../../support/processor-time.ts'
import { SecretValues } from '../../../../shared/engine/insight/secret-values.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import { storedWidget } from '../../../support/stored-object.ts'

const base64 = (value: string | Uint8Array): string => Buffer.from(value).toString('base64')
const hex = (value: string): string => Buffer.from(value).toString('hex')
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
      'a value in the bytes of a Buffer',
      given('Geheim123'),
      `[1, ${[...Buffer.from('Geheim123')].join(', ')}, 2]`,
      '[1, ***, 2]',
    ],
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

const inForm = (text: string): string => new URLSearchParams({ p: text }).toString().slice(2)
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)
const lowerEscapes = (text: string): string => text.replace(/%../g, (escape) => escape.toLowerCase())
const inDump = (text: string): string => hex(text).replaceAll(/(..)(?!$)/g, '$1 ')
const inEntities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;').replaceAll("'", '&#x27;')
const inEscapes = (text: string): string =>
  Array.from(text, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

const encodings: Readonly<Record<string, (text: string) => string>> = {
  clear: (text) => text,
  'a form of a URL': inForm,
  'a form of a URL with small digits': (text) => lowerEscapes(inForm(text)),
  'a URL': encodeURIComponent,
  'a URL with small digits': (text) => lowerEscapes(encodeURIComponent(text)),
  'a URL in a URL': (text) => encodeURIComponent(encodeURIComponent(text)),
  'hex with small digits': hex,
  'hex with large digits': (text) => hex(text).toUpperCase(),
  'a dump of bytes': inDump,
  base64: bare,
  'base64 of base64': (text) => bare(base64(text)),
  'base64 of a URL': (text) => bare(encodeURIComponent(text)),
  'base64 in a form of a URL': (text) => inForm(base64(text)).replace(/(%3D)+$/, ''),
  'base64 for URLs': (text) => Buffer.from(text).toString('base64url'),
  JSON: inJson,
  'JSON in JSON': (text) => inJson(inJson(text)),
  'JSON in JSON in JSON': (text) => inJson(inJson(inJson(text))),
  'JSON in a URL': (text) => encodeURIComponent(inJson(text)),
  'a URL in JSON': (text) => inJson(encodeURIComponent(text)),
  'numbers of characters': inEscapes,
  HTML: inEntities,
}
const secretTexts = [
  'Geheim123',
  'p@ss word!',
  'say "hi" & \'go\'',
  'a+b/c==%41',
  '<\\>\n{"x"}',
  'Übergröße €5',
  '???>>>???',
]
const cases = Object.keys(encodings).flatMap((encoding) => secretTexts.map((value) => [encoding, value] as const))

describe('a value that is encoded', () => {
  it.each(cases)('in %s is known: %j', (encoding, value) => {
    const text = encodings[encoding]?.(value) ?? ''
    const known = knowing(given(value))
    expect(known.mask(`it was ${text}.`)).toBe('it was ***.')
    expect(known.mask(`${text}, ${text}`)).toBe('***, ***')
    expect(knowing(stored(value)).mask(text)).toBe('***')
    expect(knowing(given('another value')).mask(text)).toBe(text)
  })

  it.each(['', 'u', 'us', 'use', 'user', 'user-5', 'ünü'])('in base64 behind a user %j is known', (user) => {
    for (const value of secretTexts) {
      const sent = `Basic ${base64(`${user}:${value}`)}`
      for (const form of [bare(value).slice(2, -2), value]) expect(knowing(given(value)).mask(sent)).not.toContain(form)
      const [, told = ''] = /^Basic (.*)$/.exec(knowing(given(value)).mask(sent)) ?? []
      expect(told).toContain('***')
      expect(Buffer.from(told.replace(/\*.*/, ''), 'base64').length).toBeLessThanOrEqual(Buffer.from(`${user}:`).length)
    }
  })

  it('is known in the user’s part of a URL', () => {
    const url = new URL('https://example.org/x')
    url.username = 'orders'
    url.password = 'p@ss:w/rd {1}'
    expect(knowing(given('p@ss:w/rd {1}')).mask(url.href)).toBe('https://orders:***@example.org/x')
  })

  it('is known where it begins in another one, and ends behind that', () => {
    const known = knowing({ stringData: { user: 'app:to', password: 'tok-k3y9-7hg2' } })
    expect([known.mask('as app:tok-k3y9-7hg2!'), known.mask('app:to-k3y9')]).toEqual(['as ***!', '***-k3y9'])
  })

  it('is known in base64 that is broken into lines and indented', () => {
    const value = 'abcdefghij'.repeat(12)
    const broken = (bare(value).match(/.{1,76}/g) ?? []).join('\n      ')
    expect(knowing(given(value)).mask(`body: |\n      ${broken}\n`)).toBe('body: |\n      ***\n')
  })

  it('is known in base64 that is broken into lines', () => {
    const value = 'Geheim123'.repeat(20)
    expect(knowing(given(value)).mask(bare(value).replaceAll(/(.{76})/g, '$1\n'))).toBe('***')
  })

  it('as bytes that are no text is known in hex and inside of base64', () => {
    const bytes = Uint8Array.from({ length: 20 }, (_, i) => 255 - i)
    const known = knowing(stored(bytes))
    expect(known.mask(`<${Buffer.from(bytes).toString('hex')}>`)).toBe('<***>')
    expect(known.mask(`<${bare(Buffer.concat([Buffer.from('abc'), bytes]))}>`)).toBe('<YWJj***>')
  })

  it('is not told by what a parser of JSON quotes', () => {
    const value = 'Geheim-word-of-many-characters'
    const texts = [value, `{"a":${value}}`, 'Gehe', `["x", ${value}`, `{"${value}\n":1}`, `"\\${value}"`]
    for (const text of texts) {
      const told = knowing(given(value)).mask(errorOf(text))
      expect(told).not.toMatch(/Geheim|many|characters|Gehe"/)
      expect(knowing(given(value)).mask(JSON.stringify({ error: errorOf(text) }))).not.toMatch(/Geheim|many|Gehe\\/)
    }
    const known = knowing(given(value))
    expect(known.mask(errorOf('<html>'))).toBe(`SyntaxError: Unexpected token '<', "***" is not valid JSON`)
    expect(known.hasMasked).toBe(false)
    const twice = `"orders" says: ${errorOf('Gehe')}, and ${errorOf('Geheim-wo')}`
    const masked = `SyntaxError: Unexpected token 'G', "***" is not valid JSON`
    expect(known.mask(twice)).toBe(`"orders" says: ${masked}, and ${masked}`)
    expect(known.mask('G", "Gehe"... is not valid JSON')).toBe('G"***" is not valid JSON')
    expect(known.mask('what "orders" says is not valid JSON')).toBe('what "orders" says is not valid JSON')
    expect(knowing().mask(errorOf('<html>'))).toContain('<html>')
  })

  it('is known where it is encoded ahead of where it is in clear', () => {
    const known = knowing(given('Geheim1234'))
    expect(known.mask(`${bare('Geheim1234')} or Geheim1234 or ${hex('Geheim1234')}.`)).toBe('*** or *** or ***.')
    expect(known.mask(`${encodeURIComponent('a=b&')}${bare('Geheim1234')} Geheim1234`)).toMatch(/^[^G]*\*\*\* \*\*\*$/)
  })

  it('is no part of what a parser of JSON has not quoted', () => {
    const known = knowing(given('Geheim1234'))
    const error = errorOf('{"a": b}')
    expect(known.mask(`${error}; see "docs"`)).toMatch(/; see "docs"$/)
    expect(known.mask(`see "docs"; ${error}`)).not.toContain('"a"')
  })

  it('in bytes is known as they are stored, unless they are public', () => {
    const six = Uint8Array.from([...binary, 0xfa])
    const open = { metadata: { annotations: { 'setpoint.dev/public-keys': 'key' } }, ...stored(six) }
    expect(knowing(open, stored(six)).mask(`it is ${base64(six)}`)).toBe(`it is ${base64(six)}`)
    expect(knowing(stored(six)).mask(`it is ${base64(six)}`)).toBe('it is ***')
  })

  it.each([2_000, 400_000])('is looked for in bounded time where many begin alike: %d', (length) => {
    const known = knowing(given(Array.from({ length: 780 }, (_, i) => `aaaaaa${'a'.repeat(i)}!`).join('\n')))
    const text = `no value: ${'a'.repeat(length)}`
    let told = ''
    expect(processorMs(() => (told = known.mask(text)))).toBeLessThan(1_000)
    // What takes too long to look through is not told.
    expect([told, known.hasMasked]).toEqual(['***', true])
  })

  it('is looked for in time that is linear in the text', () => {
    const known = knowing(given('Geheim123'), given('%25%25%25'), given('\\\\\\\\'))
    for (const part of [
      '%2525',
      '\\\\',
      'QUFB',
      '41 ',
      '&amp;',
      '%5C%5C\\u0025',
      'Geheim12',
      '"',
      '\\"',
      'a://',
      'token=',
    ])
      expect(processorMs(() => known.mask(part.repeat(400_000 / part.length)))).toBeLessThan(3_000)
  })
})

function errorOf(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return String(error)
  }
}

describe('a part of a value', () => {
  const docker = {
    auths: { 'x.example': { username: 'orders', password: 'Geheim123', auth: base64('orders:An:other1') } },
  }
  it.each<[string, string, string, string]>([
    ['a password of a registry', JSON.stringify(docker), 'Geheim123 An:other1', '*** ***'],
    ['the login of a registry', JSON.stringify(docker), base64('orders:An:other1'), '***'],
    ['a text in a JSON document', '{"a":[{"b":"Geheim123"}],"c":"a\\"b12345"}', 'Geheim123 a"b12345', '*** ***'],
    ['a number in a JSON document', '{"pin":12345678}', '12345678', '***'],
    ['a text in JSON in JSON', JSON.stringify({ a: JSON.stringify({ b: 'Geheim123' }) }), 'Geheim123', '***'],
    ['a name in a JSON document', '{"password":5}', 'password', 'password'],
    ['the password of a URI', 'postgres://orders:p%40ssw0rd@db/x', 'p@ssw0rd p%40ssw0rd', '*** ***'],
    ['the user of a URI', 'postgres://orders:p%40ssw0rd@db/x', 'orders db', 'orders db'],
    ['the token of a URI', 'https://ghp_12345@git.example/x', 'ghp_12345 git.example', '*** git.example'],
    ['what is no escape in a URI', 'postgres://u:100%zz55@db/x', '100%zz55', '***'],
    ['a password in the query of a URI', 'jdbc:x://db?user=orders&password=Geheim123&x=y', 'Geheim123', '***'],
    ['a password in a connection string', 'host=db password=Geheim123 user=orders', 'Geheim123 orders', '*** orders'],
    ['a quoted password', 'host=db\nDB_PASSWORD="Geheim 123"', 'Geheim 123', '***'],
    ['a URI in a JSON document', '{"url":"amqp://u:Geheim123@mq"}', 'Geheim123', '***'],
    ['a URI among lines', 'x\nhttps://u:Geheim123@git\n', 'Geheim123', '***'],
    ['the beginning of what is no JSON', '{"a":"Geheim123"', 'Geheim123', 'Geheim123'],
  ])('%s of %j', (_what, value, text, told) => {
    expect(knowing(given(value)).mask(text)).toBe(told)
    expect(knowing(stored(value)).mask(text)).toBe(told)
  })

  it('is public with the whole', () => {
    const open = { metadata: { annotations: { 'setpoint.dev/public-keys': 'key' } } }
    const values = knowing({ ...open, ...given('{"a":"Geheim123"}') }, { ...open, ...stored(binary) })
    for (const text of ['Geheim123', hex('Geheim123'), bare(binary)]) expect(values.mask(text)).toBe(text)
  })

  it('is found in time that is linear in the value', () => {
    for (const part of ['://', '://a:', 'a@', 'token=', 'password="', '\n', '{"a":', '['])
      expect(processorMs(() => knowing(given(part.repeat(1_000_000 / part.length))))).toBeLessThan(3_000)
  })
})

describe('of a long value', () => {
  it('the encoded form is known', () => {
    const value = 'x'.repeat(100_000)
    const values = knowing(given(value))
    expect([value, bare(value), hex(value)].map((text) => values.mask(text))).toEqual(['***', '***', '***'])
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

describe('numbers', () => {
  it.each<[string, number, number]>([
    ['12345678', 12345678, 0],
    ['-12345678.5', -12345678.5, 0],
    ['00123456', 123456, 0],
    ['12345', 12345, 12345],
    ['12345678', 123456789, 123456789],
    ['0x123456', 0x123456, 0x123456],
  ])('of a value %j: %d is told as %d', (value, number, told) => {
    const values = knowing(given(value))
    expect(values.maskJson({ a: [number] })).toEqual({ a: [told] })
    expect(values.hasMasked).toBe(told !== number)
  })

  it('of a public value are told', () => {
    const values = knowing(given('12345678'), {
      metadata: { annotations: { 'setpoint.dev/public-keys': 'key' } },
      ...given('12345678'),
    })
    expect(values.maskJson({ a: 12345678 })).toEqual({ a: 12345678 })
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
