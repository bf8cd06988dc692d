import { randomUUID } from 'node:crypto'

/**
 * What a fake Konnect holds, and what it answers, without HTTP. Behaves as the public document and Kong's own operator
 * tell of the real one.
 */

export type Entity = Record<string, unknown> & { readonly id: string }

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface Call {
  readonly method: string
  /** Parts of the path. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly body: Record<string, unknown>
}

export interface StateOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** How long what was made is not to be seen by GET and lists. */
  lagMs: number
  /** Names are taken once. Without it, nothing but our own care keeps a second entity from being made. */
  uniqueNames: boolean
}

export const plurals = ['services', 'routes', 'consumers'] as const
type Plural = (typeof plurals)[number]
export type Collection = 'control-planes' | Plural

interface Kept {
  entity: Entity
  readonly collection: Collection
  /** Of entities in a control plane. */
  readonly controlPlaneID?: string
  readonly visibleMs: number
}

/** Unique within a control plane, if given. */
const uniqueFields: Readonly<Record<Plural, readonly string[]>> = {
  services: ['name'],
  routes: ['name'],
  consumers: ['username', 'custom_id'],
}

const defaults: Readonly<Record<Plural, Readonly<Record<string, unknown>>>> = {
  services: {
    port: 80,
    protocol: 'http',
    enabled: true,
    retries: 5,
    connect_timeout: 60_000,
    read_timeout: 60_000,
    write_timeout: 60_000,
  },
  routes: { protocols: ['http', 'https'], strip_path: true, preserve_host: false },
  consumers: {},
}

export interface KonnectState {
  readonly options: StateOptions
  answer(call: Call): Answer
  /** Everything there is, visible or not. */
  all(collection: Collection): readonly Entity[]
  /** The most there ever were at once. */
  mostOf(collection: Collection): number
  /** As somebody does in the UI. Throws if there is no such entity. */
  edit(id: string, fields: Readonly<Record<string, unknown>>): void
  remove(id: string): void
  /** Makes one as somebody does in the UI; entities in a control plane name it. */
  add(collection: Collection, fields: Readonly<Record<string, unknown>>, controlPlaneID?: string): Entity
}

export function createKonnectState(options: StateOptions): KonnectState {
  const kept = new Map<string, Kept>()

  const find = (id: string): Kept => {
    const found = kept.get(id)
    if (found === undefined) throw new Error(`no entity ${id}`)
    return found
  }
  const inside = (collection: Collection, controlPlaneID?: string): readonly Kept[] =>
    [...kept.values()].filter((one) => one.collection === collection && one.controlPlaneID === controlPlaneID)
  const visible = (one: Kept | undefined): one is Kept => one !== undefined && options.now() >= one.visibleMs
  const most = new Map<Collection, number>()
  const keep = (entity: Entity, collection: Collection, controlPlaneID?: string): Entity => {
    const before = kept.get(entity.id)
    const visibleMs = before?.visibleMs ?? options.now() + options.lagMs
    kept.set(entity.id, {
      entity,
      collection,
      visibleMs,
      ...(controlPlaneID === undefined ? {} : { controlPlaneID }),
    })
    const count = [...kept.values()].filter((one) => one.collection === collection).length
    most.set(collection, Math.max(most.get(collection) ?? 0, count))
    return entity
  }

  const controlPlanes = ({ method, path: [id], query, body }: Call): Answer => {
    if (id === undefined) return method === 'POST' ? createControlPlane(body) : listControlPlanes(query)
    const found = kept.get(id)
    if (found?.collection !== 'control-planes' || (method === 'GET' && !visible(found)))
      return problem(404, 'Not Found')
    if (method === 'GET') return { status: 200, body: found.entity }
    if (method === 'DELETE') {
      for (const [key, { controlPlaneID }] of kept) if (key === id || controlPlaneID === id) kept.delete(key)
      return { status: 204 }
    }
    if (body['name'] !== undefined && isTaken(body['name'], id)) return problem(409, 'Conflict', 'name is taken')
    const { auth_type: authType, ...fields } = body
    const config = { ...(found.entity['config'] as object), ...(authType === undefined ? {} : { auth_type: authType }) }
    return { status: 200, body: keep({ ...found.entity, ...fields, config, updated_at: stamp() }, 'control-planes') }
  }

  const isTaken = (name: unknown, except?: string): boolean =>
    options.uniqueNames &&
    inside('control-planes').some(({ entity }) => entity['name'] === name && entity.id !== except)

  const createControlPlane = (body: Record<string, unknown>): Answer => {
    if (isTaken(body['name'])) return problem(409, 'Conflict', 'a control plane of this name exists')
    const { cluster_type: clusterType, auth_type: authType, ...fields } = body
    const id = randomUUID()
    const config = {
      control_plane_endpoint: `https://${id.slice(0, 8)}.cp.fake`,
      telemetry_endpoint: `https://${id.slice(0, 8)}.tp.fake`,
      cluster_type: clusterType ?? 'CLUSTER_TYPE_CONTROL_PLANE',
      auth_type: authType ?? 'pinned_client_certs',
      cloud_gateway: false,
      proxy_urls: [],
    }
    const common = { description: '', labels: {}, config, created_at: stamp(), updated_at: stamp() }
    return { status: 201, body: keep({ ...common, ...fields, id }, 'control-planes') }
  }

  const listControlPlanes = (query: URLSearchParams): Answer => {
    const [key, value] = (query.get('labels') ?? '').split(':')
    const data = inside('control-planes')
      .filter(visible)
      .map(({ entity }) => entity)
      .filter(({ labels }) => !key || (labels as Record<string, string>)[key] === value)
    return { status: 200, body: { meta: { page: { number: 1, size: 100, total: data.length } }, data } }
  }

  const core = (call: Call): Answer => {
    const [controlPlaneID = '', , plural, id] = call.path
    const collection = plurals.find((one) => one === plural)
    if (collection === undefined) return { status: 404, body: { message: 'Not Found' } }
    if (kept.get(controlPlaneID)?.collection !== 'control-planes')
      return { status: 404, body: { message: 'control plane not found' } }
    const found = id === undefined ? undefined : kept.get(id)
    const isHere = found?.controlPlaneID === controlPlaneID && found.collection === collection
    if (call.method === 'POST') return put(call.body, { collection, controlPlaneID, isNew: true })
    if (call.method === 'PUT') return put({ ...call.body, id }, { collection, controlPlaneID, isNew: false })
    if (!isHere || !(call.method === 'DELETE' || visible(found))) return { status: 404, body: { message: 'Not Found' } }
    if (call.method === 'GET') return { status: 200, body: found.entity }
    if (isReferred(found.entity.id))
      return constraint('id', 'is referenced by routes (type: foreign) constraint failed')
    kept.delete(found.entity.id)
    return { status: 204 }
  }

  const put = (
    body: Record<string, unknown>,
    { collection, controlPlaneID, isNew }: { collection: Plural; controlPlaneID: string; isNew: boolean },
  ): Answer => {
    const id = typeof body['id'] === 'string' ? body['id'] : randomUUID()
    const before = kept.get(id)
    if (isNew && before !== undefined) return constraint('id', 'id (type: unique) constraint failed')
    for (const field of uniqueFields[collection])
      if (
        options.uniqueNames &&
        body[field] !== undefined &&
        isUsed(collection, controlPlaneID, { field, value: body[field], id })
      )
        return constraint(field, `${field} (type: unique) constraint failed`)
    const service = body['service'] as { readonly id?: string } | undefined
    if (service?.id !== undefined && kept.get(service.id)?.controlPlaneID !== controlPlaneID)
      return constraint('service.id', 'service.id (type: foreign) constraint failed')
    const seconds = Math.floor(options.now() / 1_000)
    const createdAt = before?.entity['created_at'] ?? seconds
    const entity = { ...defaults[collection], ...withSets(body), id, created_at: createdAt, updated_at: seconds }
    return { status: isNew ? 201 : 200, body: keep(entity, collection, controlPlaneID) }
  }

  const isUsed = (
    collection: Plural,
    controlPlaneID: string,
    { field, value, id }: { field: string; value: unknown; id: string },
  ): boolean => inside(collection, controlPlaneID).some(({ entity }) => entity.id !== id && entity[field] === value)

  const isReferred = (id: string): boolean =>
    [...kept.values()].some(({ entity }) => (entity['service'] as { id?: string } | undefined)?.id === id)

  const stamp = (): string => new Date(options.now()).toISOString()

  return {
    options,
    answer: (call) => (call.path[1] === 'core-entities' ? core(call) : controlPlanes(call)),
    all: (collection) => [...kept.values()].filter((one) => one.collection === collection).map(({ entity }) => entity),
    mostOf: (collection) => most.get(collection) ?? 0,
    edit: (id, fields) => {
      const one = find(id)
      keep({ ...one.entity, ...fields, id }, one.collection, one.controlPlaneID)
    },
    remove: (id) => {
      find(id)
      for (const [key, { controlPlaneID }] of kept) if (key === id || controlPlaneID === id) kept.delete(key)
    },
    add: (collection, fields, controlPlaneID) => {
      const { status, body } =
        collection === 'control-planes'
          ? createControlPlane(fields)
          : put({ ...fields }, { collection, controlPlaneID: controlPlaneID ?? '', isNew: true })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body as Entity
    },
  }
}

/** `instance` is another one each time, as the real one's is. */
/** As Kong does with sets (kong/db/schema/init.lua, `make_set`). */
function withSets(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(body).map(([field, value]) => [field, Array.isArray(value) ? [...new Set(value)] : value]),
  )
}

export function problem(status: number, title: string, detail = title): Answer {
  const invalid = status === 400 ? { invalid_parameters: [{ field: 'name', reason: detail, rule: 'invalid' }] } : {}
  return { status, body: { status, title, detail, instance: `konnect:trace:${randomUUID()}`, ...invalid } }
}

/** The gateway's way to say 409, and that a reference is missing. */
function constraint(field: string, message: string): Answer {
  const type = 'ERROR_TYPE_REFERENCE'
  return {
    status: 400,
    body: { code: 3, message: 'data constraint error', details: [{ type, field, messages: [message] }] },
  }
}
