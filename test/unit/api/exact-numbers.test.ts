import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { refuseInexact } from '../../../shared/api/exact-numbers.ts'
import { processorMs } from '../../support/processor-time.ts'
import { createHarness, type Harness } from './harness.ts'

/**
 * Kubernetes keeps integers of 64 bits; numbers here are doubles. A number that would come back as another one is
 * refused wherever it stands, and every other one comes back as it was sent.
 */

const things = '/apis/example.com/v1/namespaces/default/things'
const definition = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Thing', plural: 'things' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

let harness: Harness
beforeEach(async () => {
  harness = await createHarness()
  await harness.send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition })
  await harness.send(`POST ${things}`, { body: { metadata: { name: 'there' } } })
})
afterEach(() => harness.close())

const thing = (spec: string): string => `{"metadata":{"name":"t"},"spec":${spec}}`
const there = (spec: string): string => `{"metadata":{"name":"there"},"spec":${spec}}`

describe('a number that a double cannot keep', () => {
  const numbers = [
    '9007199254740993',
    '-9007199254740993',
    '1152921504606846976',
    '9223372036854775807',
    '123456789012345678901234567890',
    '1e400',
    '-1E+400',
    '0.1e1000',
    '9'.repeat(400),
  ]
  it.each(numbers)('is refused: %s', async (number) => {
    expect(await harness.send(`POST ${things}`, { body: thing(`{"size":${number}}`) })).toMatchObject({
      status: 400,
      body: {
        reason: 'BadRequest',
        message: `spec.size: it is a number that cannot be kept exactly; write it as a string`,
        details: { causes: [{ field: 'spec.size' }] },
      },
    })
    expect((await harness.send(`GET ${things}/t`)).status).toBe(404)
  })

  it.each([
    { spec: '{"a":[1, -9007199254740993]}', path: 'spec.a[1]' },
    { spec: '{"a":{"b.c":[ 9007199254740993 ]}}', path: 'spec.a.b.c[0]' },
    { spec: '[\n9007199254740993]', path: 'spec[0]' },
    { spec: '{"constructor" : 9007199254740993}', path: 'spec.constructor' },
  ])('is named by its path: $path', async ({ spec, path }) => {
    const { body } = await harness.send(`POST ${things}`, { body: thing(spec) })
    expect(body.message).toContain(`${path}: `)
  })

  const bodies = [
    { line: `PUT ${things}/there`, type: 'application/json', body: there('{"size":9007199254740993}') },
    {
      line: `POST ${things}`,
      type: 'application/yaml',
      body: 'metadata: {name: t}\nspec:\n  size: 9007199254740993\n',
    },
    { line: `PATCH ${things}/there`, type: 'application/merge-patch+json', body: '{"spec":{"size":9007199254740993}}' },
    {
      line: `PATCH ${things}/there?fieldManager=me`,
      type: 'application/apply-patch+yaml',
      body: there('{"size":9007199254740993}'),
    },
    {
      line: `PATCH ${things}/there?fieldManager=me`,
      type: 'application/apply-patch+yaml',
      body: 'spec:\n  size: 9007199254740993\n',
    },
  ]
  it.each(bodies)('is refused in $line as $type', async ({ line, ...sent }) => {
    const { status, body } = await harness.send(line, sent)
    expect([status, body.message]).toEqual([
      400,
      'spec.size: it is a number that cannot be kept exactly; write it as a string',
    ])
  })

  it('is refused in a JSON patch', async () => {
    const { body } = await harness.send(`PATCH ${things}/there`, {
      type: 'application/json-patch+json',
      body: '[{"op":"add","path":"/spec","value":{"size":9007199254740993}}]',
    })
    expect(body.message).toMatch(/^\[0\]\.value\.size: it is a number/)
  })

  it.each(['.inf', '-.inf', '.nan', '1e400', '0xffffffffffffffff'])('is refused in YAML: %s', async (number) => {
    const body = `metadata: {name: t}\nspec: {size: ${number}}\n`
    const { status, body: told } = await harness.send(`POST ${things}`, { type: 'application/yaml', body })
    expect([status, told.message]).toEqual([
      400,
      expect.stringMatching(/^spec\.size: .* cannot be kept exactly; write/),
    ])
  })

  it('below all that may be nested is refused for its depth', async () => {
    const body = thing(`${'['.repeat(100_000)}9007199254740993${']'.repeat(100_000)}`)
    expect((await harness.send(`POST ${things}`, { body })).body.message).toContain('nested deeper than 200 levels')
  })
})

describe('a number that is kept', () => {
  const rows = [
    { number: '9007199254740991', because: 'it is the largest of which all smaller are kept' },
    { number: '-9007199254740992', because: 'it is beyond, and a double' },
    { number: '1000000000000000000', because: 'it is beyond, and a double' },
    { number: '1e308', because: 'its exponent has three digits, and fits' },
    { number: '0.12345678901234567890', because: 'fractions are doubles in Kubernetes too' },
    { number: '"9007199254740993"', because: 'it is a string' },
    { number: '"a:9007199254740993 1e400"', because: 'it is in a string' },
  ]
  it.each(rows)('is not refused: $number, because $because', async ({ number }) => {
    const { status, body } = await harness.send(`POST ${things}`, { body: thing(`{"size":${number}}`) })
    expect([status, body.spec]).toEqual([201, { size: JSON.parse(number) as unknown }])
  })

  it.each([
    { type: 'application/json', text: (value: object) => JSON.stringify(value) },
    { type: 'application/yaml', text: (value: object) => `%YAML 1.2\n---\n${JSON.stringify(value)}\n` },
  ])('as near as a double comes where Kubernetes has one too, in the bounds of a schema: $type', async (row) => {
    const size = { type: 'integer', minimum: -1, maximum: 4711 }
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { size } } } },
    }
    const names = { kind: 'Other', plural: 'others' }
    const versions = [{ ...definition.spec.versions[0], schema }]
    const bounded = { metadata: { name: 'others.example.com' }, spec: { ...definition.spec, names, versions } }
    const body = row.text(bounded).replace('-1', '-9223372036854775808').replace('4711', '18446744073709551615')
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const reply = await harness.send(`POST ${path}`, { type: row.type, body })
    expect([reply.status, reply.body.spec?.versions[0].schema]).toEqual([
      201,
      JSON.parse(JSON.stringify(schema).replace('-1', '-9223372036854775808').replace('4711', '18446744073709551615')),
    ])
  })

  it('in thousands of bounds below a name of hundreds of thousands of letters is read at once', () => {
    const fields = Array.from({ length: 5_000 }, (_, i) => `"a${i}":{"minimum":12345678901234567890}`)
    const text = `{"spec":{"versions":[{"schema":{"${'p'.repeat(500_000)}":{${fields.join()}}}}]}}`
    expect(processorMs(() => refuseInexact(text))).toBeLessThan(300)
    const others = text.replaceAll('{"minimum"', '{"schema":1,"minimum"').replace('spec', 'other')
    expect(processorMs(() => expect(() => refuseInexact(others)).toThrow('cannot be kept'))).toBeLessThan(300)
  })

  it.each([
    ['spec.versions[0].schema.minimum', '{"spec":{"versions":[{"schema":{"minimum":1e400}}]}}'],
    ['spec.versions[0].schema.a.most', '{"spec":{"versions":[{"schema":{"a":{"most":1e400}}}]}}'],
    ['spec.versions[0].other.a.minimum', '{"spec":{"versions":[{"other":{"a":{"minimum":1e400}}}]}}'],
    ['spec.versions.schema.a.minimum', '{"spec":{"versions":{"schema":{"a":{"minimum":1e400}}}}}'],
  ])('is none at %s', (field, text) => {
    expect(() => refuseInexact(text)).toThrow(`${field}: it is a number that cannot be kept exactly`)
  })

  it('is the same in YAML', async () => {
    const body = 'metadata: {name: t}\nspec: {a: 7, b: 9007199254740991, c: 0x10, d: 1.5, e: "9007199254740993"}\n'
    const reply = await harness.send(`POST ${things}`, { type: 'application/yaml', body })
    expect(reply.body.spec).toEqual({ a: 7, b: 9007199254740991, c: 16, d: 1.5, e: '9007199254740993' })
  })

  it('or as it is written, where JSON has no such value', async () => {
    const spec = '{a: 2026-11-22, b: !!timestamp 2026-11-22, c: !!binary aGk=, d: !!set {x}, e: !!omap [f: 1]}'
    const reply = await harness.send(`POST ${things}`, {
      type: 'application/yaml',
      body: `%YAML 1.1\n---\nmetadata: {name: t}\nspec: ${spec}\n`,
    })
    expect([reply.status, reply.body.spec]).toEqual([
      201,
      { a: '2026-11-22', b: '2026-11-22', c: 'aGk=', d: { x: null }, e: [{ f: 1 }] },
    ])
  })
})
