import type { ApiObject, Context, ExternalApi, Json, JsonObject, Kind, Outcome } from '../../../../shared/index.ts'
import { HttpError } from '../../../../shared/reconciler/external/http-error.ts'
import type { ExternalMemory } from '../../../../shared/reconciler/external/memory.ts'
import { createExternalRuns } from '../../../../shared/reconciler/external/run-external.ts'
import type { ExternalSpec } from '../../../../shared/reconciler/external/run.ts'
import { reportOf, RetryAfterError, StopError, type FailureReport } from '../../../../shared/reconciler/outcome.ts'

/** One run about one object, of which everything is told: what was called, said, noted and kept. */

export const nowMs = 1_000_000

export const thingKind: Kind = { group: 'test.dev', version: 'v1', kind: 'Thing', namespaced: true }

export interface Given {
  readonly spec?: JsonObject
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly isDeleting?: boolean
  readonly status?: JsonObject
  readonly memory?: Partial<ExternalMemory>
  /** What is on the far side, by id. */
  readonly entities?: Readonly<Record<string, JsonObject>>
  /** What the far side answers to a verb in place of its answer. */
  readonly failing?: Readonly<Record<string, unknown>>
  /** Objects of the control plane, by `namespace/name`; the thing itself is as it was read, if it is not among them. */
  readonly objects?: Readonly<Record<string, ApiObject>>
  readonly api?: Partial<ExternalApi<object>>
  readonly far?: Partial<ExternalSpec<object>['far']>
  readonly own?: Partial<ExternalSpec<object>>
  /** Called whenever outputs are written. */
  readonly atWrite?: (ctx: Context) => void
}

export interface Told {
  readonly outcome?: Outcome
  readonly error?: {
    readonly name: string
    readonly reason?: string
    readonly message: string
    readonly thrown: unknown
  }
  readonly report?: FailureReport | undefined
  readonly calls: readonly string[]
  readonly events: readonly string[]
  readonly drift: readonly string[]
  readonly recorded: readonly string[]
  readonly patches: readonly unknown[]
  readonly secrets: readonly unknown[]
  /** What is remembered behind the run, and how often it was made durable within. */
  readonly memory: ExternalMemory | undefined
  readonly keeps: number
  readonly entities: Readonly<Record<string, JsonObject>>
  /** What `api.create` was given. */
  readonly created: readonly unknown[]
}

export function thingOf({ spec = { size: 1 }, annotations, labels, isDeleting = false, status }: Given): ApiObject {
  const metadata = {
    name: 'thing',
    namespace: 'ns',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    ...(annotations && { annotations }),
    ...(labels && { labels }),
    ...(isDeleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  }
  return { apiVersion: 'test.dev/v1', kind: 'Thing', metadata, spec, ...(status && { status }) } as unknown as ApiObject
}

interface Notebook {
  readonly calls: string[]
  readonly created: unknown[]
  readonly entities: Map<string, JsonObject>
}

function farApiOf({ failing = {} }: Given, { calls, created, entities }: Notebook): ExternalApi<object> {
  const answer = (call: string, work: () => JsonObject | undefined): JsonObject | undefined => {
    calls.push(call)
    const [verb = ''] = call.split(' ')
    if (verb in failing && failing[verb] instanceof Error) throw failing[verb]
    return verb in failing ? (failing[verb] as JsonObject | undefined) : work()
  }
  return {
    get: async (_, id) => answer(`get ${id}`, () => entities.get(id)),
    create: async (_, declared, owner) =>
      answer('create', () => {
        created.push([declared, owner])
        const entity = { id: `e${entities.size + 1}`, owner: owner.uid, ...declared }
        entities.set(entity.id, entity)
        return entity
      }) as JsonObject,
    update: async (_, id, declared) =>
      answer(`update ${id} ${JSON.stringify(declared, (_field, value: unknown) => value ?? 'nothing')}`, () => {
        if (!entities.has(id)) throw new HttpError(404, 'none')
        entities.set(id, { ...entities.get(id), ...declared })
        return entities.get(id)
      }) as JsonObject,
    delete: async (_, id) => void answer(`delete ${id}`, () => void entities.delete(id)),
    idOf: ({ id }) => String(id),
    ownerOf: ({ owner }) => owner as string | undefined,
  }
}

function contextOf(given: Given, told: { -readonly [Key in keyof Told]: Told[Key] }): Context {
  const push = (list: readonly unknown[], one: unknown): void => void (list as unknown[]).push(one)
  let noted: Json | undefined = given.memory && { round: 0, ...given.memory }
  const ctx: Context = {
    now: () => nowMs,
    get: async (kind: unknown, at: string | { readonly name: string; readonly namespace?: string }) => {
      const place = typeof at === 'string' ? { name: at } : at
      const { name, namespace = 'ns' } = place
      return given.objects?.[`${namespace}/${name}`] ?? (kind === thingKind ? thingOf(given) : undefined)
    },
    apply: async (_: unknown, object: { readonly stringData: object }) => {
      push(told.secrets, ['apply', object])
      given.atWrite?.(ctx)
      return { data: object.stringData }
    },
    patch: async (...[, ...patch]: readonly unknown[]) => push(told.patches, patch),
    event: async (type: string, reason: string, message: string) => push(told.events, `${type} ${reason}: ${message}`),
    notes: {
      get: () => noted,
      set: (key: string, value: Json) => {
        if (JSON.stringify({ [key]: value }).length > 4_096) throw new TypeError('notes: no room')
        noted = JSON.parse(JSON.stringify(value)) as Json
        told.memory = noted as ExternalMemory
      },
      keep: async () => void told.keeps++,
    },
    outside: {
      recordCall: (verb: string, result: string) => push(told.recorded, `${verb} ${result}`),
      recordDrift: async (message: string) => push(told.drift, message),
      conceal: (text: string) => text,
      keepSecret: async (...kept: readonly unknown[]) => {
        push(told.secrets, ['keep', ...kept])
        given.atWrite?.(ctx)
      },
      removeSecret: async (...removed: readonly unknown[]) => push(told.secrets, ['remove', ...removed]),
    },
  } as unknown as Context
  return ctx
}

export async function runOnce(given: Given = {}): Promise<Told> {
  const notebook: Notebook = { calls: [], created: [], entities: new Map(Object.entries(given.entities ?? {})) }
  const { calls, created } = notebook
  const told = {
    calls,
    created,
    events: [],
    drift: [],
    recorded: [],
    patches: [],
    secrets: [],
    memory: given.memory && {
      round: 0,
      ...given.memory,
    },
    keeps: 0,
    entities: {},
  }
  const ctx = contextOf(given, told)
  const runs = createExternalRuns<object>({
    kind: thingKind,
    requirements: {},
    periodMs: 60_000,
    graceMs: 30_000,
    assertsAlways: false,
    condition: 'Synced',
    ...given.own,
    far: {
      connect: async () => ({}),
      declared: (object) => ({ ...(object as unknown as { readonly spec: JsonObject }).spec }),
      ...given.far,
      api: { ...farApiOf(given, notebook), ...given.api },
    },
  })
  const object = thingOf(given)
  const end = await (given.isDeleting ? runs.cleanup(object, ctx) : runs.reconcile(object, ctx)).then(
    (outcome) => ({ outcome }),
    (thrown: unknown) => ({ error: describe(thrown), report: reportOf(thrown) }),
  )
  return { ...told, ...end, entities: Object.fromEntries(notebook.entities) }
}

function describe(thrown: unknown): NonNullable<Told['error']> {
  const { name, message } = thrown as Error
  const reason = (thrown as { readonly reason?: string }).reason
  const isPlain = thrown instanceof StopError || thrown instanceof RetryAfterError || thrown instanceof Error
  if (!isPlain) throw thrown
  return { name, message, thrown, ...(reason !== undefined && { reason }) }
}
