import { describe, expect, it } from 'vitest'
import { stringFormat } from '../../../../shared/model/schema/formats.ts'
import { processorMs } from '../../../support/processor-time.ts'

interface Row {
  readonly format: string
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}

/** Compared with apiextensions-apiserver 0.32 on ten thousand variations of these texts. */
const rows: readonly Row[] = [
  {
    format: 'date',
    valid: ['2026-02-28', '2024-02-29', '2000-02-29', '0000-01-01'],
    invalid: ['2026-02-29', '1900-02-29', '2026-04-31', '2026-13-01', '2026-00-10', '2026-1-1', '2026-01-01 '],
  },
  {
    format: 'date-time',
    valid: ['2026-01-01T00:00:00Z', '2026-01-01t23:59:59.123z', '2024-02-29T00:00:00+01:00'],
    invalid: [
      '2026-01-01T24:00:00Z',
      '2026-01-01T00:00:60Z',
      '2026-01-01T00:00:00',
      '2026-01-01 00:00:00Z',
      '2026-02-29T00:00:00Z',
      '2026-01-01T00:00:00+0100',
    ],
  },
  { format: 'datetime', valid: ['2026-01-01T00:00:00Z'], invalid: ['2026-01-01'] },
  {
    format: 'duration',
    valid: ['1s', '1h30m', '1h1', '-1.5h', '.5s', '0', '1µs', '3 days', '2 weeks', '5 minutes ago'],
    invalid: ['', '1', 's', '5 mi', '-'],
  },
  {
    format: 'uuid',
    valid: ['123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'],
    invalid: ['123e4567-e89b-12d3-a456-42661417400', 'g23e4567-e89b-12d3-a456-426614174000'],
  },
  {
    format: 'uuid3',
    valid: ['123e4567-e89b-32d3-a456-426614174000'],
    invalid: ['123e4567-e89b-42d3-a456-426614174000'],
  },
  {
    format: 'uuid4',
    valid: ['123e4567-e89b-42d3-a456-426614174000'],
    invalid: ['123e4567-e89b-42d3-c456-426614174000'],
  },
  {
    format: 'uuid5',
    valid: ['123e4567-e89b-52d3-a456-426614174000'],
    invalid: ['123e4567-e89b-12d3-a456-426614174000'],
  },
  {
    format: 'ipv4',
    valid: ['1.2.3.4', '01.02.03.004', '::ffff:1.2.3.4'],
    invalid: ['256.1.1.1', '1.2.3', '1.2.3.4.5', '::1'],
  },
  {
    format: 'ipv6',
    valid: ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:1.2.3.4', '::ffff:1.2.3.4'],
    invalid: [
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1::2::3',
      '12345::',
      'fe80::1%eth0',
      ':1',
      '1.2.3.4',
      '::01.2.3.4',
    ],
  },
  {
    format: 'cidr',
    valid: ['10.0.0.0/8', '01.2.3.4/32', '::/0', '2001:db8::/128'],
    invalid: ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0.0/-1', '/8'],
  },
  {
    format: 'mac',
    valid: ['01:23:45:67:89:ab', '01-23-45-67-89-AB', '0123.4567.89ab', '01:23:45:67:89:ab:cd:ef'],
    invalid: ['01:23:45:67:89', '01:23-45:67:89:ab', '0123.4567', '01:23:45:67:89:ab:cd'],
  },
  {
    format: 'uri',
    valid: ['https://example.com/a?b#c', '/path', 'mailto:a@b', 'http://[::1]:80/', '*', 'http://u:p@h/%20'],
    invalid: [
      '',
      'example.com',
      '//h'.slice(2),
      'http://a b/',
      'http://h:80a/',
      'http://h/%zz',
      'http://h%41/',
      '1http://h',
      ':x',
    ],
  },
  {
    format: 'email',
    valid: ['a@b.c', 'a.b+c@d-e.fg', 'Bob <a@b.c>', '"x y"@b.c', 'a@[1.2.3.4]'],
    invalid: ['a', '@b', 'a@', '.a@b', 'a..b@c', 'a@b c', 'a@b.c\n', 'a@[1.2]', 'Bob a@b.c>'],
  },
  {
    format: 'hostname',
    valid: ['example.com', 'a', 'ä.example.com', '1a.example.com'],
    invalid: ['', '-a.com', 'a_b.com', 'a-.com', `${'a'.repeat(64)}.com`, `${'a.'.repeat(200)}com`],
  },
  { format: 'byte', valid: ['YQ==', 'YWI=', 'YWJj'], invalid: ['', 'a', 'YQ=', 'YWJj\n', 'Y==='] },
  { format: 'bsonobjectid', valid: ['507f1f77bcf86cd799439011'], invalid: ['507f1f77bcf86cd79943901'] },
  { format: 'creditcard', valid: ['4111 1111 1111 1111', '378282246310005'], invalid: ['4111111111111112', '1234'] },
  { format: 'isbn', valid: ['0321751043', '978-0321751041'], invalid: ['0321751044'] },
  { format: 'isbn10', valid: ['0 321 75104-3', '097522980X'], invalid: ['978-0321751041'] },
  { format: 'isbn13', valid: ['978-0321751041'], invalid: ['0321751043', '9780321751042'] },
  { format: 'ssn', valid: ['123-45-6789', '123 45 6789'], invalid: ['123456789'] },
  { format: 'hexcolor', valid: ['#fff', 'ABCDEF'], invalid: ['#ffff', 'red'] },
  {
    format: 'rgbcolor',
    valid: ['rgb(1,2,3)', 'rgb( 0 , 255 , 9 )'],
    invalid: ['rgb(256,0,0)', 'rgb(1,2)', 'rgb(1,2,3,)', 'rgb(01,2,3)'],
  },
  { format: 'password', valid: ['', 'anything'], invalid: [] },
  { format: 'k8s-short-name', valid: ['a', 'a-b'], invalid: ['A', '-a', 'a.b', 'a'.repeat(64)] },
  { format: 'k8s-long-name', valid: ['a.b-c', 'a'.repeat(253)], invalid: ['a..b', 'a.', 'a'.repeat(254)] },
]

/** Where the lengths, the bounds and the parsers of Go and kube-openapi change their answers. */
const edges: readonly Row[] = [
  {
    format: 'date',
    valid: ['1600-02-29', '1200-02-29', '2400-02-29'],
    invalid: ['2100-02-29', '1800-02-29'],
  },
  {
    format: 'email',
    valid: ['"A B" <a@b.c>', 'A B <a@b.c>', '<a@b.c>'],
    invalid: ['a@b.c>', '<a@b.c', '(x) <a@b.c>', 'A <a>', 'a@b.c\n'],
  },
  {
    format: 'hostname',
    valid: ['a'.repeat(63), `${'a'.repeat(63)}.`.repeat(3) + 'b'.repeat(63), 'é'.repeat(31), `a-${'b'.repeat(61)}`],
    invalid: [
      `${'a'.repeat(63)}.`.repeat(3) + `${'b'.repeat(61)}.cc`,
      'é'.repeat(32),
      `a-${'b'.repeat(62)}`,
      // 255 characters with a byte more.
      ['é' + 'a'.repeat(61), 'b'.repeat(63), 'c'.repeat(63), 'd'.repeat(59), 'eeee'].join('.'),
    ],
  },
  {
    format: 'ipv6',
    valid: ['1:2:3:4:5:6:7::', '::1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8', '1::8', '::', '::1.2.3.4'],
    invalid: ['1:2:3:4::5:6:7:8', '1::2::3', '1::2::3::4', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '::12345'],
  },
  {
    format: 'cidr',
    valid: ['::/128', '1.2.3.4/32', '01.2.3.4/8', '::0001/64'],
    invalid: ['::/129', '1.2.3.4/33', '::00001/64', '1.2.3.4/', '1.2.3.4'],
  },
  {
    format: 'mac',
    valid: [`00${':00'.repeat(5)}`, `00${'-00'.repeat(7)}`, `00${':00'.repeat(19)}`].concat(
      [3, 4, 10].map((groups) => Array(groups).fill('0000').join('.')),
    ),
    invalid: [`00${':00'.repeat(6)}`, `00${':00'.repeat(20)}`, `00${':00'.repeat(18)}`].concat(
      [2, 5, 9, 11].map((groups) => Array(groups).fill('0000').join('.')),
    ),
  },
  {
    format: 'uri',
    valid: ['/[', '//x[y', 'http:/x[', 'http:///x', 'http://h', 'http://h/%41', 'http://@h/', 'http://u@h', 'a:b', '*'],
    invalid: ['/a%zz', 'http://[', 'http://a[b', 'http://[a@h/', 'http://h/%4', 'a b', 'x', ''],
  },
  {
    format: 'creditcard',
    valid: ['4111 1111 1111 1111', '6011000990139424', '5555555555554444', '378282246310005'],
    invalid: ['0', '', '4111 1111 1111 1112', '6011000990139425'],
  },
  { format: 'isbn10', valid: ['0-306-40615-2', '080442957X'], invalid: ['0-306-40615-3', '0804429570', '030640615'] },
  {
    format: 'isbn13',
    valid: ['978-0-306-40615-7', '9783161484100'],
    invalid: ['978-0-306-40615-8', '9783161484101', '978030640615'],
  },
  { format: 'k8s-short-name', valid: ['a'.repeat(63)], invalid: [] },
]

it.each(edges)('format $format takes and refuses what is just within and outside', ({ format, valid, invalid }) => {
  const matches = stringFormat(format) ?? (() => false)
  expect(valid.filter((text) => !matches(text))).toEqual([])
  expect(invalid.filter((text) => matches(text))).toEqual([])
})

describe.each(rows)('format $format', ({ format, valid, invalid }) => {
  const matches = stringFormat(format) ?? (() => false)

  it('takes what Kubernetes takes', () => {
    expect(valid.filter((text) => !matches(text))).toEqual([])
  })

  it('refuses what Kubernetes refuses', () => {
    expect(invalid.filter((text) => matches(text))).toEqual([])
  })

  it('takes no longer for a hostile text than for a friendly one', () => {
    const units = [
      'a',
      '1',
      '.',
      ':',
      ' ',
      '"',
      '\\',
      '<',
      'a.',
      '1 ',
      '0:',
      '1.',
      'a@',
      '%2',
      '-',
      '9h',
      'ä',
      'A+/=',
      '2026-01-01T00:00:00.1',
    ]
    const tookMs = processorMs(() => {
      for (const unit of units) for (const end of ['', '!', '@', '>']) matches(unit.repeat(300_000 / unit.length) + end)
    })
    expect(tookMs).toBeLessThan(4_000)
  })
})

describe('formats', () => {
  it('has none under other names', () => {
    expect(stringFormat('semver')).toBeUndefined()
    expect(stringFormat('int32')).toBeUndefined()
    expect(stringFormat('constructor')).toBeUndefined()
  })
})
