import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHarness, createWidgetHarness, type Harness } from './harness.ts'

let harness: Harness
beforeAll(async () => {
  harness = await createWidgetHarness()
})
afterAll(() => harness.close())

const aggregated = (...versions: readonly string[]): string =>
  [
    ...versions.map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`),
    'application/json',
  ].join(',')

describe('/version', () => {
  it('is a stable Kubernetes release that names Setpoint', async () => {
    const { body } = await harness.send('GET /version?timeout=32s')
    expect(body).toMatchObject({ major: '1', minor: '32', gitVersion: 'v1.32.0+setpoint.0.1.0' })
    expect(body.gitVersion).toMatch(/^v\d+\.\d+\.\d+\+[0-9A-Za-z.-]+$/)
  })
})

describe('health', () => {
  it.each(['/healthz', '/livez', '/readyz'])('%s answers without a token', async (path) => {
    expect(await harness.send(`GET ${path}`, { token: '' })).toMatchObject({ status: 200, body: 'ok' })
  })

  it.each([
    ['/healthz?verbose', '[+]ping ok\nhealthz check passed\n'],
    ['/livez?verbose=1&exclude=ping', '[+]ping excluded: ok\nlivez check passed\n'],
    ['/readyz?verbose', '[+]ping ok\n[+]writes ok\nreadyz check passed\n'],
    [
      '/readyz?verbose&exclude=writes&exclude=etcd&exclude=a"b',
      '[+]ping ok\n[+]writes excluded: ok\n' +
        'warn: some health checks cannot be excluded: no matches for "etcd","a\\"b"\nreadyz check passed\n',
    ],
    ['/readyz?exclude=etcd', 'ok'],
  ])('%s is told as by Kubernetes, to everybody', async (path, text) => {
    expect(await harness.send(`GET ${path}`, { token: '' })).toMatchObject({ status: 200, body: text })
  })

  it.each(['/healthz/ping', '/livez/ping', '/readyz/ping', '/readyz/writes'])(
    '%s is one check, for who may ask',
    async (path) => {
      expect(await harness.send(`GET ${path}`)).toMatchObject({ status: 200, body: 'ok' })
      expect(await harness.send(`GET ${path}`, { token: '' })).toMatchObject({ status: 401 })
      expect(await harness.send(`GET ${path}`, { token: 'alice' })).toMatchObject({ status: 403 })
    },
  )

  it('is told by each check for itself', async () => {
    expect(await harness.send('GET /readyz/etcd')).toMatchObject({ status: 404 })
    const full = await createHarness({ isReady: async () => false })
    const failed = '[+]ping ok\n[-]writes failed: not taken\nreadyz check failed'
    expect(await full.send('GET /readyz')).toMatchObject({ status: 503, body: failed })
    expect(await full.send('GET /readyz?exclude=writes')).toMatchObject({ status: 200, body: 'ok' })
    expect(await full.send('GET /readyz/writes')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(await full.send('GET /readyz/ping')).toMatchObject({ status: 200 })
    full.close()
  })
})

describe('aggregated discovery', () => {
  const forms = [
    { accept: aggregated('v2', 'v2beta1'), version: 'v2', because: 'kubectl from 1.30 asks for both' },
    { accept: aggregated('v2beta1'), version: 'v2beta1', because: 'kubectl up to 1.29 knows v2beta1 only' },
  ]
  it.each(forms)('is told as $version: $because', async ({ accept, version }) => {
    const { headers, body } = await harness.send('GET /apis', { accept })
    expect(headers['content-type']).toBe(`application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
    expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}` })
  })

  it('names every named group under /apis, built-in ones first, and the core group under /api', async () => {
    const names = async (path: string): Promise<string[]> =>
      (await harness.send(`GET ${path}`, { accept: aggregated('v2') })).body.items.map(
        (item: { metadata: { name: string } }) => item.metadata.name,
      )
    expect(await names('/apis')).toEqual([
      'rbac.authorization.k8s.io',
      'admissionregistration.k8s.io',
      'apiextensions.k8s.io',
      'coordination.k8s.io',
      'events.k8s.io',
      'example.com',
      'apps',
      'batch',
      'networking.k8s.io',
      'apiregistration.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
    ])
    expect(await names('/api')).toEqual([''])
  })

  it('describes a kind with its names, verbs and subresources, the stored version first', async () => {
    const { body } = await harness.send('GET /apis', { accept: aggregated('v2') })
    const group = body.items.find((item: { metadata: { name: string } }) => item.metadata.name === 'example.com')
    const responseKind = { group: 'example.com', version: 'v1', kind: 'Widget' }
    expect(group.versions.map((version: { version: string }) => version.version)).toEqual(['v1', 'v1beta1'])
    expect(group.versions[0]).toEqual({
      version: 'v1',
      freshness: 'Current',
      resources: [
        {
          resource: 'widgets',
          responseKind,
          scope: 'Namespaced',
          singularResource: 'widget',
          verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
          shortNames: ['wd'],
          categories: ['all'],
          subresources: [{ subresource: 'status', responseKind, verbs: ['get', 'patch', 'update'] }],
        },
      ],
    })
  })

  it('offers reviews for creation only', async () => {
    const { body } = await harness.send('GET /apis', { accept: aggregated('v2') })
    const group = body.items.find(
      (item: { metadata: { name: string } }) => item.metadata.name === 'authentication.k8s.io',
    )
    expect(group.versions[0].resources).toMatchObject([
      { resource: 'selfsubjectreviews', scope: 'Cluster', verbs: ['create'] },
      { resource: 'tokenreviews', scope: 'Cluster', verbs: ['create'] },
    ])
  })
})

describe('legacy discovery', () => {
  const documents = [
    { path: '/api', is: { kind: 'APIVersions', versions: ['v1'] } },
    {
      path: '/apis/example.com',
      is: {
        kind: 'APIGroup',
        name: 'example.com',
        preferredVersion: { groupVersion: 'example.com/v1', version: 'v1' },
      },
    },
    { path: '/api/v1', is: { kind: 'APIResourceList', groupVersion: 'v1' } },
    { path: '/apis/example.com/v1', is: { kind: 'APIResourceList', groupVersion: 'example.com/v1' } },
  ]
  it.each(documents)('has $path', async ({ path, is }) => {
    expect(await harness.send(`GET ${path}`, { accept: 'application/json' })).toMatchObject({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: is,
    })
  })

  it('lists groups with their versions', async () => {
    const { body } = await harness.send('GET /apis')
    expect(
      body.groups.map((group: { name: string; versions: readonly { version: string }[] }) => [
        group.name,
        group.versions.map(({ version }) => version),
      ]),
    ).toEqual([
      ['rbac.authorization.k8s.io', ['v1']],
      ['admissionregistration.k8s.io', ['v1', 'v1beta1', 'v1alpha1']],
      ['apiextensions.k8s.io', ['v1']],
      ['coordination.k8s.io', ['v1']],
      ['events.k8s.io', ['v1']],
      ['example.com', ['v1', 'v1beta1']],
      ['apps', ['v1']],
      ['batch', ['v1']],
      ['networking.k8s.io', ['v1']],
      ['apiregistration.k8s.io', ['v1']],
      ['authentication.k8s.io', ['v1']],
      ['authorization.k8s.io', ['v1']],
    ])
  })

  it('lists resources with their status', async () => {
    const { body } = await harness.send('GET /apis/example.com/v1')
    expect(body.resources).toEqual([
      expect.objectContaining({
        name: 'widgets',
        singularName: 'widget',
        namespaced: true,
        kind: 'Widget',
        shortNames: ['wd'],
        categories: ['all'],
      }),
      { name: 'widgets/status', singularName: '', namespaced: true, kind: 'Widget', verbs: ['get', 'patch', 'update'] },
    ])
  })
})

describe('the root', () => {
  it('names the paths there are, and each of them answers', async () => {
    const { body } = await harness.send('GET /')
    expect(body.paths).toEqual(
      expect.arrayContaining(['/api', '/apis', '/metrics', '/openapi/v3', '/readyz', '/version']),
    )
    for (const path of body.paths as readonly string[]) expect((await harness.send(`GET ${path}`)).status).toBe(200)
  })
})

describe('Services, which kubectl cluster-info asks for', () => {
  const services = '/api/v1/namespaces/kube-system/services'

  it('are in discovery, to be read', async () => {
    const { body } = await harness.send('GET /api/v1')
    expect(body.resources.find(({ name }: { name: string }) => name === 'services')).toMatchObject({
      kind: 'Service',
      shortNames: ['svc'],
      categories: ['all'],
      verbs: ['get', 'list', 'watch'],
    })
  })

  it('are none', async () => {
    const { status, body } = await harness.send(`GET ${services}?labelSelector=kubernetes.io%2Fcluster-service%3Dtrue`)
    expect([status, body]).toMatchObject([200, { kind: 'ServiceList', apiVersion: 'v1', items: [] }])
    expect((await harness.send(`GET ${services}/dns`)).status).toBe(404)
  })

  it.each([
    `POST ${services}`,
    `PUT ${services}/s`,
    `PATCH ${services}/s`,
    `DELETE ${services}/s`,
    `DELETE ${services}`,
  ])('cannot be made or changed: %s is a 405', async (line) => {
    const { status, body } = await harness.send(line, { body: { metadata: { name: 's' } } })
    expect([status, body.reason]).toEqual([405, 'MethodNotAllowed'])
  })
})

describe('APIServices', () => {
  const path = '/apis/apiregistration.k8s.io/v1/apiservices'

  it('are the group versions that are served, in pages, and by name', async () => {
    const { body } = await harness.send(`GET ${path}`)
    const names: string[] = body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    expect(names).toEqual(expect.arrayContaining(['v1.', 'v1.apps', 'v1.example.com', 'v1.authorization.k8s.io']))
    const { groups } = (await harness.send('GET /apis')).body
    expect(names).toHaveLength(1 + groups.flatMap(({ versions }: { versions: unknown[] }) => versions).length)
    const { body: first } = await harness.send(`GET ${path}?limit=2`)
    const { body: second } = await harness.send(`GET ${path}?continue=${first.metadata.continue}`)
    expect([...first.items, ...second.items]).toEqual(body.items)
    expect((await harness.send(`GET ${path}/v1.apps`)).body).toMatchObject({
      spec: { group: 'apps', version: 'v1' },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    })
    expect((await harness.send(`GET ${path}/v9.apps`)).status).toBe(404)
  })

  it('are numbered so that what discovery names first is preferred', async () => {
    const { items } = (await harness.send(`GET ${path}`)).body
    const numbers = items.map(({ spec }: { spec: Readonly<Record<string, number>> }) => [
      spec['groupPriorityMinimum'],
      spec['versionPriority'],
    ])
    expect(numbers).toEqual(numbers.map((_: unknown, place: number) => [18_000 - place, 1_000 - place]))
  })

  it('begin at the first and end with the last, however long a page is', async () => {
    const { items } = (await harness.send(`GET ${path}`)).body
    for (const limit of [1, items.length - 1, items.length, items.length + 1]) {
      const { body } = await harness.send(`GET ${path}?limit=${limit}`)
      expect(body.items).toEqual(items.slice(0, limit))
      expect(body.metadata.continue !== undefined).toBe(limit < items.length)
    }
  })
})

describe('what is not there', () => {
  const rows = [
    'GET /apis/nowhere.com',
    'GET /apis/nowhere.com/v1',
    'GET /api/v2',
    'GET /openapi',
    'GET /openapi/v4',
    'GET /openapi/v3/apis/nowhere.com/v1',
    'GET /metric',
  ]
  it.each(rows)('%s is a 404 that kubectl understands', async (line) => {
    expect(await harness.send(line)).toMatchObject({
      status: 404,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        reason: 'NotFound',
        code: 404,
        message: 'the server could not find the requested resource',
      },
    })
  })

  const resources = [
    { line: 'GET /apis/apps/v2/namespaces/default/deployments', why: 'apps/v2 has no resource "deployments"' },
    { line: 'POST /api/v1/namespaces/default/limitranges', why: 'v1 has no resource "limitranges"' },
    { line: 'GET /apis/example.com/v9/widgets', why: 'example.com/v9 has no resource "widgets"' },
    { line: 'GET /apis/example.com/v1/widgets/w1', why: 'widgets are in namespaces' },
    {
      line: 'GET /apis/apiextensions.k8s.io/v1/namespaces/default/customresourcedefinitions',
      why: 'customresourcedefinitions are in no namespace',
    },
  ]
  it.each(resources)('says why: $line', async ({ line, why }) => {
    const { status, body } = await harness.send(line)
    expect([status, body.message]).toEqual([404, `the server could not find the requested resource: ${why}`])
  })

  const workloads = [
    { line: 'POST /apis/apps/v1/namespaces/default/deployments', name: 'deployments.apps' },
    { line: 'POST /api/v1/namespaces/default/pods', name: 'pods' },
  ]
  it.each(workloads)('says why nothing is stored: $line', async ({ line, name }) => {
    expect((await harness.send(line)).body).toMatchObject({
      reason: 'MethodNotAllowed',
      code: 405,
      message: `the server does not allow this method on the requested resource: Setpoint is no cluster and stores no ${name}; it lists none for tools that ask`,
    })
  })

  it('cannot be written', async () => {
    expect((await harness.send('POST /version')).body).toMatchObject({ reason: 'MethodNotAllowed', code: 405 })
  })
})

describe('a kind that comes and goes', () => {
  it('is in discovery, schemas and routes at once', async () => {
    const own = await createWidgetHarness()
    expect((await own.send('GET /apis/example.com/v1')).status).toBe(200)
    expect((await own.send('GET /apis/example.com/v1/widgets')).status).toBe(200)
    const { body } = await own.send('GET /openapi/v3')
    expect(Object.keys(body.paths)).toContain('apis/example.com/v1')
    own.close()
  })
})
