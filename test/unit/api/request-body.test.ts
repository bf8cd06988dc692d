import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../../shared/api/duplicate-fields.ts'
import { jsonOf, mediaType, readBytes, readObject, readOptionalObject } from '../../../shared/api/request-body.ts'
import type { Json } from '../../../shared/model/json.ts'
import { endOf } from './end-of.ts'
import { bareRequest, request, type Sent } from './sent-request.ts'

const yaml = 'application/yaml'
const read = (sent: Sent) => endOf(() => readObject(request('POST /x', sent)))
const notObject = 'BAD_REQUEST: the body must be one object'

describe('the media type of a body', () => {
  it.each([
    ['application/json', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;x', 'application/json'],
    [' Application/YAML ;x=1', 'application/yaml'],
    ['', 'application/json'],
    [';x', ''],
  ])('%j is %j', (type, media) => {
    expect(mediaType(request('POST /x', { type }))).toBe(media)
  })

  it('is JSON where nothing is said', () => {
    expect(mediaType(bareRequest('POST /x'))).toBe('application/json')
  })
})

describe('a body', () => {
  const known = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
  it.each<[string, string | Uint8Array, Json]>([
    ['application/json', '{"a":1}', { a: 1 }],
    ['application/json', '[{}]', notObject],
    ['application/json', '"x"', notObject],
    ['application/json', 'null', notObject],
    ['application/json', '5', notObject],
    [
      'application/json',
      '9007199254740993',
      'BAD_REQUEST: the body: it is a number that cannot be kept exactly; write it as a string',
    ],
    ['application/json', '', 'BAD_REQUEST: the body is not JSON: it ends too early'],
    ['application/json', '{"a":secret}', 'BAD_REQUEST: the body is not JSON: there is an unexpected token'],
    ['application/json', Uint8Array.of(0x7b, 0xff), 'BAD_REQUEST: the body is not UTF-8'],
    ['application/json', '{"__proto__":1}', 'BAD_REQUEST: a field cannot be called __proto__'],
    ['application/json', '{"a":[{"__proto__":1}]}', 'BAD_REQUEST: a field cannot be called __proto__'],
    // As Go reads half a character. A whole one stays.
    ['application/json', '{"\\ud800a":["\\udc00","\\ud83d\\ude00"],"b":1}', { '\ufffda': ['\ufffd', '😀'], b: 1 }],
    [yaml, 'a: "\\ud800"\nb: "\\U0000D800"', { a: '\ufffd', b: '\ufffd' }],
    [yaml, 'a: 1', { a: 1 }],
    [yaml, ' {"a":1}', { a: 1 }],
    [yaml, '{a: 1}', 'BAD_REQUEST: the body is not JSON: there is an unexpected token (line 1 column 2)'],
    ['application/apply-patch+yaml', 'a: 1', { a: 1 }],
    [yaml, 'a: *b', 'BAD_REQUEST: the body is not YAML: an alias stands for nothing above it'],
    [yaml, '- a', notObject],
    [yaml, 'a: 9007199254740993', 'BAD_REQUEST: a: it is a number that cannot be kept exactly; write it as a string'],
    [
      'text/plain',
      '{}',
      `UNSUPPORTED_MEDIA_TYPE: the body of the request was in an unknown format - accepted media types include: ${known}; it was text/plain`,
    ],
  ])('%s %j is %j', async (type, body, end) => {
    expect(await read({ type, body })).toEqual(end)
  })

  it.each([
    'a: "s3cret',
    'a: *s3cret',
    'a: !s3cret! x',
    'a: !s3cret!x [x]',
    'a: !<s3cret',
    'a: |s3cret',
    'a: >s3cret',
    'a: @s3cret',
    'a: `s3cret',
    'a: "\\us3cret"',
    'a: "\\s3cret"',
    'a: &s3cret: !x!y z',
    'a: {s3cret',
    'a: [s3cret\nb: 1',
    'a: %s3cret\n%s3cret',
    's3cret\n---\n...s3cret\n]s3cret',
    '%s3cret s3cret\n---\n- *s3cret',
    'a: s3cret\n\tb: s3cret',
    's3cret: a: b',
    '? [s3cret]\n: x',
    '<<: *s3cret',
    'a: &s3cret 1\n<<: *s3cret\nb: *t3cret-s3cret',
  ])('that is no YAML is refused without its text: %j', async (body) => {
    const end = await read({ type: yaml, body })
    expect(end).toMatch(
      /^BAD_REQUEST: the body (is not YAML: (it cannot be read$|an alias stands for nothing above it$|.* at line \d+, column \d+$)|must be one object)/,
    )
    expect(end).not.toContain('s3cret')
  })

  it.each([
    's3cret',
    '{"a": s3cret}',
    '{"a": "x", s3cret}',
    '{"a": "s3cret',
    '{"a": "\\s3cret"}',
    '{"a": 1} s3cret',
    '{"a": 12345678s3cret}',
  ])('that is no JSON is refused without its text: %j', async (body) => {
    const end = await read({ body })
    expect(end).toMatch(/^BAD_REQUEST: the body is not JSON: there is an unexpected token( \(line 1 column \d+\))?$/)
  })

  it('remembers what stands there twice', async () => {
    const json = await readObject(request('POST /x', { body: '{"a":1,"a":2}' }))
    const ofYaml = await readObject(request('POST /x', { type: yaml, body: 'a: 1\na: 2\n' }))
    const inJson = await readObject(request('POST /x', { type: yaml, body: '{"a":1,"a":2}' }))
    expect([json, ofYaml, inJson].map(faultsOf)).toEqual([
      ['duplicate field "a"'],
      ['yaml: line 2: key "a" already set in map'],
      ['duplicate field "a"'],
    ])
  })

  const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`
  const deep = 'BAD_REQUEST: the body is nested deeper than 200 levels'
  it.each([
    ['lists', nested],
    ['objects', (levels: number) => `${'{"a":'.repeat(levels + 1)}1${'}'.repeat(levels + 1)}`],
  ] as const)('of %s has 200 levels at most', async (_of, textOf) => {
    expect(await read({ body: textOf(199) })).toBeTypeOf('object')
    expect(await read({ body: textOf(200) })).toBe(deep)
  })

  const large = (characters: number) => `{"a":"${'x'.repeat(characters - 8)}"}`
  const tooLarge = (size: number) => `TOO_LARGE: the object has ${size} characters of JSON, the limit is 358400`
  it('is as large as an object may be, however it is written', async () => {
    const spaced = `{"a": ${' '.repeat(500_000)}1}`
    expect(await read({ body: spaced })).toEqual({ a: 1 })
    expect(await read({ body: large(358_400) })).toBeTypeOf('object')
    expect(await read({ body: large(358_401) })).toBe(tooLarge(358_401))
    // A number may be longer in JSON than it was written: a text within the bounds is not measured.
    expect(await read({ body: `{"a":"${'x'.repeat(358_384)}","b":1e9}` })).toBeTypeOf('object')
    expect(await read({ body: ` ${large(358_400)}` })).toBeTypeOf('object')
    expect(await read({ body: `{"a": ${' '.repeat(1024 * 1024)}1}` })).toMatch(/^TOO_LARGE: Request entity too large/)
    const exact = `{"a":1${' '.repeat(1024 * 1024 - 7)}}`
    expect(await read({ body: exact })).toEqual({ a: 1 })
  })

  it('may be absent', async () => {
    const optional = (sent: Sent) => endOf(() => readOptionalObject(request('DELETE /x', sent)))
    expect(await optional({})).toBeUndefined()
    expect(await optional({ body: '{}' })).toEqual({})
    expect(await optional({ body: '[]' })).toBe(notObject)
    expect(await optional({ type: yaml, body: 'a: 1' })).toEqual({ a: 1 })
    expect(await optional({ body: 'x'.repeat(1024 * 1024 + 1) })).toMatch(/^TOO_LARGE: /)
  })

  it('of a patch may be a list', async () => {
    const bytes = await readBytes(request('PATCH /x', { body: '[{"a":1}]' }))
    expect(jsonOf(bytes)).toEqual([{ a: 1 }])
    const bytesOf = (text: string) => new TextEncoder().encode(text)
    expect(endOf(() => jsonOf(bytesOf(large(358_401))))).toBe(tooLarge(358_401))
    expect(endOf(() => jsonOf(bytesOf(`[${large(358_401)}]`)))).toBeTypeOf('object')
  })
})
