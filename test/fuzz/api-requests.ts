import fc from 'fast-check'
import type { Json, JsonObject } from '../../shared/model/json.ts'
import { widget, widgetDefinition } from '../unit/api/harness.ts'
import type { Sent } from '../unit/api/sent-request.ts'

/** One request to the API, as a test sends it. */
export interface ApiRequest {
  /** Such as `GET /api/v1/namespaces`. */
  readonly line: string
  readonly sent: Sent
}

/** Requests as clients send them, nearly so, or anything. */
export function apiRequest(): fc.Arbitrary<ApiRequest> {
  return fc.oneof({ weight: 3, arbitrary: usualRequest() }, { weight: 2, arbitrary: anyRequest() })
}

/** The objects that are there, and requests about them: the body may have other values here and there. */
const objects: readonly { readonly collection: string; readonly body: JsonObject }[] = [
  {
    collection: '/apis/example.com/v1/namespaces/default/widgets',
    body: widget('a', { color: 'red', size: 1, parts: ['x'] }, { labels: { a: 'b' } }),
  },
  { collection: '/api/v1/namespaces/default/configmaps', body: { metadata: { name: 'a' }, data: { a: '1' } } },
  { collection: '/api/v1/namespaces/default/secrets', body: { metadata: { name: 'a' }, data: { a: 'YQ==' } } },
  {
    collection: '/apis/coordination.k8s.io/v1/namespaces/default/leases',
    body: { metadata: { name: 'a' }, spec: { holderIdentity: 'a', leaseDurationSeconds: 1 } },
  },
  {
    collection: '/apis/events.k8s.io/v1/namespaces/default/events',
    body: { metadata: { name: 'a' }, note: 'said', regarding: { kind: 'Widget', name: 'a' } },
  },
  { collection: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body: widgetDefinition },
]

function usualRequest(): fc.Arbitrary<ApiRequest> {
  const patches = ['merge-patch+json', 'apply-patch+yaml', 'strategic-merge-patch+json'].map(
    (name) => `application/${name}`,
  )
  return fc.constantFrom(...objects).chain(({ collection, body: base }) => {
    const { name } = base['metadata'] as { name: string }
    const object = `${collection}/${name}`
    const line = fc.constantFrom(
      `POST ${collection}`,
      `PUT ${object}`,
      `PATCH ${object}`,
      `PATCH ${object}`,
      `PATCH ${object}/status`,
      `GET ${object}`,
      `GET ${collection}`,
      `DELETE ${object}`,
    )
    const content = fc.oneof(fc.constant(base), changedFrom(base), changedFrom(base))
    const patch = fc.oneof(
      fc.tuple(fc.constantFrom(...patches), content),
      fc.tuple(fc.constant('application/json-patch+json'), fc.array(operation(), { maxLength: 4 })),
    )
    return fc.record({ line, content, patch, query: seldom(query()), headers: headers() }).map((one) => {
      const isPatch = one.line.startsWith('PATCH')
      const [patchType, patchBody] = one.patch
      const asked = `fieldManager=me&${one.query ?? ''}`
      const sent = isPatch
        ? { type: patchType, body: patchBody }
        : one.line.startsWith('GET')
          ? {}
          : { body: one.content }
      return { line: `${one.line}?${asked}`, sent: { headers: one.headers, ...sent } }
    })
  })
}

/** Method, path, query, headers and body, each by itself. */
function anyRequest(): fc.Arbitrary<ApiRequest> {
  return fc
    .record({ method: method(), path: path(), query: query(), headers: headers(), type: type(), body: body() })
    .map(({ method: verb, path: place, query: asked, headers: others, type: mediaType, body: content }) => ({
      line: `${verb} ${place}${asked === '' ? '' : `?${asked}`}`,
      sent: {
        headers: others,
        ...(mediaType === '' ? {} : { type: mediaType }),
        ...(verb === 'GET' || verb === 'HEAD' ? {} : { body: content }),
      },
    }))
}

function method(): fc.Arbitrary<string> {
  return mostly(['GET', 'POST', 'PUT', 'PATCH', 'PATCH', 'PATCH', 'DELETE', 'HEAD'], ['OPTIONS', 'get', 'TRACE', ''])
}

/** What is usual in most cases, and what is not in the others. */
function mostly(usual: readonly string[], odd: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...odd) },
  )
}

/** Once in eight times. */
function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary })
}

const oddNames = ['%00', '%2F', '..', 'A', 'a%20b', '%F0%9F%98%80', 'x'.repeat(300), '__proto__', 'constructor', '%zz']

const collections = [
  ['/api/v1', 'configmaps'],
  ['/api/v1', 'secrets'],
  ['/api/v1', 'events'],
  ['/api/v1', 'pods'],
  ['/apis/events.k8s.io/v1', 'events'],
  ['/apis/coordination.k8s.io/v1', 'leases'],
  ['/apis/rbac.authorization.k8s.io/v1', 'roles'],
  ['/apis/example.com/v1', 'widgets'],
  ['/apis/example.com/v1beta1', 'widgets'],
  ['/apis/example.com/v7', 'gadgets'],
] as const

function path(): fc.Arbitrary<string> {
  const name = mostly(['a', 'b', 'c', 'default', 'widgets.example.com'], oddNames)
  const part = mostly(['', '', '', '/status'], ['/scale', '/finalize', '/explain', '/none', '/status/x', '/'])
  const object = fc.oneof(
    fc.constant(''),
    fc.tuple(name, part).map(([one, below]) => `/${one}${below}`),
  )
  const namespace = mostly(
    ['/namespaces/default', '/namespaces/default', '/namespaces/other', ''],
    ['/namespaces/none', '/namespaces/', ...oddNames.map((odd) => `/namespaces/${odd}`)],
  )
  const inNamespace = fc
    .tuple(fc.constantFrom(...collections), namespace, object)
    .map(([[root, plural], place, rest]) => `${root}${place}/${plural}${rest}`)
  const clusterScoped = fc
    .tuple(
      fc.constantFrom(
        '/api/v1/namespaces',
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        '/apis/rbac.authorization.k8s.io/v1/clusterroles',
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
        '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      ),
      object,
    )
    .map(([collection, rest]) => `${collection}${rest}`)
  const pages = ['/', '/api', '/apis', '/apis/example.com', '/version', '/openapi/v2', '/openapi/v3', '/metrics', '/x']
  return fc.oneof(
    { weight: 8, arbitrary: inNamespace },
    { weight: 3, arbitrary: clusterScoped },
    { weight: 1, arbitrary: fc.constantFrom(...pages, '/openapi/v3/api/v1', '//', '/apis//v1/x', '/api/v1/%C3%28') },
    { weight: 1, arbitrary: fc.webPath() },
  )
}

const parameters: Readonly<Record<string, readonly string[]>> = {
  watch: ['1', 'true', '', 'false'],
  limit: ['1', '2', '0', '-1', 'x', '99999999999999999999'],
  continue: ['abc', 'e30', 'eyJuYW1lc3BhY2UiOiJhIiwibmFtZSI6ImIiLCJ2ZXJzaW9uIjoiMSJ9', '%00'],
  resourceVersion: ['0', '1', '5', 'x', '-1', '1e3', '99999999999999999999999'],
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'x'],
  sendInitialEvents: ['true', 'false', 'x'],
  allowWatchBookmarks: ['true', ''],
  timeoutSeconds: ['1', '0', '-1', 'x'],
  labelSelector: ['a=b', 'a in (b,c)', '!a', '((', 'a==b,,', '%F0%9F%98%80', 'a'.repeat(5_000)],
  fieldSelector: ['metadata.name=a', 'spec.color=red', 'regarding.name=a', 'x=y', '=', ',', 'metadata.name%3D%5C'],
  dryRun: ['All', 'None', ''],
  fieldManager: ['me', 'x'.repeat(200), '%00'],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  force: ['true', 'false', 'x'],
  includeObject: ['None', 'Object', 'x'],
  propagationPolicy: ['Orphan', 'Foreground', 'Background', 'x'],
  gracePeriodSeconds: ['0', '-1', 'x'],
  pretty: ['true'],
}

function query(): fc.Arbitrary<string> {
  const one = fc
    .constantFrom(...Object.keys(parameters))
    .chain((name) => fc.constantFrom(...(parameters[name] ?? [])).map((value) => `${name}=${value}`))
  const managed = fc.constant('fieldManager=me')
  return fc.array(fc.oneof(one, managed), { maxLength: 4 }).map((all) => all.join('&'))
}

function headers(): fc.Arbitrary<Record<string, string>> {
  const accept = [
    'application/json',
    '*/*',
    'application/yaml',
    'application/vnd.kubernetes.protobuf',
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json',
    'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    ';;;,=',
    '',
  ]
  const others = {
    'if-none-match': '"x"',
    'impersonate-user': 'a',
    'impersonate-extra-x': 'y',
    'user-agent': '\u00ff/',
  }
  return fc
    .record({
      accept: seldom(fc.constantFrom(...accept)),
      other: seldom(fc.constantFrom(...Object.entries(others))),
    })
    .map(({ accept: form, other }) => ({
      ...(form === null ? {} : { accept: form }),
      ...(other === null ? {} : { [other[0]]: other[1] }),
    }))
}

function type(): fc.Arbitrary<string> {
  const patches = ['merge-patch+json', 'json-patch+json', 'apply-patch+yaml', 'strategic-merge-patch+json']
  return mostly(
    ['', 'application/json', 'application/json; charset=utf-8', ...patches.map((name) => `application/${name}`)],
    ['application/yaml', 'application/vnd.kubernetes.protobuf', 'text/plain', 'application/cbor', ';', 'application/'],
  )
}

const event = {
  metadata: { name: 'a', namespace: 'default' },
  eventTime: '2026-11-22T10:20:30.123456Z',
  reportingController: 'example.com/fuzz',
  reportingInstance: 'fuzz',
  action: 'Tell',
  reason: 'Told',
  type: 'Normal',
  regarding: { kind: 'Widget', namespace: 'default', name: 'a' },
  series: { count: 2, lastObservedTime: '2026-11-22T10:20:30.123456Z' },
  note: 'said',
}
const bodies: readonly JsonObject[] = [
  widget('a', { color: 'red', size: 1, parts: ['x'] }, { labels: { a: 'b' }, finalizers: ['a/b'] }),
  { ...widget('b'), status: { phase: 'x' } },
  widgetDefinition,
  {
    metadata: { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }] },
    data: { a: '1' },
  },
  { metadata: { generateName: 'a' }, data: { a: 'YQ==' }, stringData: { b: 'c' }, type: 'Opaque' },
  { apiVersion: 'events.k8s.io/v1', kind: 'Event', ...event },
  { metadata: { name: 'a' }, spec: { holderIdentity: 'a', leaseDurationSeconds: 1, renewTime: event.eventTime } },
  { metadata: { name: 'other', annotations: { a: 'b' } }, spec: { finalizers: [] } },
  { metadata: { name: 'a' }, rules: [{ verbs: ['*'], apiGroups: [''], resources: ['secrets'] }] },
  { spec: { resourceAttributes: { verb: 'get', resource: 'widgets' } } },
  { propagationPolicy: 'Foreground', preconditions: { uid: 'x' }, dryRun: ['All'], gracePeriodSeconds: 0 },
  {
    metadata: {
      managedFields: [{ manager: 'a', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: { 'f:a': {} } }],
    },
  },
]

type Body = NonNullable<Sent['body']>

function operation(): fc.Arbitrary<JsonObject> {
  return fc.record(
    {
      op: mostly(['add', 'remove', 'replace', 'move', 'copy', 'test'], ['x', '']),
      path: mostly(
        ['/spec/color', '/metadata/labels/a', '', '/data/a', '/spec/parts/-', '/spec/parts/0'],
        ['x', '/~2', '/'],
      ),
      from: fc.constantFrom('/spec', '/metadata', '', '/data'),
      value: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: ['op'] },
  )
}

function body(): fc.Arbitrary<Body> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...bodies) },
    { weight: 6, arbitrary: fc.constantFrom(...bodies).chain(changedFrom) },
    { weight: 2, arbitrary: fc.array(operation(), { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string() },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
    { weight: 1, arbitrary: protobuf() },
  )
}

/** A good body in which some values are others. */
function changedFrom(base: JsonObject): fc.Arbitrary<JsonObject> {
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<Json>(null, '', {}, [], -1, 1e308, 2 ** 53, '\u0000', { $ref: '#' }, [null], 'x'.repeat(400)),
  ) as fc.Arbitrary<Json>
  const edits = fc.array(fc.tuple(fc.nat(200), values), { minLength: 1, maxLength: 3 })
  return edits.map((all) => {
    const copy = structuredClone(base)
    for (const [at, value] of all) {
      const places = placesIn(copy)
      places[at % Math.max(1, places.length)]?.(value)
    }
    return copy
  })
}

/** Each place of a value, as what puts another one there. */
function placesIn(value: Json): readonly ((next: Json) => void)[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = value as Record<string, Json>
  return Object.keys(fields).flatMap((name) => [
    (next: Json) => void (fields[name] = structuredClone(next)),
    ...placesIn(fields[name] ?? null),
  ])
}

/** Kubernetes' envelope around anything, of kinds that are known in it. */
function protobuf(): fc.Arbitrary<Uint8Array> {
  const kinds = ['Lease', 'Event', 'Secret', 'Namespace', 'DeleteOptions']
  const versions = ['coordination.k8s.io/v1', 'v1', 'events.k8s.io/v1']
  return fc
    .tuple(fc.constantFrom(...versions), fc.constantFrom(...kinds), fc.uint8Array({ maxLength: 60 }))
    .map(([version, kind, message]) => {
      const text = (number: number, content: string): number[] => [
        number * 8 + 2,
        content.length,
        ...Buffer.from(content),
      ]
      const typeMeta = [...text(1, version), ...text(2, kind)]
      const parts = [10, typeMeta.length, ...typeMeta, 18, message.length, ...message]
      return Uint8Array.from([0x6b, 0x38, 0x73, 0, ...parts])
    })
}
