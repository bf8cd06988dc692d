import { describe, expect, it } from 'vitest'
import { createPatch, patchOf } from '../../../shared/api/verbs/patch.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { Written } from '../../../shared/resources/resources.ts'
import { secretKind } from '../../../shared/resources/built-in-kinds.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'
import { fakeServices, storedOf } from './fake-services.ts'

const inN = '/apis/g.dev/v1/namespaces/n/ks'
const types = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

function open(outcome: Written['outcome'] = 'updated', kind = plainKind) {
  const services = fakeServices({ patch: () => ({ stored: storedOf({}), outcome, warnings: [] }) })
  const ask = (type: keyof typeof types | 'text/plain', body: Json | Uint8Array, query = '', path = `${inN}/a`) =>
    endOf(async () => {
      const sent = { type: type === 'text/plain' ? type : types[type], body: JSON.stringify(body) }
      const response = await createPatch(services)(callOf(`PATCH ${path}?${query}`, { kind, ...sent }))
      return [response.status, response.headers['warning']]
    })
  return { ask, patches: () => services.asked.map(([, , , patch, options]) => [patch, options] as const) }
}

const typed = { apiVersion: 'g.dev/v1', kind: 'K' }
const operation = { op: 'add', path: '/spec/a', value: 1 }
const invalid = 'INVALID: PatchOptions.meta.k8s.io "" is invalid:'

describe('a patch', () => {
  it.each<[keyof typeof types, Json, string, JsonObject]>([
    ['merge', { spec: {} }, '', { type: 'merge', body: { spec: {} } }],
    ['json', [operation], '', { type: 'json', body: [operation] }],
    [
      'apply',
      typed,
      'fieldManager=m',
      { type: 'apply', body: { ...typed, metadata: { name: 'a', namespace: 'n' } }, force: false },
    ],
    [
      'apply',
      typed,
      'fieldManager=m&force=true',
      { type: 'apply', body: { ...typed, metadata: { name: 'a', namespace: 'n' } }, force: true },
    ],
  ])('of type %s with %j by %j', async (type, body, query, patch) => {
    const { ask, patches } = open()
    expect(await ask(type, body, query)).toEqual([200, undefined])
    expect(patches()[0]?.[0]).toStrictEqual(patch)
  })

  it.each([
    ['created', 201],
    ['updated', 200],
    ['unchanged', 200],
  ] as const)('by which an object is %s is a %i', async (outcome, status) => {
    expect(await open(outcome).ask('merge', {})).toEqual([status, undefined])
  })

  it('has the options of its query, and who asks', async () => {
    const { ask, patches } = open()
    await ask('merge', {}, 'dryRun=All', `${inN}/a/status`)
    expect(patches()[0]?.[1]).toStrictEqual({
      manager: 'kubectl',
      dryRun: true,
      said: { dryRun: ['All'] },
      subresource: 'status',
      user: { name: 'ann', groups: [] },
    })
  })

  it('of a built-in kind merges the lists that have keys', async () => {
    const { ask, patches } = open('updated', secretKind)
    await ask('strategic', { metadata: { finalizers: ['a/b'] } }, '', '/api/v1/namespaces/n/secrets/a')
    expect(patches()[0]?.[0]).toMatchObject({ type: 'merge', keyedBy: { properties: { metadata: {} } } })
    const group = 'apps.k8s.io'
    const defined = open('updated', { ...plainKind, group })
    await defined.ask('strategic', { spec: {} })
    expect(defined.patches()[0]?.[0]).toStrictEqual({ type: 'merge', body: { spec: {} } })
  })

  const notText = "BAD_REQUEST: Object 'Kind' is missing in the apply patch"
  const noVersion =
    'BAD_REQUEST: Incorrect version specified in apply patch. Specified patch version: , expected: g.dev/v1'
  const noList = 'BAD_REQUEST: the body of a JSON patch must be a list of operations'
  const named = 'fieldManager=m'
  it.each<[keyof typeof types | 'text/plain', Json, string, string | RegExp]>([
    ['merge', [], '', 'BAD_REQUEST: the body of a merge patch must be an object'],
    ['merge', {}, 'force=true', `${invalid} force: Forbidden: may not be specified for non-apply patch`],
    ['merge', {}, 'force', `${invalid} force: Forbidden: may not be specified for non-apply patch`],
    ['json', {}, '', noList],
    ['json', [1], '', noList],
    ['strategic', [], '', 'BAD_REQUEST: the body of a merge patch must be an object'],
    ['strategic', {}, '', /^UNSUPPORTED_MEDIA_TYPE: .*strategic-merge-patch\+json: kinds defined by a Custom/],
    [
      'text/plain',
      {},
      '',
      'UNSUPPORTED_MEDIA_TYPE: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml; it was text/plain',
    ],
    ['apply', typed, '', `${invalid} fieldManager: Required value: is required for apply patch`],
    ['apply', { ...typed, kind: '' }, named, notText],
    ['apply', { apiVersion: 'g.dev/v1' }, named, notText],
    ['apply', { kind: 'K' }, named, noVersion],
    ['apply', { ...typed, apiVersion: '' }, named, noVersion],
    ['apply', { ...typed, metadata: { name: 'b' } }, named, /^BAD_REQUEST: the name of the object \(b\)/],
  ])('of type %s with %j by %j is refused', async (type, body, query, why) => {
    const { ask, patches } = open()
    const end = await ask(type, body, query)
    if (typeof why === 'string') expect(end).toBe(why)
    else expect(end).toMatch(why)
    expect(patches()).toEqual([])
  })

  it('of a collection is refused', async () => {
    expect(await open().ask('merge', {}, '', inN)).toMatch(/^METHOD_NOT_ALLOWED: /)
  })
})

describe('what is wrong with a patch and harms nothing', () => {
  const odd = { ...operation, note: 1, why: 2 }
  it.each<[keyof typeof types, Json, string | undefined]>([
    ['merge', {}, undefined],
    ['json', [operation, { op: 'move', from: '/a', path: '/b' }], undefined],
    [
      'json',
      [operation, odd],
      '299 - "json patch unknown field \\"[1].note\\"", 299 - "json patch unknown field \\"[1].why\\""',
    ],
  ])('of type %s with %j is warned of', async (type, body, warning) => {
    expect(await open().ask(type, body)).toEqual([200, warning])
  })

  it('is refused under Strict in the words of its type', async () => {
    const strict = 'fieldValidation=Strict'
    expect(await open().ask('json', [odd], strict)).toMatch(/^INVALID: .*patch: Invalid value: .*json patch unknown/)
    const twice = { type: types.apply, body: '{"apiVersion":"g.dev/v1","kind":"K","kind":"K"}' }
    const applied = createPatch(fakeServices({}))(callOf(`PATCH ${inN}/a?fieldManager=m&${strict}`, twice))
    await expect(applied).rejects.toMatchObject({ code: 'UNDECODABLE' })
  })

  it('is reported a hundred times at most, and for whole operations', async () => {
    const { ask } = open()
    const operations = Array.from({ length: 60 }, () => odd)
    const end = await ask('json', operations, 'fieldValidation=Strict')
    expect(String(end).match(/json patch unknown field/g)).toHaveLength(100)
  })
})

it('a JSON patch has ten thousand operations at most', () => {
  const read = (length: number) => {
    const operations = Array.from({ length }, () => ({}))
    return patchOf(plainKind, 'application/json-patch+json', operations).patch.body
  }
  expect(read(10_000)).toHaveLength(10_000)
  expect(endOf(() => read(10_001))).toBe(
    'TOO_LARGE: The allowed maximum operations in a JSON patch is 10000, got 10001',
  )
})
