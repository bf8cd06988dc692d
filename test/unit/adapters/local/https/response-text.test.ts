import { describe, expect, it } from 'vitest'
import {
  chunkBytes,
  chunkText,
  headText,
  partsOf,
  sizeOf,
  type ResponseFraming,
} from '../../../../../shared/adapters/local/https/response-text.ts'
import { acceptWebsocket, opensWebsocket } from '../../../../../shared/adapters/local/https/websocket-text.ts'

describe('the head of a response', () => {
  const date = 'now'
  const keeping = 'connection: keep-alive\r\nkeep-alive: timeout=9\r\n'
  const ending = 'connection: close\r\n'

  it.each<[number, Omit<ResponseFraming, 'date'>, string]>([
    [200, { body: 3, idleSeconds: 9 }, `HTTP/1.1 200 OK\r\na: b\r\ndate: now\r\n${keeping}content-length: 3\r\n\r\n`],
    [
      200,
      { body: 0, idleSeconds: undefined },
      `HTTP/1.1 200 OK\r\na: b\r\ndate: now\r\n${ending}content-length: 0\r\n\r\n`,
    ],
    [
      200,
      { body: 'chunked', idleSeconds: 9 },
      `HTTP/1.1 200 OK\r\na: b\r\ndate: now\r\n${keeping}transfer-encoding: chunked\r\n\r\n`,
    ],
    [200, { body: 'untilClose', idleSeconds: undefined }, `HTTP/1.1 200 OK\r\na: b\r\ndate: now\r\n${ending}\r\n`],
    [
      304,
      { body: undefined, idleSeconds: 0 },
      `HTTP/1.1 304 Not Modified\r\na: b\r\ndate: now\r\n${keeping.replace('9', '0')}\r\n`,
    ],
    [
      101,
      { body: undefined, idleSeconds: undefined },
      'HTTP/1.1 101 Switching Protocols\r\na: b\r\ndate: now\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\r\n',
    ],
    [
      299,
      { body: 1, idleSeconds: undefined },
      `HTTP/1.1 299 unknown\r\na: b\r\ndate: now\r\n${ending}content-length: 1\r\n\r\n`,
    ],
  ])('of status %d with %j is what clients read', (status, framing, text) => {
    expect(headText({ status, headers: { a: 'b' }, body: '' }, { ...framing, date })).toBe(text)
  })

  it.each(['a\r\nb', 'a\nb', '\0', '\x7f', 'ł'])('has no field %j, which would break out of its line', (value) => {
    const response = { status: 200, headers: { a: value }, body: '' }
    expect(() => headText(response, { body: 0, date, idleSeconds: 9 })).toThrow('the header a holds a character')
  })

  it.each(['', 'a\tb', '~ !', 'é'])('may have the field %j', (value) => {
    const response = { status: 200, headers: { a: value }, body: '' }
    expect(headText(response, { body: 0, date, idleSeconds: 9 })).toContain(`\r\na: ${value}\r\n`)
  })
})

it.each([
  ['', 0, 'latin1'],
  ['abc', 3, 'latin1'],
  ['ü', 2, 'utf8'],
  ['a€', 4, 'utf8'],
])('%j has %d bytes, in %s', (text, bytes, encoding) => expect(sizeOf(text)).toEqual({ bytes, encoding }))

it.each([
  [15, 'f'],
  [16, '10'],
  [255, 'ff'],
])('a chunk of %d letters says %s', (length, size) => {
  const text = 'x'.repeat(length)
  expect(chunkText(text, length)).toBe(`${size}\r\n${text}\r\n`)
  expect(Buffer.from(chunkBytes(Buffer.from(text))).toString()).toBe(`${size}\r\n${text}\r\n`)
})

it.each<[number, readonly (string | number)[]]>([
  [0, ['whole']],
  [262_144, ['whole']],
  [262_145, [262_144, 1]],
  [524_288, [262_144, 262_144]],
  [600_000, [262_144, 262_144, 75_712]],
])('what has %d bytes is handed over in the parts %j', (length, parts) => {
  for (const piece of ['x'.repeat(length), Buffer.alloc(length, 'x')]) {
    const handed = [...partsOf(piece)]
    expect(handed.map((part) => (part === piece ? 'whole' : part.length))).toEqual(parts)
    expect(handed.map(String).join('')).toBe(String(piece))
  }
})

describe('a websocket', () => {
  it.each([
    ['websocket', 'Upgrade', true],
    ['WebSocket', 'keep-alive, upgrade ', true],
    ['websocket', undefined, false],
    [undefined, 'upgrade', false],
    ['h2c', 'upgrade', false],
    ['websocket', 'upgrades', false],
  ])('is asked for by %s and %s: %s', (upgrade, connection, is) => expect(opensWebsocket(upgrade, connection)).toBe(is))

  it('is accepted as the RFC has it, with a stream alone', () => {
    const body = (async function* () {})()
    const accepted = acceptWebsocket({ status: 101, headers: { a: 'b' }, body }, 'dGhlIHNhbXBsZSBub25jZQ==')
    const headers = { a: 'b', 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' }
    expect(accepted).toEqual({ status: 101, headers, body })
    for (const other of ['text', new Uint8Array()])
      expect(() => acceptWebsocket({ status: 101, headers: {}, body: other })).toThrow('answered with a stream')
  })
})
