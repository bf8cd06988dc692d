import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldsUnder, fieldValue, splitTarget } from '../../../../../shared/adapters/local/https/request-head.ts'
import { createRequestParser, defaultLimits } from '../../../../../shared/adapters/local/https/request-parser.ts'
import { parsePieces } from './parser-harness.ts'
import { processorMs } from '../../../../support/processor-time.ts'
import { share } from '../../../../support/strength.ts'

/** What is a request, where it ends, and what is none. */

const host = 'Host: x\r\n'
const get = (fields = ''): string => `GET / HTTP/1.1\r\n${host}${fields}\r\n`
const chunked = (chunks: string): string => `POST / HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${chunks}`

describe('a request', () => {
  it('has what its line and its fields say', () => {
    const text = 'PATCH /a%2Fb?c=d HTTP/1.1\r\nhost: x\r\nX-One:  a b\t\r\nx-empty:\r\nContent-Length: 3\r\n\r\nabc'
    expect(parsePieces([text])).toEqual({
      requests: [
        {
          head: {
            method: 'PATCH',
            target: '/a%2Fb?c=d',
            version: '1.1',
            fields: ['host', 'x', 'x-one', 'a b', 'x-empty', '', 'content-length', '3'],
            body: 3,
            isPersistent: true,
            expectsContinue: false,
          },
          body: 'abc',
        },
      ],
      refused: undefined,
    })
  })

  it('with long blanks between the options of its connection is read in time', () => {
    const blanks = ' \t'.repeat(8_000)
    const text = get(`Connection: é${blanks}b\r\n`)
    expect(processorMs(() => void Array.from({ length: 20 }, () => parsePieces([text])))).toBeLessThan(200)
  })

  it.each([
    ['HTTP/1.1', '', true],
    ['HTTP/1.1', 'Connection: close\r\n', false],
    ['HTTP/1.1', 'Connection: x , CLOSE\r\n', false],
    ['HTTP/1.1', 'Connection: x\r\nConnection: close\r\n', false],
    ['HTTP/1.0', '', false],
    ['HTTP/1.0', 'Connection: Keep-Alive\r\n', true],
    ['HTTP/1.0', 'Connection: keep-alive, close\r\n', false],
  ])('of %s with %j keeps its connection: %s', (version, fields, keeps) => {
    const { requests } = parsePieces([`GET / ${version}\r\n${host}${fields}\r\n`])
    expect(requests[0]?.head.isPersistent).toBe(keeps)
  })

  it.each(['/', '/?', '/a//b/../c', '/%00', '/a"<>\\^`{|}', '*', 'http://host/path?query', 'HTTPS://[::1]:1/'])(
    'may be for %s',
    (target) => {
      expect(parsePieces([`GET ${target} HTTP/1.1\r\n${host}\r\n`]).requests[0]?.head.target).toBe(target)
    },
  )

  it('follows the one ahead, with empty lines between them or without', () => {
    const first = 'POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab'
    const { requests } = parsePieces([`\r\n${first}\r\n\r\n${get()}${chunked('1\r\nc\r\n0\r\n\r\n')}${get()}`])
    expect(requests.map(({ head, body }) => [head.method, body])).toEqual([
      ['POST', 'ab'],
      ['GET', ''],
      ['POST', 'c'],
      ['GET', ''],
    ])
  })

  it('may wait for leave to send its body, if it is of HTTP/1.1', () => {
    const expects = (version: string): unknown =>
      parsePieces([`PUT / HTTP/${version}\r\n${host}Expect: 100-Continue\r\nContent-Length: 1\r\n\r\n`]).requests[0]
        ?.head.expectsContinue
    expect([expects('1.1'), expects('1.0')]).toEqual([true, false])
  })

  it('of HTTP/1.0 needs no field', () => {
    expect(parsePieces(['GET / HTTP/1.0\r\n\r\n']).requests[0]?.head).toMatchObject({ fields: [], body: 0 })
  })

  it('has fields whose values need no space, and may have some around them', () => {
    const { requests } = parsePieces([get('a:b\r\nc: \t d e \t\r\nf: \r\n')])
    expect(requests[0]?.head.fields.slice(2)).toEqual(['a', 'b', 'c', 'd e', 'f', ''])
  })

  it.each([
    ['/', '/', ''],
    ['/a?', '/a', ''],
    ['/a?b=c?d', '/a', 'b=c?d'],
    ['?', '', ''],
    ['*', '*', ''],
    ['https://a:1/b//c?d=https://e/f', '/b//c', 'd=https://e/f'],
    ['HTTPS://[::1]:8443', '', ''],
    ['https://a?b', '', 'b'],
    ['/https://a/b', '/https://a/b', ''],
  ])('for %s is for the path %j, with the query %j', (target, path, queryText) => {
    expect(splitTarget(target)).toEqual({ path, queryText })
  })

  it('has the lines whose names begin the same, each apart', () => {
    const fields = ['x-a', '1', 'host', 'x-a', 'x-ab', '', 'x-a', '2', 'ax-a', '3']
    expect(fieldsUnder(fields, 'x-a')).toEqual([
      ['x-a', '1'],
      ['x-ab', ''],
      ['x-a', '2'],
    ])
    expect(fieldsUnder(['x-a'], 'x-')).toEqual([['x-a', '']])
    expect(fieldsUnder([], '')).toEqual([])
  })

  it('has the first of two values where only one counts, and all of a list', () => {
    const { requests } = parsePieces([
      get('Authorization: 1\r\nauthorization: 2\r\nX: 1\r\nx: 2\r\nCookie: 1\r\nCookie: 2\r\n'),
    ])
    const { fields } = requests[0]?.head ?? { fields: [] }
    expect(['authorization', 'x', 'cookie', 'y'].map((name) => fieldValue(fields, name))).toEqual([
      '1',
      '1, 2',
      '1; 2',
      undefined,
    ])
  })
})

describe('a body in chunks', () => {
  it.each([
    ['one chunk', '3\r\nabc\r\n0\r\n\r\n', 'abc'],
    ['several', '3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n', 'abc0123456789'],
    ['a size of two digits', `1a\r\n${'x'.repeat(26)}\r\n0\r\n\r\n`, 'x'.repeat(26)],
    ['none', '0\r\n\r\n', ''],
    ['extensions', '1;a\r\nx\r\n1;a=b;c="d;\\" e"\r\ny\r\n000;z\r\n\r\n', 'xy'],
    ['fields behind it, dropped', '1\r\nx\r\n0\r\nHost: y\r\nA: b\r\n\r\n', 'x'],
    ['what looks like the end', '5\r\n0\r\n\r\n\r\n0\r\n\r\n', '0\r\n\r\n'],
  ])('of %s', (_, chunks, body) => {
    const { requests, refused } = parsePieces([chunked(chunks) + get()])
    expect([requests.map((one) => one.body), refused]).toEqual([[body, ''], undefined])
  })

  it.each([
    ['no size', '\r\n'],
    ['a size that is none', 'g\r\n'],
    ['a sign', '+1\r\nx\r\n'],
    ['a prefix', '0x1\r\nx\r\n'],
    ['a space ahead', ' 1\r\nx\r\n'],
    ['a space behind', '1 \r\nx\r\n'],
    ['an underscore', '1_0\r\n'],
    ['more than a number holds', `1${'0'.repeat(13)}\r\n`],
    ['an extension without a name', '1;\r\nx\r\n'],
    ['an extension that does not end', '1;a="b\r\nx\r\n'],
    ['a line that ends with LF', '1\nx\r\n'],
    ['an extension with a CR', '1;a\rb\r\nx\r\n'],
    ['a chunk that is longer than its size', '1\r\nxy\r\n'],
    ['a chunk that ends with LF', '1\r\nx\n0\r\n\r\n'],
    ['a chunk that ends with CR', '1\r\nx\r0\r\n\r\n'],
    ['a field behind it that is none', '0\r\nx\r\n\r\n'],
    ['a field behind it that goes on', '0\r\na: b\r\n c\r\n\r\n'],
    ['an end with LF', '0\r\n\n'],
    ['a line that is a bare LF, however much follows', `\n${'x'.repeat(2_000)}`],
  ])('is refused for %s', (_, chunks) => {
    const { requests, refused } = parsePieces([chunked(chunks) + get()])
    expect([requests.length, requests[0]?.body, refused]).toEqual([1, undefined, 400])
  })
})

describe('what is refused', () => {
  const line = (text: string): string => `${text}\r\n${host}\r\n`
  const length = (value: string): string => get(`Content-Length: ${value}\r\n`)
  it.each([
    ['a method that is not known', line('GETS / HTTP/1.1')],
    ['a method in lower case', line('get / HTTP/1.1')],
    ['a tunnel', line('CONNECT x:1 HTTP/1.1')],
    ['another version', line('GET / HTTP/1.2')],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no version', line('GET /')],
    ['two spaces', line('GET  / HTTP/1.1')],
    ['a space behind', line('GET / HTTP/1.1 ')],
    ['a tab', line('GET\t/ HTTP/1.1')],
    ['a target that is no path', line('GET x HTTP/1.1')],
    ['a fragment', line('GET /#x HTTP/1.1')],
    ['a space in the target', line('GET /a b HTTP/1.1')],
    ['a character beyond ASCII in the target', line('GET /\xe9 HTTP/1.1')],
    ['TLS', '\x16\x03\x01\x02\r\n\r\n'],
    ['no fields and no host', 'GET / HTTP/1.1\r\n\r\n'],
    ['no host', 'GET / HTTP/1.1\r\nX: y\r\n\r\n'],
    ['two hosts', get('host: x\r\n')],
    ['a space before a colon', get('X : y\r\n')],
    ['a field without a name', get(': y\r\n')],
    ['a line without a colon', get('x\r\n')],
    ['a line that goes on', get('X: y\r\n z\r\n')],
    ['a first line that goes on', `GET / HTTP/1.1\r\n ${host}\r\n`],
    ['a name beyond ASCII', get('\xe9: y\r\n')],
    ['a NUL', get('X: \0\r\n')],
    ['a control character', get('X: \x7f\r\n')],
    ['a bare CR in a value', get('X: a\rb\r\n')],
    ['a bare LF behind a value', get('X: a\nY: b\r\n')],
    ['lines that end with LF', 'GET / HTTP/1.1\nHost: x\n\n'],
    ['a bare LF ahead', `\n${get()}`],
    ['two lengths', get('Content-Length: 1\r\nContent-Length: 2\r\n')],
    ['the same length twice', get('Content-Length: 0\r\nContent-Length: 0\r\n')],
    ['a list of lengths', length('1, 1')],
    ['a negative length', length('-1')],
    ['a length with a sign', length('+1')],
    ['a length in hexadecimal', length('0x1')],
    ['a length that is empty', length('')],
    ['a length that is too large', length('9'.repeat(16))],
    ['a length beside chunks', get('Content-Length: 1\r\nTransfer-Encoding: chunked\r\n')],
    ['another coding', get('Transfer-Encoding: gzip\r\n')],
    ['several codings', get('Transfer-Encoding: gzip, chunked\r\n')],
    ['a coding behind the chunks', get('Transfer-Encoding: chunked, identity\r\n')],
    ['a coding twice', get('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n')],
    ['a coding that looks like one', get('Transfer-Encoding: "chunked"\r\n')],
    ['chunks in HTTP/1.0', `GET / HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\n\r\n`],
  ])('%s', (_, text) => {
    expect(parsePieces([text])).toEqual({ requests: [], refused: 400 })
  })

  it('an expectation that nobody can meet', () => {
    expect(parsePieces([get('Expect: tea\r\n')]).refused).toBe(417)
  })

  it.each([
    ['lines end with LF', 'GET / HTTP/1.1\nHost: x\n'],
    ['a line behind the first one ends with LF', 'GET / HTTP/1.1\r\nHost: x\n'],
    ['a line is a bare LF', 'GET / HTTP/1.1\r\n\n'],
    ['it begins with a bare LF', '\n'],
  ])('is told before the head is whole, where %s', (_, text) => {
    expect(parsePieces([text])).toEqual({ requests: [], refused: 400 })
  })

  it('is told before the end of a chunk is whole', () => {
    expect(parsePieces([chunked('1\r\nxy')]).refused).toBe(400)
    expect(parsePieces([chunked('1\r\nx\ry')]).refused).toBe(400)
    expect(parsePieces([chunked('1\r\nxy\n')]).refused).toBe(400)
  })

  it.each(['\r', '\n', '\rx', '\r\r\n'])('half of an empty line ahead of it: %j', (half) => {
    expect(parsePieces([`${half}${get()}`])).toEqual({ requests: [], refused: 400 })
  })

  it('stays refused', () => {
    expect(parsePieces(['x\r\n\r\n', get()])).toEqual({ requests: [], refused: 400 })
  })
})

describe('limits', () => {
  const limits = { headBytesMax: 60, chunkLineBytesMax: 10 }
  const padded = (bytes: number): string => get(`X: ${'x'.repeat(bytes - get('X: \r\n').length)}\r\n`)
  const trailed = (bytes: number): string => chunked(`0\r\nx:${'a'.repeat(bytes - 6)}\r\n\r\n`)
  const chunkLineOf = (bytes: number): string => chunked(`1;${'a'.repeat(bytes - 4)}\r\nx\r\n`)
  const ownLimits = { headBytesMax: chunked('').length, chunkLineBytesMax: 10 }
  it.each([
    ['a head', limits, padded, 60, 431],
    ['a chunk line', ownLimits, chunkLineOf, 10, 413],
    ['fields behind a body', ownLimits, trailed, ownLimits.headBytesMax, 431],
    ['a head, as long as nobody says otherwise', defaultLimits, padded, 16_384, 431],
    ['a chunk line, the same', defaultLimits, chunkLineOf, 1_024, 413],
  ] as const)('of %s: the last that fits, and the first that does not', (...[, own, textOf, bytesMax, status]) => {
    expect(parsePieces([textOf(bytesMax)], own).refused).toBeUndefined()
    expect(parsePieces([textOf(bytesMax + 1)], own).refused).toBe(status)
  })

  it('of a head that has not ended: it is refused with its first byte too many', () => {
    const begun = (bytes: number): string => 'GET / HTTP/1.1\r\nX: '.padEnd(bytes, 'x')
    expect([60, 61].map((bytes) => parsePieces([begun(bytes)], limits).refused)).toEqual([undefined, 431])
    // What else is wrong with it is said of what fits, with that byte, and of nothing behind it.
    expect([60, 61].map((bytes) => parsePieces([`${begun(bytes)}\nxx`], limits).refused)).toEqual([400, 431])
  })

  it('of fields: 200', () => {
    const many = (count: number): unknown => parsePieces([get('a:\r\n'.repeat(count - 1))]).refused
    expect([many(200), many(201)]).toEqual([undefined, 431])
  })

  it('hold for a client that never ends a line', () => {
    const pieces = Array.from({ length: 20 }, () => 'x'.repeat(1_000))
    expect(parsePieces(pieces, defaultLimits).refused).toBe(431)
    expect(parsePieces([chunked(''), ...pieces], defaultLimits).refused).toBe(413)
    expect(parsePieces([chunked('0\r\n'), ...pieces], defaultLimits).refused).toBe(431)
  })
})

describe('bytes that were pushed', () => {
  const drained = (text: string) => {
    const parser = createRequestParser()
    const bytes = Buffer.alloc(text.length, text, 'latin1')
    parser.push(bytes)
    const events = []
    for (let event = parser.next(); event && event.type !== 'refused'; event = parser.next()) events.push(event)
    return { parser, bytes, events }
  }

  it('are given on as they are, not copied', () => {
    const { bytes, events } = drained('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc')
    const [data] = events.filter((event) => event.type === 'data')
    expect(data?.bytes.toString()).toBe('abc')
    expect(data?.bytes.buffer).toBe(bytes.buffer)
  })

  it.each([
    ['nothing behind a request', get(), 0],
    ['nothing behind the end of a chunk', chunked('1\r\nx\r\n'), 0],
    ['half of a line', chunked('1\r\nx\r\n1;a'), 3],
    ['half of a request', `${get()}GET`, 3],
    ['nothing of what is refused', 'x\r\n\r\nmore', 0],
  ])('wait until they are read: %s', (_, text, waiting) => {
    expect(drained(text).parser.waiting).toBe(waiting)
  })

  it('are not kept behind a refusal', () => {
    const { parser } = drained('x\r\n\r\n')
    parser.push(Buffer.from(get()))
    expect([parser.waiting, parser.next()]).toEqual([0, { type: 'refused', refusal: { status: 400 } }])
  })

  it('can be taken away by somebody who reads something else in them', () => {
    const { parser } = drained(`${get()}frames`)
    expect([parser.takeRest().toString(), parser.waiting, parser.takeRest().length]).toEqual(['frames', 0, 0])
  })
})

describe('a stream of bytes, however it is cut,', () => {
  const part = fc.constantFrom(
    get(),
    get('X: y\r\n'),
    'POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello',
    chunked('3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nA: b\r\n\r\n'),
    chunked('3\r\nabcd\r\n'),
    chunked('1;aaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'),
    '\r\n',
    '\r',
    '\n',
    '0\r\n\r\n',
    'GET / HTTP/1.1\nHost: x\n\n',
    `GET /${'x'.repeat(100)} HTTP/1.1\r\n${host}\r\n`,
    `GET /${'x'.repeat(100)}\n`,
    get('Expect: x\r\n'),
    get('X : y\r\n'),
    '\0',
  )
  const limits = { headBytesMax: 90, chunkLineBytesMax: 20 }

  it('holds the same requests and the same refusal', () => {
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(400), { maxLength: 8 }),
        (parts, cuts) => {
          const text = parts.join('')
          const whole = parsePieces([text], limits)
          expect(parsePieces(piecesOf(text, cuts), limits)).toEqual(whole)
          expect(parsePieces(text.split(''), limits)).toEqual(whole)
        },
      ),
      { numRuns: share(300) },
    )
  })
})

function piecesOf(text: string, cuts: readonly number[]): readonly string[] {
  const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length]
  return at.slice(1).map((end, i) => text.slice(at[i], end))
}
