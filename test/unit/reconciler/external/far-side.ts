import type { ExternalApi, Owner } from '../../../../shared/reconciler/external/external-api.ts'
import type { ExternalSpec } from '../../../../shared/reconciler/external/run.ts'
import { HttpError } from '../../../../shared/reconciler/external/http-error.ts'
import type { Context } from '../../../../shared/reconciler/context.ts'
import type { Kind } from '../../../../shared/reconciler/kind.ts'
import type { Json, JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'

/** A far side in memory and a run without an engine: for thousands of lives in a second. */

/** Thrown through a run: the process has died. */
export class Killed extends Error {}

export interface FarEntity {
  readonly id: string
  readonly owner: string
  readonly token: string
  readonly visibleMs: number
  size: number
  /** When it goes whose deletion was taken. */
  goneMs?: number
}

export type Fault = 'none' | 'refused' | 'lost' | 'dropped' | 'killed before' | 'killed after' | 'limited'

export interface FarSideOptions {
  readonly finds: boolean
  readonly createsOncePerToken: boolean
  readonly lagMs: number
  /** How long an entity stays whose deletion was taken. */
  readonly lingerMs?: number
}

export interface World {
  nowMs: number
  readonly entities: FarEntity[]
  readonly calls: string[]
  /** The next call meets it. */
  next: () => Fault
  /** The most entities of an owner there ever were at once. */
  most: number
}

export function createWorld(): World {
  return { nowMs: 1_000_000, entities: [], calls: [], next: () => 'none', most: 0 }
}

function farApi(world: World, options: FarSideOptions): ExternalApi<World> {
  const through = async <Answer>(call: string, work: () => Answer): Promise<Answer> => {
    world.calls.push(call)
    const gone = world.entities.findIndex(({ goneMs = Infinity }) => goneMs <= world.nowMs)
    if (gone >= 0) world.entities.splice(gone, 1)
    const fault = world.next()
    if (fault === 'killed before') throw new Killed()
    if (fault === 'dropped') throw new TypeError('fetch failed')
    if (fault === 'refused') throw new HttpError(400, 'no')
    if (fault === 'limited') throw new HttpError(429, 'slow down', { retryAfterMs: 5_000 })
    const answer = work()
    world.most = Math.max(world.most, world.entities.length)
    if (fault === 'killed after') throw new Killed()
    if (fault === 'lost') throw new TypeError('fetch failed')
    return answer
  }
  const seen = (entity: FarEntity | undefined): JsonObject | undefined =>
    entity === undefined || world.nowMs < entity.visibleMs ? undefined : { ...entity }
  const make = (declared: JsonObject, { uid, token }: Owner): JsonObject => {
    const same = world.entities.find((one) => one.token === token)
    if (same !== undefined && options.createsOncePerToken) return { ...same }
    const entity = {
      id: `e${world.calls.length}`,
      owner: uid,
      token,
      size: Number(declared['size']),
      visibleMs: world.nowMs + options.lagMs,
    }
    world.entities.push(entity)
    return { ...entity }
  }
  return {
    get: (_, id) => through('get', () => seen(world.entities.find((one) => one.id === id))),
    ...(options.finds && {
      find: (_, { uid }: Owner) => through('find', () => seen(world.entities.find((one) => one.owner === uid))),
    }),
    create: (_, declared, owner) => through('create', () => make(declared, owner)),
    update: (_, id, declared) =>
      through('update', () => {
        const entity = world.entities.find((one) => one.id === id)
        if (entity === undefined) throw new HttpError(404, 'no such entity')
        entity.size = Number(declared['size'])
        return { ...entity }
      }),
    delete: (_, id) =>
      through('delete', () => {
        const at = world.entities.findIndex((one) => one.id === id)
        if (at < 0) throw new HttpError(404, 'no such entity')
        const entity = world.entities[at]
        if (options.lingerMs === undefined || entity === undefined) world.entities.splice(at, 1)
        else entity.goneMs ??= world.nowMs + options.lingerMs
      }),
    idOf: ({ id }) => String(id),
    ownerOf: ({ owner }) => String(owner),
    createsOncePerToken: options.createsOncePerToken,
  }
}

const kind = { group: 'test.example', version: 'v1', kind: 'Thing', namespaced: true } as Kind

export const graceMs = 30_000
export const periodMs = 60_000

export function specOf(world: World, options: FarSideOptions): ExternalSpec<World> {
  return {
    kind,
    requirements: {},
    far: {
      connect: async () => world,
      declared: (object) => ({ size: (object as unknown as { readonly spec: { readonly size: number } }).spec.size }),
      api: farApi(world, options),
    },
    periodMs,
    graceMs,
    assertsAlways: true,
    condition: 'Synced',
  }
}

export function thing(size: number, annotations: Readonly<Record<string, string>> = {}): ApiObject {
  const metadata = {
    name: 'thing',
    namespace: 'default',
    uid: 'uid-1',
    resourceVersion: '1',
    generation: 1,
    annotations,
  }
  return { apiVersion: 'test.example/v1', kind: 'Thing', metadata, spec: { size } } as unknown as ApiObject
}

export function deleting(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
}

/** What a run can use of its context, over notes that outlive it if they were kept. */
export interface Notebook {
  kept: { readonly [key: string]: Json }
}

export function contextOf(world: World, notebook: Notebook): { readonly ctx: Context; end(): void } {
  let noted = notebook.kept
  const keep = (): void => {
    notebook.kept = noted
  }
  const ctx = {
    now: () => world.nowMs,
    notes: {
      get: (key: string) => noted[key],
      set: (key: string, value: Json | undefined) => {
        noted = { ...noted, [key]: JSON.parse(JSON.stringify(value)) as Json }
      },
      keep: async () => keep(),
    },
    outside: { recordCall: () => {}, recordDrift: async () => {}, conceal: (text: string) => text },
    event: async () => {},
  }
  return { ctx: ctx as unknown as Context, end: keep }
}
