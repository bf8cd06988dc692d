import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultsOf, noteDuplicates, noteFaults } from '../../../shared/api/duplicate-fields.ts'
import type { Json } from '../../../shared/model/json.ts'
import { parseJson } from '../../../shared/model/parse-json.ts'
import { processorMs } from '../../support/processor-time.ts'
import { createWidgetHarness, widgets, type Harness } from './harness.ts'

/** JSON that names a field twice in one object: which of the two counts is a matter of luck. */
function duplicatesIn(text: string): readonly string[] {
  const body = parseJson(text) as Json
  noteDuplicates(text, body)
  return faultsOf(body as object).map((warning) => warning.slice('duplicate field '.length))
}

describe('what stands there twice', () => {
  it.each([
    ['{"a":1,"a":2}', ['"a"']],
    ['{"a":1,"b":{"c":1,"c":1}}', ['"b.c"']],
    ['{"a":[{"b":1},{"b":1,"b":2}]}', ['"a[1].b"']],
    ['{"a":[[1,2],[{"b":1,"b":2}]]}', ['"a[1][0].b"']],
    ['{"a" : 1, "\\u0061" : 2}', ['"a"']],
    ['{"a" :1,"a":2}', ['"a"']],
    ['{"a"\n:1,"a":2}', ['"a"']],
    ['{"a"\r:1,"a":2}', ['"a"']],
    ['{"a"\t:1,"a":2}', ['"a"']],
    ['{"a" \n\r\t :1,"a":2}', ['"a"']],
    ['{"a":{"x":1},"a":{"x":2}}', ['"a"']],
    ['{"a\\"":1,"a\\"":2}', ['"a""']],
    ['{"a":1,"a":2,"a":3}', ['"a"']],
    ['[{"a":1,"a":2}]', ['"[0].a"']],
    ['{"":1,"a":1,"a":2}', ['"a"']],
    ['{":a":":x",":a":1}', ['":a"']],
    ['{";a":";","b":1,"b":2}', ['"b"']],
  ])('is found in %s', (text, paths) => {
    expect(duplicatesIn(text)).toEqual(paths)
  })

  it.each([
    '{}',
    '{"a":"b\\": {\\"a\\":1,\\"a\\":2}"}',
    '{"a":{"b":1},"c":{"b":1}}',
    '[{"a":1},{"a":1}]',
    '{"":{"":1}}',
  ])('is not seen where nothing does: %s', (text) => {
    expect(duplicatesIn(text)).toEqual([])
  })

  it('is never seen in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        expect(duplicatesIn(JSON.stringify(value, null, 1))).toEqual([])
      }),
    )
  })

  it('is reported for a hundred fields at most', () => {
    const fields = Array.from({ length: 101 }, (_, i) => `"f${i}":1,"f${i}":2`)
    expect(duplicatesIn(`{${fields.join(',')}}`)).toEqual(Array.from({ length: 100 }, (_, i) => `"f${i}"`))
  })

  it('costs little, however it is written', () => {
    const texts = [
      `{${Array.from({ length: 100_000 }, () => '"a":1').join(',')}}`,
      `{"a":"${'\\"'.repeat(400_000)}"}`,
      `{"a":"x"${' '.repeat(900_000)}}`,
      `{"a":1,"a":"${'\\":'.repeat(200_000)}"}`,
    ]
    expect(processorMs(() => void texts.map(duplicatesIn))).toBeLessThan(5_000)
  })
})

describe('what is wrong with a text', () => {
  it('is remembered with its body, and nothing of another', () => {
    const body = { a: 1 }
    noteFaults(body, ['x'])
    noteFaults(body, [])
    expect([faultsOf(body), faultsOf({ a: 1 })]).toEqual([['x'], []])
  })

  it.each([null, 'x', 5, true])('cannot be remembered with %j', (body) => {
    expect(() => noteFaults(body, ['x'])).not.toThrow()
  })
})

describe('a write that says a field twice', () => {
  let harness: Harness
  beforeEach(async () => {
    harness = await createWidgetHarness()
  })
  afterEach(() => harness.close())

  const body =
    '{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"color":"red","color":"blue"}}'

  it('is refused under Strict', async () => {
    const refused = await harness.send(`POST ${widgets}?fieldValidation=Strict`, { body })
    expect(refused).toMatchObject({
      status: 400,
      body: {
        message:
          'Widget in version "v1" cannot be handled as a Widget: strict decoding error: duplicate field "spec.color"',
      },
    })
    expect((await harness.send(`GET ${widgets}/w`)).status).toBe(404)
  })

  it('is warned of otherwise, and the last one counts; or nothing is said under Ignore', async () => {
    const warned = await harness.send(`POST ${widgets}`, { body })
    expect([warned.status, warned.body.spec.color]).toEqual([201, 'blue'])
    expect(warned.headers['warning']).toBe('299 - "duplicate field \\"spec.color\\""')
    const type = 'application/merge-patch+json'
    const merge = '{"spec":{"color":"red","color":"blue"}}'
    const ignored = await harness.send(`PATCH ${widgets}/w?fieldValidation=Ignore`, { type, body: merge })
    expect(ignored.headers['warning']).toBeUndefined()
    const strict = { status: 400, body: { message: expect.stringContaining('duplicate field "spec.color"') as string } }
    const patched = await harness.send(`PATCH ${widgets}/w?fieldValidation=Strict`, { type, body: merge })
    expect(patched).toMatchObject({ ...strict, status: 422 })
    expect(await harness.send(`PUT ${widgets}/w?fieldValidation=Strict`, { body })).toMatchObject(strict)
    const apply = { type: 'application/apply-patch+yaml', body }
    const path = `${widgets}/w?fieldManager=me&force=true&fieldValidation=Strict`
    expect(await harness.send(`PATCH ${path}`, apply)).toMatchObject(strict)
  })
})

describe('a write under Strict, Warn and Ignore', () => {
  let harness: Harness
  beforeEach(async () => {
    harness = await createWidgetHarness()
    await harness.send(`POST ${widgets}`, { body: { metadata: { name: 'w' }, spec: { color: 'red' } } })
  })
  afterEach(() => harness.close())

  const yaml = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: v }\nspec:\n  color: red\n  color: blue\n'
  const twice = 'yaml: line 6: key "color" already set in map'
  const merge = 'application/merge-patch+json'
  const operation = { op: 'add', path: '/spec/color', value: 'blue', note: 'x' }
  interface Faulty {
    readonly what: string
    readonly line: string
    readonly type: string
    readonly body: string
    readonly status: number
    readonly why: string
  }
  const faulty: readonly Faulty[] = [
    {
      what: 'a created YAML',
      line: `POST ${widgets}?`,
      type: 'application/yaml',
      body: yaml,
      status: 400,
      why: twice,
    },
    {
      what: 'an applied YAML',
      line: `PATCH ${widgets}/v?fieldManager=m&`,
      type: 'application/apply-patch+yaml',
      body: yaml,
      status: 400,
      why: twice,
    },
    {
      what: 'a merge patch',
      line: `PATCH ${widgets}/w?`,
      type: merge,
      body: '{"spec":{"color":"blue","colour":"x"}}',
      status: 422,
      why: 'unknown field "spec.colour"',
    },
    {
      what: 'a JSON patch',
      line: `PATCH ${widgets}/w?`,
      type: 'application/json-patch+json',
      body: JSON.stringify([operation]),
      status: 422,
      why: 'json patch unknown field "[0].note"',
    },
  ]
  it.each(faulty)('is refused, warned of, or taken without a word: $what', async ({ line, status, why, ...sent }) => {
    const strict = await harness.send(`${line}fieldValidation=Strict`, sent)
    expect(strict).toMatchObject({
      status,
      body: { message: expect.stringContaining(`strict decoding error: ${why}`) as string },
    })
    const warned = await harness.send(`${line}dryRun=All`, sent)
    const warning = `299 - "${why.replaceAll('"', '\\"')}"`
    expect([warned.headers['warning'], warned.body.spec.color]).toEqual([warning, 'blue'])
    const ignored = await harness.send(`${line}fieldValidation=Ignore`, sent)
    expect([ignored.headers['warning'], ignored.body.spec.color]).toEqual([undefined, 'blue'])
  })

  it.each([
    { generation: '1' },
    { creationTimestamp: 'x' },
    { deletionTimestamp: 7 },
    { managedFields: {} },
    { labels: { a: 1 } },
  ])('is refused, whatever is asked for, if its metadata is of other types: %j', async (metadata) => {
    const query = 'fieldValidation=Ignore'
    const made = await harness.send(`POST ${widgets}?${query}`, { body: { metadata: { name: 'x', ...metadata } } })
    expect([made.status, made.body.reason]).toEqual([400, 'BadRequest'])
    const { body } = await harness.send(`GET ${widgets}/w`)
    const put = { ...body, metadata: { ...body.metadata, ...metadata } }
    expect((await harness.send(`PUT ${widgets}/w?${query}`, { body: put })).status).toBe(400)
    const patched = await harness.send(`PATCH ${widgets}/w?${query}`, { type: merge, body: { metadata } })
    expect(patched).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'patch' }] } } })
  })
})

describe('as Kubernetes has it', () => {
  let harness: Harness
  beforeEach(async () => {
    harness = await createWidgetHarness()
  })
  afterEach(() => harness.close())

  it('a null among labels and annotations is the empty text', async () => {
    const metadata = { name: 'w', labels: { a: null }, annotations: { a: null, b: 'c' } }
    const { status, body } = await harness.send(`POST ${widgets}`, {
      body: { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec: { color: 'red' } },
    })
    expect([status, body.metadata.labels, body.metadata.annotations]).toEqual([201, { a: '' }, { a: '', b: 'c' }])
  })

  const secrets = '/api/v1/namespaces/default/secrets'
  it.each([
    ['kubernetes.io/tls', {}, ['data[tls.crt]', 'data[tls.key]']],
    ['kubernetes.io/tls', { 'tls.crt': 'x' }, ['data[tls.key]']],
    ['kubernetes.io/basic-auth', {}, ['data[username]', 'data[password]']],
    ['kubernetes.io/basic-auth', { password: 'x' }, []],
    ['kubernetes.io/ssh-auth', {}, ['data[ssh-privatekey]']],
    ['kubernetes.io/dockerconfigjson', {}, ['data[.dockerconfigjson]']],
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '{"auths":{}}' }, []],
    ['kubernetes.io/dockerconfigjson', { '.dockerconfigjson': '{' }, ['data[.dockerconfigjson]']],
    ['kubernetes.io/dockercfg', {}, ['data[.dockercfg]']],
    ['kubernetes.io/dockercfg', { '.dockercfg': '[]' }, ['data[.dockercfg]']],
    ['kubernetes.io/service-account-token', {}, ['metadata.annotations[kubernetes.io/service-account.name]']],
    ['example.com/own', {}, []],
  ])('a Secret of type %s with %j is refused for %j', async (type, stringData, fields) => {
    const { status, body } = await harness.send(`POST ${secrets}`, {
      body: { metadata: { name: 's' }, type, stringData },
    })
    expect(status).toBe(fields.length === 0 ? 201 : 422)
    const causes = (body.details?.causes ?? []) as readonly { readonly field: string }[]
    expect(causes.map(({ field }) => field)).toEqual(fields)
  })

  it.each([
    [
      { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'] } },
      'spec.conversion.webhook.clientConfig: Required value',
    ],
    [{ strategy: 'None', webhook: { conversionReviewVersions: ['v1'] } }, 'spec.conversion.webhook: Forbidden'],
  ])('a definition with conversion %j says what is wrong', async (conversion, says) => {
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }]
    const names = { kind: 'Bell', plural: 'bells' }
    const { status, body } = await harness.send(`POST ${definitions}?fieldValidation=Strict`, {
      body: {
        metadata: { name: 'bells.example.com' },
        spec: { group: 'example.com', scope: 'Namespaced', names, versions, conversion },
      },
    })
    expect([status, body.message]).toEqual([422, expect.stringContaining(says)])
  })
})
