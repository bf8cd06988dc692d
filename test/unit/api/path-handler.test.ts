import { describe, expect, it } from 'vitest'
import type { ApiServices } from '../../../shared/api/call.ts'
import { createPathHandler } from '../../../shared/api/paths.ts'
import type { PathAnswer } from '../../../shared/api/path-answer.ts'
import { json, plainText } from '../../../shared/api/reply.ts'
import { requestInfo } from '../../../shared/api/request-info.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { ServedKind } from '../../../shared/model/served-kind.ts'
import type { TokenSigner } from '../../../shared/ports/token-signer.ts'
import { plainKind } from './called.ts'
import { endOf } from './end-of.ts'
import type { Reply } from './harness.ts'
import { request, type Sent } from './sent-request.ts'

const newer = { ...plainKind, version: 'v2' }
const fakeCatalog = (kinds: readonly ServedKind[]) => ({ all: async () => kinds }) as unknown as ApiServices['catalog']

const fakeClock: ApiServices['clock'] = { nowMs: () => 0, sleep: async () => {} }

function open(more: Partial<Parameters<typeof createPathHandler>[0]> = {}) {
  const answer = createPathHandler({
    catalog: fakeCatalog([plainKind, newer]),
    version: '0.1.0',
    clock: fakeClock,
    pages: new Map([['metrics', { type: 'text/x', text: () => 'numbers' }]]),
    checks: new Map<string, PathAnswer>([['/livez/ping', async () => plainText(200, 'ok')]]),
    ...more,
  })
  return (line: string, sent: Sent = {}) =>
    endOf(async () => {
      const asked = request(line, sent)
      const info = requestInfo(asked)
      if (info.isResource) return expect.fail('it is a resource')
      const { status, headers, body } = await answer(asked, info.segments)
      const isJson = headers['content-type']?.startsWith('application/json') === true
      return { status, headers, body: isJson ? (JSON.parse(body as string) as JsonObject) : body }
    }) as Promise<Reply>
}

const ask = open()
const notFound = 'NOT_FOUND: the server could not find the requested resource'
const notAllowed = 'METHOD_NOT_ALLOWED: the server does not allow this method on the requested resource'

describe('a path that names no resource', () => {
  it.each([
    'GET /x',
    'GET /openapi',
    'GET /openapi/v1',
    'GET /openapi/v2/x',
    'GET /openapi/v3/x',
    'GET /openapi/v3/apis/h.dev/v1',
    'GET /openapi/v4',
    'GET /x/v2',
    'GET /x/v3',
    'GET /version/x',
    'GET /api/v2',
    'GET /apis/h.dev',
    'GET /apis/g.dev/v3',
    'GET /metrics/x',
    'GET /livez/x',
  ])('is not there: %s', async (line) => {
    expect(await ask(line)).toBe(notFound)
  })

  it.each(['POST /version', 'PUT /metrics', 'DELETE /api', 'POST /', 'POST /x'])(
    'cannot be written: %s',
    async (line) => {
      expect(await ask(line)).toBe(notAllowed)
    },
  )

  it('has what stands alone', async () => {
    expect(await ask('GET /version')).toMatchObject({ status: 200, body: { gitVersion: 'v1.32.0+setpoint.0.1.0' } })
    expect(await ask('HEAD /version')).toMatchObject({ status: 200 })
    expect(await ask('GET /livez/ping')).toMatchObject({ status: 200, body: 'ok' })
    expect(await ask('GET /metrics')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/x' },
      body: 'numbers',
    })
  })

  it('is among those that the root names, each once', async () => {
    const paths = ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version']
    expect(await ask('GET /')).toMatchObject({ status: 200, body: { paths: [...paths, '/livez/ping', '/metrics'] } })
    const operations = new Map([['drain', async () => json(200, {})]])
    const more = open({ operations, tokens: {} as TokenSigner, pages: new Map() })
    const { body } = await more('GET /')
    const own = ['/livez/ping', '/.well-known/openid-configuration', '/openid/v1/jwks', '/drain']
    expect(body.paths).toEqual([...paths, ...own])
  })
})

describe('an operation on the whole control plane', () => {
  const operations = new Map([['drain', async () => json(202, { done: true })]])
  it('is a POST to its path', async () => {
    const askAll = open({ operations })
    expect(await askAll('POST /drain')).toMatchObject({ status: 202, body: { done: true } })
    expect(await askAll('POST /drain/x')).toBe(notAllowed)
    expect(await askAll('PUT /drain')).toBe(notAllowed)
    expect(await askAll('GET /drain')).toBe(notFound)
    expect(await askAll('POST /')).toBe(notAllowed)
  })
})

describe('how others know tokens of accounts again', () => {
  it('is told by the keys, to be kept for an hour', async () => {
    const key = { kty: 'EC' }
    const tokens = { publicKeys: async () => [key] } as unknown as TokenSigner
    const askAll = open({ tokens })
    const kept = { 'cache-control': 'public, max-age=3600' }
    expect(await askAll('GET /openid/v1/jwks')).toMatchObject({
      headers: { ...kept, 'content-type': 'application/jwk-set+json' },
      body: JSON.stringify({ keys: [key] }),
    })
    const named = { headers: { host: 'own.dev' } }
    expect(await askAll('GET /.well-known/openid-configuration', named)).toMatchObject({
      headers: kept,
      body: { jwks_uri: 'https://own.dev/openid/v1/jwks', id_token_signing_alg_values_supported: ['ES256'] },
    })
    const { body } = await askAll('GET /.well-known/openid-configuration')
    expect(body.jwks_uri).toBe('https://setpoint/openid/v1/jwks')
    expect(await ask('GET /openid/v1/jwks')).toBe(notFound)
  })
})

describe('discovery', () => {
  it.each([
    ['GET /api', { kind: 'APIVersions' }],
    ['GET /apis', { kind: 'APIGroupList' }],
    ['GET /apis/g.dev', { kind: 'APIGroup', name: 'g.dev' }],
    ['GET /apis/g.dev/v2', { kind: 'APIResourceList', groupVersion: 'g.dev/v2' }],
    ['GET /api/v1', { kind: 'APIResourceList', groupVersion: 'v1' }],
    ['GET /apis/authentication.k8s.io/v1', { kind: 'APIResourceList' }],
  ])('at %s', async (line, body) => {
    expect(await ask(line)).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' }, body })
  })

  const typeOf = (more: string) => `application/json;${more}as=APIGroupDiscoveryList`
  const v2 = typeOf('g=apidiscovery.k8s.io;v=v2;')
  const beta = typeOf('g=apidiscovery.k8s.io;v=v2beta1;')
  it.each([
    [v2, v2],
    [beta, beta],
    [`${v2},${beta}`, v2],
    [`${typeOf('g=apidiscovery.k8s.io;v=v3;')},${beta}`, beta],
    [`application/json,${v2}`, 'application/json'],
    [`text/html;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io,${beta}`, beta],
    [typeOf('g=x.dev;v=v2;'), 'application/json'],
    [typeOf('v=v2;'), 'application/json'],
    ['application/json;as=Table;v=v2;g=apidiscovery.k8s.io', 'application/json'],
    ['', 'application/json'],
  ])('for who accepts %s is of the type %s', async (accept, type) => {
    for (const root of ['api', 'apis']) {
      const { status, headers, body } = await ask(`GET /${root}`, { accept })
      expect(status).toBe(200)
      const isWhole = type !== 'application/json'
      expect([headers['content-type'], body.kind === 'APIGroupDiscoveryList']).toEqual([type, isWhole])
    }
  })

  it('in one document is apart for the core group', async () => {
    const groups = async (root: string) => {
      const { body } = await ask(`GET /${root}`, { accept: v2 })
      return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)
    }
    expect(await groups('api')).toEqual([''])
    const named = await groups('apis')
    expect([named[0], named.includes('')]).toEqual(['g.dev', false])
  })

  it('has what is computed, and what is never there; schemas have none of the latter', async () => {
    const kind = { ...plainKind, kind: 'X', plural: 'xs', group: 'x.dev' }
    const source = { kind, list: async () => ({ items: [] }), find: async () => {} }
    const askAll = open({ computed: [source as never] })
    expect(await askAll('GET /apis/x.dev/v1')).toMatchObject({ body: { resources: [{ name: 'xs' }] } })
    expect(await askAll('GET /openapi/v3/apis/x.dev/v1')).toMatchObject({ status: 200 })
    expect(await askAll('GET /apis/batch/v1')).toMatchObject({ status: 200 })
    expect(await askAll('GET /openapi/v3/apis/batch/v1')).toBe(notFound)
  })
})

describe('schemas', () => {
  it('are in documents with an ETag, and are not sent again to who has them', async () => {
    const { headers, body } = await ask('GET /openapi/v3')
    expect(headers).toMatchObject({
      etag: expect.stringMatching(/^"[\da-f]{16}"$/),
      vary: 'Accept',
      'cache-control': 'no-cache',
    })
    const { serverRelativeURL: url } = body.paths['apis/g.dev/v1']
    const fixed = await ask(`GET ${url}`)
    expect(fixed).toMatchObject({ status: 200, headers: { 'cache-control': 'public, max-age=31536000, immutable' } })
    expect((await ask('GET /openapi/v3/apis/g.dev/v1?hash=x')).headers['cache-control']).toBe('no-cache')
    const again = await ask('GET /openapi/v3', { headers: { 'if-none-match': `W/"x", ${headers.etag}` } })
    expect(again).toMatchObject({ status: 304, body: '', headers: { etag: headers.etag } })
    expect(await ask('GET /openapi/v3', { headers: { 'if-none-match': '"x"' } })).toMatchObject({ status: 200 })
  })

  it.each(['/openapi/v2', '/openapi/v3/apis/g.dev/v1'])('are all there that are named: %s', async (path) => {
    const { body } = await open()(`GET ${path}`)
    const references = JSON.stringify(body).matchAll(/"\$ref":"#\/(?:definitions|components\/schemas)\/([^"]+)"/g)
    const named = [...references].map(([, name = '']) => name)
    const there = body.definitions ?? body.components.schemas
    expect(named).toContain('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
    expect(named.filter((name) => !Object.hasOwn(there, name))).toEqual([])
  })

  it('are in version 2 in JSON and in protobuf', async () => {
    expect(await ask('GET /openapi/v2')).toMatchObject({
      status: 200,
      headers: { 'cache-control': 'no-cache' },
      body: { swagger: '2.0' },
    })
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
    expect(await ask('GET /openapi/v2', { accept })).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' },
    })
    const either = { accept: `application/json, ${accept};q=0.5` }
    expect(await ask('GET /openapi/v2', either)).toMatchObject({ status: 200, body: { swagger: '2.0' } })
  })

  it('are made anew when the kinds have changed', async () => {
    let kinds: readonly ServedKind[] = [plainKind]
    const askAll = open({ catalog: { all: async () => kinds } as unknown as ApiServices['catalog'] })
    const etag = async () => (await askAll('GET /openapi/v3')).headers.etag as string
    const first = await etag()
    kinds = [plainKind]
    expect(await etag()).toBe(first)
    kinds = [plainKind, newer]
    const second = await etag()
    expect(second).not.toBe(first)
    kinds = [newer, plainKind]
    expect(await etag()).toBe(second)
    kinds = [newer]
    expect(await etag()).not.toBe(second)
    expect(await askAll('GET /openapi/v3/apis/g.dev/v1')).toBe(notFound)
  })
})
