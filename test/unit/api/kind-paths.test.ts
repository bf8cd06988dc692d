import { describe, expect, it } from 'vitest'
import { timerKind, apiServiceKind } from '../../../shared/api/computed/computed-kinds.ts'
import { openApiDocuments } from '../../../shared/api/openapi/documents.ts'
import { kindPaths } from '../../../shared/api/openapi/kind-paths.ts'
import { kindSchemas } from '../../../shared/api/openapi/kind-schemas.ts'
import { openApiV2Protobuf } from '../../../shared/api/openapi/static-v2.ts'
import { textHash } from '../../../shared/api/openapi/text-hash.ts'
import { createRest, piecesOf } from '../../../shared/api/openapi/hashed-text.ts'
import { openApiV2Document } from '../../../shared/api/openapi/v2-document.ts'
import { reviewKinds } from '../../../shared/api/reviews/review-kinds.ts'
import type { Json, JsonObject } from '../../../shared/model/json.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import { namespaceKind } from '../../../shared/resources/built-in-kinds.ts'
import { plainKind } from './called.ts'

const clusterKind: ServedKind = { ...plainKind, kind: 'C', plural: 'cs', namespaced: false }
const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' }
const reviewOf = (name: string) => reviewKinds.find(({ kind }) => kind === name) as ServedKind

type Operations = Readonly<Record<string, JsonObject>>
const pathsOf = (kind: ServedKind) => kindPaths(kind) as unknown as Readonly<Record<string, Operations>>
const namesOf = (values: Json | undefined) => (values as unknown as readonly { name: string }[]).map(({ name }) => name)

/** Each path with its methods, and the operations by name. */
function operationsOf(kind: ServedKind): Readonly<Record<string, string>> {
  const methods = Object.entries(pathsOf(kind)).map(([path, operations]) => {
    const { parameters: _, ...rest } = operations
    return [path, Object.keys(rest).join(' ')] as const
  })
  return Object.fromEntries(methods)
}

describe('the paths of a kind', () => {
  const ks = '/apis/g.dev/v1/namespaces/{namespace}/ks'
  const cs = '/apis/g.dev/v1/cs'
  const namespaces = '/api/v1/namespaces'
  const setpoint = '/apis/setpoint.dev/v1'
  const one = 'get put patch delete'
  it.each<[string, ServedKind, Readonly<Record<string, string>>]>([
    ['in namespaces', plainKind, { [ks]: 'get post delete', '/apis/g.dev/v1/ks': 'get', [`${ks}/{name}`]: one }],
    ['of the cluster', clusterKind, { [cs]: 'get post delete', [`${cs}/{name}`]: one }],
    [
      'with parts',
      { ...clusterKind, hasStatus: true, scale },
      {
        [cs]: 'get post delete',
        [`${cs}/{name}`]: one,
        [`${cs}/{name}/status`]: 'get put patch',
        [`${cs}/{name}/scale`]: 'get put patch',
      },
    ],
    [
      'with a scale alone',
      { ...clusterKind, scale },
      { [cs]: 'get post delete', [`${cs}/{name}`]: one, [`${cs}/{name}/scale`]: 'get put patch' },
    ],
    [
      'of namespaces themselves',
      namespaceKind,
      {
        [namespaces]: 'get post',
        [`${namespaces}/{name}`]: one,
        [`${namespaces}/{name}/status`]: 'get put patch',
        [`${namespaces}/{name}/finalize`]: 'put',
      },
    ],
    ['that is asked', reviewOf('SelfSubjectReview'), { '/apis/authentication.k8s.io/v1/selfsubjectreviews': 'post' }],
    [
      'that is asked in a namespace',
      reviewOf('LocalSubjectAccessReview'),
      { '/apis/authorization.k8s.io/v1/namespaces/{namespace}/localsubjectaccessreviews': 'post' },
    ],
    [
      'that is computed',
      timerKind,
      {
        [`${setpoint}/namespaces/{namespace}/timers`]: 'get',
        [`${setpoint}/timers`]: 'get',
        [`${setpoint}/namespaces/{namespace}/timers/{name}`]: 'get',
      },
    ],
    [
      'that is computed of the cluster',
      apiServiceKind,
      {
        '/apis/apiregistration.k8s.io/v1/apiservices': 'get',
        '/apis/apiregistration.k8s.io/v1/apiservices/{name}': 'get',
      },
    ],
  ])('%s', (_what, kind, operations) => {
    expect(operationsOf(kind)).toEqual(operations)
  })

  it('name what stands in them', () => {
    const of = (kind: ServedKind) => Object.values(pathsOf(kind)).map(({ parameters = [] }) => namesOf(parameters))
    expect(of(plainKind)).toEqual([['namespace'], [], ['name', 'namespace']])
    expect(of({ ...clusterKind, hasStatus: true })).toEqual([[], ['name'], ['name']])
    expect(of(timerKind)).toEqual([['namespace'], [], ['name', 'namespace']])
    const [item] = Object.entries(pathsOf(plainKind)).flatMap(([path, { parameters }]) =>
      path.endsWith('{name}') ? [parameters] : [],
    )
    expect(item).toMatchObject([
      { name: 'name', in: 'path', required: true },
      { name: 'namespace', in: 'path', required: true },
    ])
  })
})

describe('an operation', () => {
  const [collection = {}, everywhere = {}, item = {}] = Object.values(pathsOf(plainKind))
  const ref = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } })

  it('says what it does, with which kind, and what it gives', () => {
    expect(item['get']).toStrictEqual({
      operationId: 'readGDevV1NamespacedK',
      description: 'read the specified K',
      tags: ['g.dev_v1'],
      parameters: [],
      responses: {
        '200': { description: 'OK', content: { 'application/json': ref('dev.g.v1.K') } },
        '401': { description: 'Unauthorized' },
      },
      'x-kubernetes-action': 'get',
      'x-kubernetes-group-version-kind': { group: 'g.dev', version: 'v1', kind: 'K' },
    })
  })

  it('says what it takes', () => {
    expect(collection['post']?.['requestBody']).toStrictEqual({
      content: { 'application/json': ref('dev.g.v1.K') },
      required: true,
    })
    const patch = item['patch']?.['requestBody'] as { content: object }
    expect(Object.keys(patch.content)).toEqual([
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
    ])
  })

  it('says which answers it may get: a client that is generated knows no other', () => {
    const { '/apis/g.dev/v1/namespaces/{namespace}/ks/{name}/status': status = {} } = pathsOf({
      ...plainKind,
      hasStatus: true,
    })
    const answersOf = (operation: JsonObject | undefined) => Object.keys(operation?.['responses'] ?? {})
    const [one, made] = [
      ['200', '401'],
      ['200', '201', '401'],
    ]
    expect([collection['get'], collection['post'], collection['delete']].map(answersOf)).toEqual([one, made, one])
    expect(['get', 'put', 'patch', 'delete'].map((method) => answersOf(item[method]))).toEqual([one, made, made, one])
    expect(['get', 'put', 'patch'].map((method) => answersOf(status[method]))).toEqual([one, one, one])
    expect(collection['post']).toMatchObject({
      responses: { '201': { description: 'Created', content: { 'application/json': ref('dev.g.v1.K') } } },
    })
  })

  const writes = ['dryRun', 'fieldManager', 'fieldValidation']
  const deletes = ['dryRun', 'gracePeriodSeconds', 'propagationPolicy']
  const selectors = ['labelSelector', 'fieldSelector']
  const lists = [
    ...selectors,
    'limit',
    'continue',
    'watch',
    'resourceVersion',
    'resourceVersionMatch',
    'sendInitialEvents',
    'allowWatchBookmarks',
    'timeoutSeconds',
  ]
  const places = { collection, everywhere, item }
  it.each<[keyof typeof places, string, string, readonly string[], string]>([
    ['collection', 'get', 'listGDevV1NamespacedK', lists, 'list'],
    ['everywhere', 'get', 'listForAllNamespacesGDevV1NamespacedK', lists, 'list'],
    ['collection', 'post', 'createGDevV1NamespacedK', writes, 'post'],
    ['collection', 'delete', 'deleteCollectionGDevV1NamespacedK', [...deletes, ...selectors], 'deletecollection'],
    ['item', 'put', 'replaceGDevV1NamespacedK', writes, 'put'],
    ['item', 'patch', 'patchGDevV1NamespacedK', [...writes, 'force'], 'patch'],
    ['item', 'delete', 'deleteGDevV1NamespacedK', deletes, 'delete'],
  ])('of %s to %s is %s', (...row) => {
    const [place, method, operationId, parameters, action] = row
    const operation = places[place][method]
    expect(operation).toMatchObject({ operationId, 'x-kubernetes-action': action })
    expect(namesOf(operation?.['parameters'])).toEqual(parameters)
    for (const parameter of (operation?.['parameters'] ?? []) as readonly JsonObject[])
      expect(parameter).toMatchObject({ in: 'query', schema: { uniqueItems: true } })
  })

  it('of a part has another name, and the kind of the part', () => {
    const paths = pathsOf({ ...clusterKind, hasStatus: true, scale })
    const status = paths['/apis/g.dev/v1/cs/{name}/status']
    const scaled = paths['/apis/g.dev/v1/cs/{name}/scale']
    expect(status?.['get']).toMatchObject({
      operationId: 'readStatusGDevV1C',
      'x-kubernetes-group-version-kind': { kind: 'C' },
    })
    const about = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
    for (const [method, id] of [
      ['get', 'readScaleGDevV1C'],
      ['put', 'replaceScaleGDevV1C'],
      ['patch', 'patchScaleGDevV1C'],
    ] as const)
      expect(scaled?.[method]).toMatchObject({ operationId: id, 'x-kubernetes-group-version-kind': about })
    const schema = { $ref: '#/components/schemas/io.k8s.api.autoscaling.v1.Scale' }
    expect(scaled?.['get']).toMatchObject({ responses: { 200: { content: { 'application/json': { schema } } } } })
    const patch = scaled?.['patch']?.['requestBody'] as { content: object }
    expect(Object.keys(patch.content)).toEqual([
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
    ])
    expect(pathsOf(namespaceKind)['/api/v1/namespaces/{name}']?.['get']).toMatchObject({
      operationId: 'readCoreV1Namespace',
      tags: ['core_v1'],
    })
  })

  it('of what is computed lists without a word of watches', () => {
    const [listed, , read] = Object.values(pathsOf(timerKind))
    const [ofCluster] = Object.values(pathsOf(apiServiceKind))
    expect(read?.['get']).toMatchObject({ operationId: 'readSetpointDevV1NamespacedTimer' })
    expect(ofCluster?.['get']).toMatchObject({ operationId: 'listApiregistrationK8sIoV1APIService' })
    expect(listed?.['get']).toMatchObject({ description: 'list objects of kind Timer' })
    expect(namesOf(listed?.['get']?.['parameters'])).toEqual(['labelSelector', 'fieldSelector', 'limit', 'continue'])
  })
})

describe('the schemas of a kind', () => {
  it('are of its objects, of their lists, and of its scale', () => {
    expect(Object.keys(kindSchemas(plainKind))).toEqual(['dev.g.v1.K', 'dev.g.v1.KList'])
    expect(Object.keys(kindSchemas({ ...namespaceKind, scale }))).toEqual([
      'io.k8s.api.core.v1.Namespace',
      'io.k8s.api.core.v1.NamespaceList',
      'io.k8s.api.autoscaling.v1.Scale',
    ])
  })

  it('show the wait of the engine beside the status, of kinds of users', () => {
    const status = { type: 'object', description: 'Mine.', properties: { phase: { type: 'string' } } } as const
    const own = { ...plainKind, schema: { type: 'object', properties: { status } } } as const
    const shown = (kind: ServedKind) => (kindSchemas(kind)['dev.g.v1.K'] as JsonObject)['properties'] as JsonObject
    expect(shown(own)['status']).toMatchObject({
      description: 'Mine.',
      properties: { phase: { type: 'string' }, reconcile: { type: 'object' } },
    })
    expect(shown(plainKind)['status']).toMatchObject({
      description: 'What was observed.',
      properties: { reconcile: {} },
    })
    expect(shown({ ...own, builtIn: true })['status']).toEqual(status)
    expect(shown({ ...plainKind, builtIn: true })).not.toHaveProperty('status')
  })
})

describe('a document', () => {
  const versions = [
    { group: '', version: 'v1', kinds: [namespaceKind] },
    { group: 'g.dev', version: 'v1', kinds: [plainKind] },
  ]

  const setting = { setpoint: '0.1.0', rest: async () => {} }

  it('is there for each version, under the hash of its text', async () => {
    const { index, documents } = await openApiDocuments(versions, setting)
    expect([...documents.keys()]).toEqual(['api/v1', 'apis/g.dev/v1'])
    const { text, hash } = documents.get('apis/g.dev/v1') ?? { text: '', hash: '' }
    expect(hash).toBe(textHash(text))
    expect(JSON.parse(text)).toMatchObject({ openapi: '3.0.0', info: { title: 'Setpoint', version: '0.1.0' } })
    expect(JSON.parse(index.text)).toMatchObject({
      paths: { 'apis/g.dev/v1': { serverRelativeURL: `/openapi/v3/apis/g.dev/v1?hash=${hash}` } },
    })
  })

  it('is made again only if a kind of its version has changed', async () => {
    const before = await openApiDocuments(versions, setting)
    const changed = [versions[0], { ...versions[1], kinds: [{ ...plainKind, singular: 'other' }] }] as typeof versions
    const after = await openApiDocuments(changed, setting, before)
    expect(after.documents.get('api/v1')).toBe(before.documents.get('api/v1'))
    expect(after.documents.get('apis/g.dev/v1')).not.toBe(before.documents.get('apis/g.dev/v1'))
    const fewer = [{ ...versions[0], kinds: [] }] as unknown as typeof versions
    expect((await openApiDocuments(fewer, setting, before)).documents.get('api/v1')?.kinds).toEqual([])
  })

  it('gives others their turn while it is made, after so many characters', async () => {
    let turns = 0
    const rest = createRest({ nextTurn: async () => void turns++ })
    const after: number[] = []
    for (const characters of [199_999, 1, 100_000, 99_999, 1, 500_000, 199_999]) {
      await rest(characters)
      after.push(turns)
    }
    expect(after).toEqual([0, 1, 1, 1, 2, 3, 3])
    const description = 'd'.repeat(150_000)
    const large = Array.from({ length: 10 }, (_, i): ServedKind => ({
      ...plainKind,
      kind: `K${i}`,
      listKind: `K${i}List`,
      schema: { type: 'object', description },
    }))
    turns = 0
    await openApiV2Document([{ group: 'g.dev', version: 'v1', kinds: large }], { setpoint: '0.1.0', rest })
    // While the parts are made, and while the hash of all is made.
    expect(turns).toBeGreaterThanOrEqual(9)
  })

  it.each<[string, [string, string][]]>([
    ['{}', []],
    ['{"a":1}', [['a', '1']]],
    [
      '{"a":1,"b":{}}',
      [
        ['a', '1'],
        ['b', '{}'],
      ],
    ],
  ])('is one object, however many fields it has: %s', (text, fields) => {
    expect([...piecesOf(new Map(fields))].join('')).toBe(text)
  })

  it('has a hash of sixteen digits that each letter and its place count for', () => {
    const texts = ['', 'a', 'b', 'ab', 'ba', 'aa', 'a'.repeat(1_000), 'ü', '\u0000']
    const hashes = texts.map(textHash)
    expect(new Set(hashes).size).toBe(texts.length)
    for (const hash of hashes) expect(hash).toMatch(/^[\da-f]{16}$/)
    expect(['', 'ab', 'Setpoint'].map(textHash)).toEqual(['1aee8d83c14d9671', '8a846752ed249f8a', '5d5d338cd4b4074a'])
  })

  it('of version 2 in protobuf says what it is', () => {
    const bytes = Buffer.from(openApiV2Protobuf('0.1.0'))
    expect(bytes.toString('latin1')).toBe('\n\x032.0\x12\x11\n\x08Setpoint\x12\x050.1.0B\x00')
  })
})

describe('OpenAPI v2', async () => {
  const properties = {
    plain: { type: 'string', default: 'x' },
    whole: { type: 'object', default: { nullable: true } },
    open: { type: 'string', nullable: true, description: 'd' },
    either: { 'x-kubernetes-int-or-string': true, type: 'string', format: 'f' },
    closed: {
      type: 'object',
      nullable: false,
      properties: { a: { type: 'array', items: { oneOf: [], type: 'string' } } },
    },
    map: { type: 'object', additionalProperties: { type: 'string', not: {} } },
    any: { type: 'object', additionalProperties: true },
    two: { allOf: [{ required: ['a'] }, { required: ['b'] }], type: 'object' },
  }
  const kind = { ...plainKind, schema: { type: 'object', properties } } as unknown as ServedKind
  const setting = { setpoint: '0.1.0', rest: async () => {} }
  const { text } = await openApiV2Document([{ group: 'g.dev', version: 'v1', kinds: [kind] }], setting)
  const document = JSON.parse(text) as JsonObject
  const [collection, , item] = Object.values(document['paths'] as Readonly<Record<string, Operations>>)

  it('is a document with paths and definitions', () => {
    expect(document).toMatchObject({
      swagger: '2.0',
      info: { title: 'Setpoint', version: '0.1.0' },
      security: [{ BearerToken: [] }],
      securityDefinitions: { BearerToken: { type: 'apiKey', name: 'authorization', in: 'header' } },
    })
  })

  it('leaves out what it has no words for', () => {
    const { properties: shown } = (document['definitions'] as Operations)['dev.g.v1.K'] ?? {}
    expect(shown).toMatchObject({ metadata: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' } })
    const { metadata, ...fields } = shown as JsonObject
    expect(metadata).toStrictEqual({
      description: "Standard object's metadata.",
      $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    })
    expect(fields).toMatchObject({
      plain: { type: 'string', default: 'x' },
      whole: { type: 'object', default: { nullable: true } },
      any: { type: 'object', additionalProperties: true },
    })
    expect([fields['open'], fields['either'], fields['closed'], fields['map'], fields['two']]).toStrictEqual([
      { description: 'd' },
      { 'x-kubernetes-int-or-string': true },
      { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'object' },
    ])
  })

  it('has bodies among the parameters, and the types of all', () => {
    const $ref = '#/definitions/dev.g.v1.K'
    expect(collection?.['post']).toMatchObject({
      consumes: ['application/json'],
      produces: ['application/json', 'application/yaml'],
      schemes: ['https'],
    })
    const posted = collection?.['post']?.['parameters'] as JsonObject[]
    expect(posted.slice(0, 2)).toStrictEqual([
      { name: 'body', in: 'body', required: true, schema: { $ref } },
      {
        name: 'dryRun',
        in: 'query',
        description: 'All: do everything but the write.',
        type: 'string',
        uniqueItems: true,
      },
    ])
    expect(item?.['get']).toMatchObject({ consumes: ['*/*'], parameters: [] })
    expect(item?.['get']).not.toHaveProperty('requestBody')
    expect(item?.['get']?.['responses']).toStrictEqual({
      '200': { description: 'OK', schema: { $ref } },
      '401': { description: 'Unauthorized' },
    })
    expect(item?.['parameters']).toMatchObject([
      { name: 'name', in: 'path', type: 'string' },
      { name: 'namespace', in: 'path', type: 'string' },
    ])
  })
})
