import { expect, it } from 'vitest'
import type { JsonObject } from '../../../shared/model/json.ts'
import { createHarness } from './harness.ts'
import type { Sent } from './sent-request.ts'

/**
 * What every JavaScript object inherits are names like any other. Goal: whoever uses one sees what anybody sees.
 * Method: the same requests once with such a name and once with an ordinary one beside it in the alphabet; the answers
 * differ in that name only.
 */

const pairs = [
  ['constructor', 'constructoq'],
  ['toString', 'toStrinf'],
  ['valueOf', 'valueOe'],
  ['hasOwnProperty', 'hasOwnPropertx'],
  ['isPrototypeOf', 'isPrototypeOe'],
  ['__defineGetter__', '__defineGettes__'],
  ['__lookupSetter__', '__lookupSettes__'],
] as const

type Step = readonly [line: string, body?: Sent['body'], type?: string]

const merge = 'application/merge-patch+json'
const json = 'application/json-patch+json'
const apply = 'application/apply-patch+yaml'
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const things = '/apis/example.com/v1/namespaces/default/things'
const maps = '/api/v1/namespaces/default/configmaps'

function definition(key: string): JsonObject {
  const text = { type: 'string' }
  const status = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const listed = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': [key],
    items: { type: 'object', required: [key], properties: { [key]: text, value: text } },
  }
  const spec = {
    type: 'object',
    properties: {
      [key]: text,
      filled: { type: 'object', default: {}, properties: { [key]: { type: 'integer', default: 7 } } },
      asked: { type: 'object', required: [key], properties: { [key]: { type: 'string', enum: [key, 'b'] } } },
      map: { type: 'object', additionalProperties: text },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      empty: { type: 'object', properties: { other: text } },
      formed: { ...text, format: key, 'x-kubernetes-validations': [{ rule: "self != 'b'" }] },
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
      listed,
    },
  }
  return {
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
          subresources: { status: {} },
          selectableFields: [{ jsonPath: `.spec.${key}` }],
          additionalPrinterColumns: [
            { name: key, type: 'string', jsonPath: `.spec.${key}` },
            { name: 'Label', type: 'string', jsonPath: `.metadata.labels.${key}` },
            { name: 'Found', type: 'string', jsonPath: `.spec.listed[?(@.${key}=="a")].value` },
          ],
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status, [key]: text } } },
        },
      ],
    },
  }
}

/** Requests that use the name wherever one can stand, of a kind whose schema uses `defined`. */
function steps(key: string, defined: string): readonly Step[] {
  const thing = (name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { name, ...metadata },
    spec,
  })
  const condition = { type: key, status: 'True', reason: key, message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }
  return [
    [`POST ${definitions}`, definition(defined)],
    [`PATCH ${definitions}/things.example.com`, { metadata: { annotations: { [key]: 'x' } } }, merge],
    [`POST ${things}`, thing('a', { [key]: 'x' })],
    [`PATCH ${things}/a`, { metadata: { labels: { [key]: 'x' } } }, merge],
    [`PATCH ${things}/a`, { metadata: { annotations: { [key]: 'x' } } }, merge],
    [`POST ${things}`, thing('b', {}, { labels: { other: 'x' } })],
    [`POST ${things}`, thing('c', { map: { [key]: 'x' }, free: { [key]: { [key]: 1 } }, empty: { [key]: 'x' } })],
    [`POST ${things}?fieldValidation=Strict`, thing('d', { empty: { [key]: 'x' } })],
    [`POST ${things}`, thing('d', { asked: {} })],
    [`POST ${things}`, thing('d', { asked: { [key]: 'other' } })],
    [`POST ${things}`, thing('d', { listed: [{ [key]: 'a' }, { [key]: 'a' }] })],
    [`POST ${things}`, thing('d', { listed: [{ value: 'a' }] })],
    [`POST ${things}`, thing('d', { set: [key, key] })],
    [`POST ${things}`, thing('d', { [key]: 7 })],
    [`POST ${things}`, thing('d', { filled: { [key]: null }, listed: [{ [key]: 'a', value: 'v' }] })],
    [`POST ${things}`, thing(key.toLowerCase(), { [key]: key })],
    ...['=', '=x', '!=x', '!='].map((test): Step => [`GET ${things}?fieldSelector=spec.${key}${test}`]),
    [`GET ${things}?fieldSelector=spec.free.${key}=x`],
    ...[key, `!${key}`, `${key}=x`, `${key}!=x`, `${key} in (x)`, `${key} notin (x)`].map((selector): Step => [
      `GET ${things}?labelSelector=${encodeURIComponent(selector)}`,
    ]),
    [`GET ${things}/${key.toLowerCase()}`],
    [`PATCH ${things}/b`, { spec: { [key]: 'y', map: { [key]: 'z' } } }, merge],
    [`PATCH ${things}/b`, { metadata: { labels: { [key]: 'y' } } }, merge],
    [`PATCH ${things}/b`, { spec: { map: { [key]: null } } }, merge],
    [`PATCH ${things}/b`, { spec: { free: { [key]: { deep: { [key]: 1 } } } } }, merge],
    [`PATCH ${things}/b`, [{ op: 'test', path: `/spec/map/${key}`, value: 'z' }], json],
    [`PATCH ${things}/b`, [{ op: 'add', path: `/spec/map/${key}/prototype`, value: 'z' }], json],
    [`PATCH ${things}/b`, [{ op: 'add', path: `/spec/${key}/${key}`, value: 'z' }], json],
    [`PATCH ${things}/b`, [{ op: 'remove', path: `/metadata/${key}` }], json],
    [`PATCH ${things}/b`, [{ op: 'replace', path: `/spec/empty/${key}`, value: 'z' }], json],
    [`PATCH ${things}/b`, [{ op: 'copy', from: `/spec/free/${key}`, path: '/spec/free/copied' }], json],
    [`PATCH ${things}/b`, [{ op: 'move', from: `/spec/free/${key}`, path: `/spec/free/copied/${key}` }], json],
    [`PATCH ${things}/s?fieldManager=one`, thing('s', { map: { [key]: '1', a: '1' }, [key]: '1' }), apply],
    [`PATCH ${things}/s?fieldManager=two`, thing('s', { map: { [key]: '2', b: '2' } }), apply],
    [`PATCH ${things}/s?fieldManager=two&force=true`, thing('s', { map: { [key]: '2', b: '2' } }), apply],
    [
      `PATCH ${things}/s?fieldManager=one`,
      thing('s', { map: { a: '1' }, listed: [{ [key]: key, value: '1' }] }),
      apply,
    ],
    [`PATCH ${things}/s?fieldManager=two`, thing('s', { listed: [{ [key]: key, value: '2' }] }), apply],
    [`PATCH ${things}/s?fieldManager=${key}`, thing('s', { free: { [key]: [{ [key]: 1 }] }, set: [key] }), apply],
    [`PATCH ${things}/s?fieldManager=three`, { spec: { free: { [key]: null } } }, merge],
    [`PATCH ${things}/s?fieldManager=${key}`, thing('s', { empty: { [key]: 'x' } }), apply],
    [`PATCH ${things}/a/status`, { status: { [key]: { [key]: 1 }, conditions: [condition] } }, merge],
    [`PATCH ${things}/a/status?fieldManager=one`, { ...thing('a', {}), status: { [key]: { a: 1 } } }, apply],
    [`PUT ${things}/a`, { ...thing('a', { [key]: 'z' }), [key]: 'top' }],
    [`PATCH ${things}/a`, { [key]: 'top' }, merge],
    [`PATCH ${things}/a`, { [key]: null }, merge],
    [`PATCH ${things}/a`, { spec: { formed: 'b' } }, merge],
    [`POST ${maps}`, { metadata: { name: 'm' }, data: { [key]: 'x' } }],
    [`PATCH ${maps}/m`, { data: { [key]: null } }, merge],
    [`PATCH ${maps}/m?fieldManager=one`, { metadata: { name: 'm' }, data: { [key]: 'y' } }, apply],
    [`POST /api/v1/namespaces`, { metadata: { name: key.toLowerCase() } }],
    [`GET /apis/${key}.com/${key}/namespaces/${key}/${key}`],
    [`GET /${key}`],
    ['GET /openapi/v3/apis/example.com/v1'],
    [`GET /openapi/v3/${key}`],
    [`GET ${things}/a/${key}`],
    [`POST ${things}/a`, { [key]: 1 }],
    [`GET ${things}?resourceVersionMatch=${key}&resourceVersion=1`],
    [`PATCH ${things}/b?fieldValidation=${key}`, {}, merge],
    [`DELETE ${things}/b`, { propagationPolicy: key }],
    [`DELETE ${things}?labelSelector=${key}`],
    [`GET ${things}`],
  ]
}

/** What is answered to each step, in its order, without what is new each time. */
async function answers(key: string, defined = key): Promise<readonly unknown[]> {
  const harness = await createHarness()
  const told: unknown[] = []
  for (const [line, body, type] of steps(key, defined)) {
    const sent = { ...(body === undefined ? {} : { body }), ...(type === undefined ? {} : { type }) }
    const { status, headers, body: answer } = await harness.send(line, sent)
    told.push([line, status, headers['warning'], answer])
    if (line.startsWith(`GET ${things}`)) told.push((await harness.send(line, { accept: table })).body)
  }
  expect(harness.errors).toEqual([])
  harness.close()
  return told
}

const renamed = (value: unknown, from: string, to: string): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(from, to)
      .replaceAll(from.toLowerCase(), to.toLowerCase())
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'uid'),
  )

it.each(pairs)('%s is a name like %s', async (odd, plain) => {
  const [seen, expected] = [await answers(odd), await answers(plain)]
  expect(renamed(seen, odd, odd)).toEqual(renamed(expected, plain, odd))
  const statuses = seen.flatMap((told) => (Array.isArray(told) ? [told[1] as number] : []))
  // A label begins with a letter or a digit, in selectors as well.
  expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(odd.startsWith('_') ? 20 : 30)
})

it('__proto__ is no name: it is refused wherever it would be stored, and nothing else comes of it', async () => {
  const before = Object.getOwnPropertyNames(Object.prototype)
  const told = (await answers('__proto__', 'plain')).flatMap((one) =>
    Array.isArray(one) ? [one as [string, number, unknown, { message?: string }]] : [],
  )
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
  expect(told.filter(([, status]) => status >= 500)).toEqual([])
  expect(told.map(([, , , body]) => body.message)).toContain('a field cannot be called __proto__')
  expect(JSON.stringify(told.filter(([line, status]) => !line.startsWith('GET') && status < 300))).not.toContain(
    '"__proto__":',
  )
})

it.each(['JSON', 'YAML'])('nor is it in %s that is written by hand', async (form) => {
  const harness = await createHarness()
  const body =
    form === 'JSON' ? '{"data":{"__proto__":{"a":"b"}}}' : 'metadata: {name: m}\ndata:\n  __proto__: {a: b}\n'
  const type = form === 'JSON' ? 'application/json' : 'application/yaml'
  expect((await harness.send(`POST ${maps}`, { body, type })).body.message).toBe('a field cannot be called __proto__')
  harness.close()
})
