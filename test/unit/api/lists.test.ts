import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWidgetHarness, widget, widgets, type Harness, type Reply } from './harness.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
  await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'other' } } })
  await harness.send(`POST ${widgets}`, {
    body: widget('a', { color: 'red', size: 1 }, { labels: { app: 'x', tier: 'web' } }),
  })
  await harness.send(`POST ${widgets}`, { body: widget('b', { color: 'blue' }, { labels: { app: 'y' } }) })
  await harness.send('POST /apis/example.com/v1/namespaces/other/widgets', { body: widget('a', { color: 'red' }) })
})
afterEach(() => harness.close())

const all = '/apis/example.com/v1/widgets'
const names = ({ body }: Reply): string[] =>
  body.items.map(
    ({ metadata }: { metadata: { namespace: string; name: string } }) => `${metadata.namespace}/${metadata.name}`,
  )

describe('a list', () => {
  it('has kind, version, resourceVersion, and items that say what they are', async () => {
    const { status, body } = await harness.send(`GET ${widgets}`)
    expect([status, body.kind, body.apiVersion]).toEqual([200, 'WidgetList', 'example.com/v1'])
    expect(body.metadata.resourceVersion).toMatch(/^\d+$/)
    expect(body.items[0]).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Widget' })
  })

  const selections = [
    { path: widgets, names: ['default/a', 'default/b'], because: 'of one namespace' },
    { path: all, names: ['default/a', 'default/b', 'other/a'], because: 'of all namespaces' },
    { path: `${all}?labelSelector=app%3Dx`, names: ['default/a'], because: 'a label is equal' },
    { path: `${all}?labelSelector=constructor`, names: [], because: 'what all objects inherit is no label' },
    { path: `${all}?labelSelector=app%3Dx,!toString`, names: ['default/a'], because: 'and nothing has it' },
    { path: `${all}?labelSelector=app%20in%20(x,y),!tier`, names: ['default/b'], because: 'two requirements hold' },
    {
      path: `${all}?fieldSelector=metadata.name%3Da`,
      names: ['default/a', 'other/a'],
      because: 'a name over all namespaces',
    },
    {
      path: `${widgets}?fieldSelector=metadata.name%3Da&limit=500&resourceVersion=0`,
      names: ['default/a'],
      because: 'a name in a namespace',
    },
    { path: `${widgets}?fieldSelector=metadata.name%3Dz`, names: [], because: 'a name that is not there' },
    {
      path: `${widgets}?fieldSelector=metadata.name%3Da,spec.color%3Dblue`,
      names: [],
      because: 'the name is right and the color is not',
    },
    {
      path: `${widgets}?fieldSelector=metadata.name%3Da&labelSelector=app%3Dy`,
      names: [],
      because: 'the name is right and the label is not',
    },
    {
      path: `${all}?fieldSelector=spec.color%3Dred`,
      names: ['default/a', 'other/a'],
      because: 'the definition declares the field',
    },
    { path: `${all}?fieldSelector=metadata.namespace!%3Ddefault`, names: ['other/a'], because: 'another namespace' },
    { path: '/apis/example.com/v1/namespaces/nowhere/widgets', names: [], because: 'a namespace without any' },
  ]
  it.each(selections)('$because: $names', async ({ path, names: expected }) => {
    expect(names(await harness.send(`GET ${path}`))).toEqual(expected)
  })

  it.each([
    { query: 'limit=-1', because: 'what is no limit above 0 is none' },
    { query: 'limit=0', because: 'kubectl sends it for --chunk-size=0' },
    { query: 'resourceVersion=0&resourceVersionMatch=NotOlderThan', because: 'the present is not older' },
    { query: 'resourceVersion=1&limit=500', because: 'that is what a reflector asks for' },
  ])('is whole for $query: $because', async ({ query }) => {
    expect(names(await harness.send(`GET ${all}?${query}`))).toEqual(['default/a', 'default/b', 'other/a'])
  })

  it('comes in pages that together are the list, under one resourceVersion', async () => {
    const first = await harness.send(`GET ${all}?limit=2`)
    expect(names(first)).toEqual(['default/a', 'default/b'])
    await harness.send(`POST ${widgets}`, { body: widget('c') })
    const second = await harness.send(`GET ${all}?limit=2&continue=${encodeURIComponent(first.body.metadata.continue)}`)
    expect(names(second).slice(-1)).toEqual(['other/a'])
    expect(second.body.metadata).toEqual({ resourceVersion: first.body.metadata.resourceVersion })
  })

  it('is told exactly at a resourceVersion since which nothing of its kind has changed', async () => {
    const { body } = await harness.send(`GET ${all}`)
    const { resourceVersion } = body.metadata
    await harness.send('POST /api/v1/namespaces/default/configmaps', { body: { metadata: { name: 'other' } } })
    const exact = (query = '') =>
      harness.send(`GET ${all}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact${query}`)
    expect(await exact()).toMatchObject({ status: 200, body: { metadata: { resourceVersion }, items: body.items } })
    const one = await exact('&fieldSelector=metadata.name%3Da,metadata.namespace%3Ddefault')
    expect([names(one), one.body.metadata]).toEqual([['default/a'], { resourceVersion }])
    const page = await exact('&limit=2')
    expect([names(page), page.body.metadata.resourceVersion]).toEqual([['default/a', 'default/b'], resourceVersion])
    await harness.send(`DELETE ${widgets}/b`)
    for (const query of ['', '&limit=2'])
      expect(await exact(query)).toMatchObject({ status: 410, body: { reason: 'Expired' } })
  })

  it('can be watched from its resourceVersion without a gap', async () => {
    for (const query of ['', '?fieldSelector=metadata.name%3Da']) {
      const { body } = await harness.send(`GET ${widgets}${query}`)
      await harness.send(`PATCH ${widgets}/a`, {
        type: 'application/merge-patch+json',
        body: { spec: { size: Number(body.metadata.resourceVersion) } },
      })
      const watch = await harness.watch(`${widgets}?watch=1&resourceVersion=${body.metadata.resourceVersion}`)
      expect(await watch.take(1)).toMatchObject([{ type: 'MODIFIED', object: { metadata: { name: 'a' } } }])
      watch.leave()
    }
  })

  const refused = [
    {
      query: 'limit=many',
      status: 400,
      message: 'unable to decode query parameter limit=many: it must be an integer',
    },
    {
      query: 'limit=1.5',
      status: 400,
      message: 'unable to decode query parameter limit=1.5: it must be an integer',
    },
    {
      query: 'continue=nonsense',
      status: 400,
      message:
        'invalid continue token: continue key is not valid: use the token of the page before, unchanged, or list from the start',
    },
    {
      query: 'resourceVersion=3&continue=eyJuYW1lc3BhY2UiOiIiLCJuYW1lIjoiYSIsInZlcnNpb24iOiIxIn0',
      status: 400,
      message: 'specifying resource version is not allowed when using continue',
    },
    ...['abc', '-1', '1.5', '0x10', '99999999999999999999999999999999999999999'].map((version) => ({
      query: `resourceVersion=${version}`,
      status: 400,
      message: `invalid resource version: resourceVersion: Invalid value: "${version}": it must be a decimal integer, as the server gave it`,
    })),
    {
      query: 'resourceVersionMatch=NotOlderThan',
      status: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    },
    {
      query: 'resourceVersionMatch=Newest&resourceVersion=1',
      status: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
    },
    {
      query: 'resourceVersionMatch=Exact&resourceVersion=0',
      status: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    },
    {
      query:
        'resourceVersionMatch=NotOlderThan&resourceVersion=1&continue=eyJuYW1lc3BhY2UiOiIiLCJuYW1lIjoiYSIsInZlcnNpb24iOiIxIn0',
      status: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
    },
    {
      query: 'sendInitialEvents=true',
      status: 422,
      message:
        'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    },
    { query: 'labelSelector=%3D%3D', status: 400, message: 'unable to parse requirement: "=="' },
    {
      query: 'fieldSelector=spec.size%3D1',
      status: 400,
      message: 'field label not supported: spec.size; supported: metadata.name, metadata.namespace, spec.color',
    },
    {
      query: `labelSelector=${'a'.repeat(4_097)}`,
      status: 400,
      message: 'labelSelector is longer than 4096 characters',
    },
    {
      query: 'resourceVersion=1&resourceVersionMatch=Exact',
      status: 410,
      message: 'lists tell the present, and there may have been changes: resourceVersion 1 is not served exactly',
    },
  ]
  it.each(refused)('is refused: $message', async ({ query, status, message }) => {
    const reply = await harness.send(`GET ${widgets}?${query}`)
    expect([reply.status, reply.body.message]).toEqual([status, message])
  })
})

const table =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'

describe('a representation', () => {
  const forms = [
    { accept: table, apiVersion: 'meta.k8s.io/v1', kind: 'Table', because: 'kubectl get asks for it' },
    {
      accept: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
      apiVersion: 'meta.k8s.io/v1beta1',
      kind: 'Table',
      because: 'older clients ask so',
    },
    {
      accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
      apiVersion: 'meta.k8s.io/v1',
      kind: 'PartialObjectMetadataList',
      because: 'metadata clients do',
    },
    {
      accept: 'application/vnd.kubernetes.protobuf,application/json',
      apiVersion: 'example.com/v1',
      kind: 'WidgetList',
      because: 'JSON is the second choice of typed clients',
    },
    {
      accept: 'text/html, */*;q=0.8',
      apiVersion: 'example.com/v1',
      kind: 'WidgetList',
      because: 'browsers take anything',
    },
    {
      accept: 'application/json;q=0.1,application/json;as=Table;v=v1;g=meta.k8s.io;q=0.2',
      apiVersion: 'meta.k8s.io/v1',
      kind: 'Table',
      because: 'the weights say so',
    },
    {
      accept: '*',
      apiVersion: 'example.com/v1',
      kind: 'WidgetList',
      because: 'a star alone is anything',
    },
    {
      accept: 'application/json;as=Table;v=v9;g=meta.k8s.io,application/json',
      apiVersion: 'example.com/v1',
      kind: 'WidgetList',
      because: 'a form that is not known is passed over',
    },
  ]
  it.each(forms)('is $kind of $apiVersion: $because', async ({ accept, apiVersion, kind }) => {
    const { headers, body } = await harness.send(`GET ${widgets}`, { accept })
    expect([headers['content-type'], body.apiVersion, body.kind]).toEqual(['application/json', apiVersion, kind])
  })

  it.each(['application/vnd.kubernetes.protobuf', 'text/html', 'application/xml'])('cannot be %s', async (accept) => {
    expect(await harness.send(`GET ${widgets}`, { accept })).toMatchObject({
      status: 406,
      body: { reason: 'NotAcceptable' },
    })
  })

  it('of metadata has nothing else', async () => {
    const { body } = await harness.send(`GET ${widgets}/a`, {
      accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    })
    expect(body).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: expect.objectContaining({ name: 'a', labels: { app: 'x', tier: 'web' } }),
    })
  })
})

describe('a table', () => {
  it('has the printer columns of its kind, Age if it is missing, and the wait of the engine for -o wide', async () => {
    const { body } = await harness.send(`GET ${widgets}`, { accept: table })
    const columns = body.columnDefinitions.map(({ name, type, priority }: Record<string, unknown>) => [
      name,
      type,
      priority,
    ])
    expect(columns).toEqual([
      ['Name', 'string', 0],
      ['Color', 'string', 0],
      ['Size', 'integer', 0],
      ['Painted', 'date', 0],
      ['Age', 'date', 0],
      ['Waiting', 'string', 1],
      ['Attempt', 'integer', 1],
      ['Next Run', 'string', 1],
      ['Last Error', 'string', 1],
    ])
    expect(body.columnDefinitions[0].format).toBe('name')
  })

  it('tells ages, and nothing where there is nothing', async () => {
    await harness.send(`PATCH ${widgets}/a/status`, {
      type: 'application/merge-patch+json',
      body: { status: { paintedAt: new Date(harness.clock.nowMs() - 60_000).toISOString() } },
    })
    await harness.clock.advance(5 * 60_000)
    const { body } = await harness.send(`GET ${widgets}`, { accept: table })
    expect(body.rows.map(({ cells }: { cells: unknown[] }) => cells.slice(0, 5))).toEqual([
      ['a', 'red', 1, '6m', '5m'],
      ['b', 'blue', null, null, '5m'],
    ])
  })

  it.each([
    ['what it refers to is missing', { status: 'False', observedGeneration: 1 }, 'ParentMissing'],
    ['the reason is of an older generation', { status: 'False', observedGeneration: 0 }, null],
    ['it is ready', { status: 'True', observedGeneration: 1 }, null],
  ])('tells why an object is not ready that waits for no time: %s', async (_, condition, waiting) => {
    const conditions = [{ type: 'Ready', reason: 'ParentMissing', message: '', ...condition }]
    const stored = await harness.store.get({ group: 'example.com', kind: 'Widget', namespace: 'default', name: 'a' })
    if (stored === undefined) throw new Error('not stored')
    await harness.store.replace({ ...stored, object: { ...stored.object, status: { conditions } } }, ['status'])
    const { body } = await harness.send(`GET ${widgets}/a`, { accept: table })
    expect(body.rows[0].cells.slice(5)).toEqual([waiting, null, null, null])
  })

  it('tells why an object waits, and until when', async () => {
    const stored = await harness.store.get({ group: 'example.com', kind: 'Widget', namespace: 'default', name: 'a' })
    if (stored === undefined) throw new Error('not stored')
    const engine = {
      wait: {
        kind: 'Backoff',
        generation: 1,
        atMs: harness.clock.nowMs() + 35_000,
        failure: { attempt: 3, error: 'no route' },
      },
    } as const
    await harness.store.replace({ ...stored, engine }, ['engine'])
    const wide = async (): Promise<unknown> =>
      (await harness.send(`GET ${widgets}/a`, { accept: table })).body.rows[0].cells.slice(5)
    expect(await wide()).toEqual(['Backoff', 3, 'in 35s', 'no route'])
    await harness.clock.advance(40_000)
    expect(await wide()).toEqual(['Backoff', 3, 'now', 'no route'])
    expect((await harness.send(`GET ${widgets}/a`)).body.status.reconcile).toMatchObject({
      waiting: 'Backoff',
      attempt: 3,
      lastError: 'no route',
    })
  })

  it('tells that an object is paused', async () => {
    await harness.send(`PATCH ${widgets}/a`, {
      type: 'application/merge-patch+json',
      body: { metadata: { annotations: { 'setpoint.dev/paused': 'true' } } },
    })
    const { body } = await harness.send(`GET ${widgets}/a`, { accept: table })
    expect(body.rows[0].cells.slice(5)).toEqual(['Paused', null, null, null])
  })

  const carried = [
    { query: '', object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } } },
    { query: '?includeObject=Metadata', object: { kind: 'PartialObjectMetadata' } },
    { query: '?includeObject=Object', object: { kind: 'Widget', spec: { color: 'red' } } },
    { query: '?includeObject=None', object: null },
  ]
  it.each(carried)('carries in its rows what $query asks for', async ({ query, object }) => {
    const { body } = await harness.send(`GET ${widgets}${query}`, { accept: table })
    if (object === null) expect(body.rows[0].object).toBeNull()
    else expect(body.rows[0].object).toMatchObject(object)
  })

  it('refuses to carry what it does not know', async () => {
    expect((await harness.send(`GET ${widgets}?includeObject=Some`, { accept: table })).body.message).toBe(
      'unrecognized includeObject value: "Some"; use None, Metadata or Object',
    )
  })

  it('of one object has one row and its resourceVersion', async () => {
    const { body } = await harness.send(`GET ${widgets}/a`, { accept: table })
    expect([body.rows.length, body.metadata.resourceVersion]).toEqual([1, body.rows[0].object.metadata.resourceVersion])
  })

  it('has pages, as lists have', async () => {
    const { body } = await harness.send(`GET ${widgets}?limit=1`, { accept: table })
    expect([body.rows.length, typeof body.metadata.continue]).toEqual([1, 'string'])
  })
})

describe('the table of a built-in kind', () => {
  const at = (ms: number): string => new Date(harness.clock.nowMs() - ms).toISOString()

  async function cellsOf(path: string): Promise<Record<string, unknown>> {
    const { body } = await harness.send(`GET ${path}`, { accept: table })
    const shown = body.columnDefinitions as readonly { name: string; priority: number }[]
    return Object.fromEntries(
      shown.map(({ name, priority }, i) => [priority > 0 ? `${name} (wide)` : name, body.rows[0].cells[i]]),
    )
  }

  it('shows the phase of a namespace', async () => {
    expect(await cellsOf('/api/v1/namespaces/default')).toEqual({ Name: 'default', Status: 'Active', Age: '0s' })
  })

  it('counts the data of a config map', async () => {
    await harness.send('POST /api/v1/namespaces/default/configmaps', {
      body: { metadata: { name: 'c' }, data: { a: '1', b: '2' }, binaryData: { c: 'AA==' } },
    })
    expect(await cellsOf('/api/v1/namespaces/default/configmaps/c')).toEqual({ Name: 'c', Data: 3, Age: '0s' })
  })

  it('counts the data of a secret and shows its type, never its content', async () => {
    await harness.send('POST /api/v1/namespaces/default/secrets', {
      body: { metadata: { name: 's' }, stringData: { password: 'geheim' } },
    })
    expect(await cellsOf('/api/v1/namespaces/default/secrets/s')).toEqual({
      Name: 's',
      Type: 'Opaque',
      Data: 1,
      Age: '0s',
    })
  })

  it('tells when a definition was made', async () => {
    const created = new Date(harness.clock.nowMs()).toISOString().replace('.000', '')
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com'
    expect(await cellsOf(path)).toEqual({ Name: 'widgets.example.com', 'Created At': created })
  })

  const involvedObject = { kind: 'Widget', namespace: 'default', name: 'a' }
  const events = [
    {
      because: 'it happened once',
      event: {
        type: 'Normal',
        reason: 'Ready',
        message: ' all is well\n',
        lastTimestamp: 300_000,
        firstTimestamp: 300_000,
        count: 1,
        source: { component: 'widgets' },
      },
      shows: {
        'Last Seen': '5m',
        Type: 'Normal',
        Reason: 'Ready',
        Object: 'widget/a',
        'Source (wide)': 'widgets',
        Message: 'all is well',
        'First Seen (wide)': '5m',
        'Count (wide)': 1,
      },
    },
    {
      because: 'it happened again and again',
      event: {
        type: 'Warning',
        reason: 'Failed',
        message: 'no route',
        lastTimestamp: 60_000,
        firstTimestamp: 600_000,
        count: 3,
      },
      shows: {
        'Last Seen': '60s (x3 over 10m)',
        Type: 'Warning',
        Reason: 'Failed',
        Object: 'widget/a',
        'Source (wide)': '',
        Message: 'no route',
        'First Seen (wide)': '10m',
        'Count (wide)': 3,
      },
    },
    {
      because: 'it is of the newer form',
      event: {
        eventTime: 120_000,
        reportingComponent: 'setpoint',
        reportingInstance: 'one',
        action: 'Look',
        reason: 'Seen',
      },
      shows: {
        'Last Seen': '2m',
        Type: '',
        Reason: 'Seen',
        Object: 'widget/a',
        'Source (wide)': 'setpoint, one',
        Message: '',
        'First Seen (wide)': '2m',
        'Count (wide)': 1,
      },
    },
  ]
  it.each(events)('tells of an event: $because', async ({ event, shows }) => {
    const dated = Object.fromEntries(
      Object.entries(event).map(([field, value]) => [
        field,
        typeof value === 'number' && field !== 'count' ? at(value) : value,
      ]),
    )
    await harness.send('POST /api/v1/namespaces/default/events', {
      body: { metadata: { name: 'e' }, involvedObject, ...dated },
    })
    expect(await cellsOf('/api/v1/namespaces/default/events/e')).toEqual({ ...shows, 'Name (wide)': 'e' })
  })
})
