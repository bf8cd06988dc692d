import { createSqliteChangeFeed } from '../../../shared/adapters/local/sqlite/sqlite-change-feed.ts'
import { createSqliteChangeLog } from '../../../shared/adapters/local/sqlite/sqlite-change-log.ts'
import { createPrometheusTelemetry } from '../../../shared/adapters/local/prometheus-telemetry.ts'
import { openSqliteDatabase } from '../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { createSqliteStore } from '../../../shared/adapters/local/sqlite/sqlite-store.ts'
import { systemClock } from '../../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../../shared/adapters/node/system-random.ts'
import { createApi } from '../../../shared/api/api.ts'
import type { ApiServices } from '../../../shared/api/call.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import type { User } from '../../../shared/ports/authenticator.ts'
import type { HttpHandler, HttpResponse } from '../../../shared/ports/http-handler.ts'
import type { Logger } from '../../../shared/ports/logger.ts'
import type { ObjectStore } from '../../../shared/ports/object-store.ts'
import type { Webhooks } from '../../../shared/ports/webhooks.ts'
import { createResources } from '../../../shared/resources/create-resources.ts'
import { tellDefinitionWrites } from '../../../shared/resources/definition-writes.ts'
import { createStoredAccess } from '../../../shared/resources/stored-access.ts'
import { createStoredPolicies } from '../../../shared/resources/stored-policies.ts'
import { createKindCatalog } from '../../../shared/resources/store-kind-catalog.ts'
import { createVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts'
import { request, type Sent } from './sent-request.ts'

/** The API over the real verbs and the real store, in memory; time is virtual. */
export interface Harness {
  readonly api: HttpHandler
  readonly clock: VirtualClock
  readonly services: ApiServices
  readonly store: ObjectStore
  /** What was logged as an error. */
  readonly errors: readonly JsonObject[]
  send(line: string, sent?: Sent): Promise<Reply>
  /** Opens a watch; throws if it is refused. */
  watch(path: string, sent?: Sent): Promise<Watch>
  close(): void
}

export interface Reply {
  readonly status: number
  readonly headers: HttpResponse['headers']
  /** JSON as a value, everything else as text. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into replies of every shape
  readonly body: any
}

export interface Watch {
  /** The next events; waits for them. */
  take(count: number): Promise<readonly WatchEvent[]>
  /** The next piece as it is sent. */
  piece(): Promise<string | undefined>
  /** Everything up to the end. */
  rest(): Promise<readonly WatchEvent[]>
  leave(): void
}

export interface WatchEvent {
  readonly type: string
  // oxlint-disable-next-line typescript/no-explicit-any -- as in Reply
  readonly object: any
}

/** By their tokens: one who may do everything, and people of whom nothing is known but their groups. */
const users = new Map<string, User>([
  ['Bearer token', { name: 'tester', groups: ['system:masters'] }],
  ...['alice', 'bob', 'carol'].map(
    (name) => [`Bearer ${name}`, { name, groups: ['people', 'system:authenticated'] }] as const,
  ),
])

export async function createHarness(overrides: Partial<ApiServices> = {}, webhooks?: Webhooks): Promise<Harness> {
  const clock = createVirtualClock()
  const database = openSqliteDatabase(':memory:')
  const changeLog = createSqliteChangeLog({ database, clock })
  const written = createSqliteStore({ database, changeLog })
  const feed = createSqliteChangeFeed({ database, changeLog })
  const catalog = createKindCatalog({
    store: written,
    clock,
    maxAgeMs: Infinity,
    ...(webhooks && { conversions: { random: systemRandom, webhooks } }),
  })
  const access = createStoredAccess({ store: written, clock, maxAgeMs: Infinity })
  const policies = createStoredPolicies({
    store: written,
    catalog,
    clock: { ...clock, ...(systemClock.nextTurn && { nextTurn: systemClock.nextTurn }) },
    random: systemRandom,
    webhooks,
    maxAgeMs: Infinity,
    readAccess: access.read,
  })
  const store = policies.follow(access.follow(tellDefinitionWrites(written, catalog.invalidate)))
  const resources = createResources({ store, clock, random: systemRandom, policies })
  const errors: JsonObject[] = []
  const logger: Logger = {
    debug() {},
    info() {},
    warn() {},
    error: (message, fields) => void errors.push({ message, ...fields }),
    with: () => logger,
  }
  const telemetry = createPrometheusTelemetry()
  const services: ApiServices = {
    resources,
    catalog,
    feed,
    clock,
    logger,
    authenticate: (authorization) => users.get(authorization ?? ''),
    readAccess: access.read,
    policies,
    telemetry,
    explain: async (kind, { object }) => `${kind.kind} ${object.metadata.name}`,
    pages: new Map([['metrics', { type: 'text/plain; version=0.0.4', text: telemetry.exposition }]]),
    version: '0.1.0',
    ...overrides,
  }
  const api = createApi(services)
  const harness: Harness = {
    api,
    clock,
    services,
    store,
    errors,
    send: async (line, sent) => reply(await whole(await api(request(line, sent)))),
    watch: async (path, sent) => openWatch(api, path, sent),
    close: () => database.close(),
  }
  await harness.send('POST /api/v1/namespaces', { body: { metadata: { name: 'default' } } })
  return harness
}

/** The response with all pieces of its body. */
async function whole(response: HttpResponse): Promise<HttpResponse> {
  if (typeof response.body === 'string' || response.body instanceof Uint8Array) return response
  let body = ''
  for await (const piece of response.body as AsyncIterable<string>) body += piece
  return { ...response, body }
}

function reply({ status, headers, body }: HttpResponse): Reply {
  if (typeof body !== 'string') throw new Error('the response is no text')
  const isJson = (headers['content-type'] ?? '').startsWith('application/json')
  return { status, headers, body: isJson && body !== '' ? JSON.parse(body) : body }
}

async function openWatch(api: HttpHandler, path: string, sent: Sent = {}): Promise<Watch> {
  const client = new AbortController()
  const response = await api(request(`GET ${path}`, { ...sent, signal: client.signal }))
  if (typeof response.body === 'string' || response.body instanceof Uint8Array)
    throw new Error(`no watch: ${String(response.body)}`)
  const pieces = response.body[Symbol.asyncIterator]()
  const events: WatchEvent[] = []
  const decoder = new TextDecoder()
  let line = ''

  const piece = async (): Promise<string | undefined> => {
    const next = await pieces.next()
    if (next.done === true) return undefined
    return typeof next.value === 'string' ? next.value : decoder.decode(next.value, { stream: true })
  }
  const more = async (): Promise<boolean> => {
    const text = await piece()
    const lines = (line + (text ?? '')).split('\n')
    line = lines.pop() ?? ''
    for (const one of lines) events.push(JSON.parse(one) as WatchEvent)
    return text !== undefined
  }
  return {
    piece,
    take: async (count) => {
      while (events.length < count && (await more()));
      return events.splice(0, count)
    },
    rest: async () => {
      while (await more());
      return events.splice(0)
    },
    leave: () => client.abort(),
  }
}

/** A definition of `widgets.example.com`, as users write it. */
export const widgetDefinition: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: {
      kind: 'Widget',
      listKind: 'WidgetList',
      plural: 'widgets',
      singular: 'widget',
      shortNames: ['wd'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.color' }],
        additionalPrinterColumns: [
          { name: 'Color', type: 'string', jsonPath: '.spec.color' },
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Painted', type: 'date', jsonPath: '.status.paintedAt' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'Widget is a thing to try things with.',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  color: { type: 'string', description: 'The color.' },
                  size: { type: 'integer', minimum: 1 },
                  parts: { type: 'array', items: { type: 'string' } },
                },
              },
              status: { type: 'object', properties: { paintedAt: { type: 'string' }, phase: { type: 'string' } } },
            },
          },
        },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

export const widgets = '/apis/example.com/v1/namespaces/default/widgets'

/** A harness that serves widgets. */
export async function createWidgetHarness(overrides?: Partial<ApiServices>, webhooks?: Webhooks): Promise<Harness> {
  const harness = await createHarness(overrides, webhooks)
  const { status, body } = await harness.send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: widgetDefinition,
  })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return harness
}

/** The body of a widget. */
export function widget(name: string, spec: JsonObject = { color: 'red' }, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, ...metadata }, spec }
}
