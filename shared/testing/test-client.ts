import type { Applied, At } from '../reconciler/context.ts'
import type { Kind } from '../reconciler/kind.ts'
import { hasCode } from '../model/errors.ts'
import { refuseForeign } from '../model/foreign-part.ts'
import { copyJson, isObject, type JsonObject } from '../model/json.ts'
import { parseApiVersion, type ApiObject } from '../model/object.ts'
import { present } from '../model/present.ts'
import type { ServedKind } from '../model/served-kind.ts'
import type { StoredObject } from '../model/stored-object.ts'
import type { HttpHandler } from '../ports/http-handler.ts'
import type { KindName } from '../ports/object-index.ts'
import type { Deleted, DeleteOptions, Place } from '../resources/resources.ts'
import type { LocalCore } from '../runtime/local/core.ts'
import type { TestProcess } from './test-process.ts'

/**
 * What a test does as a user of the control plane. What it sends is JSON, as that of any client: what JSON cannot say
 * is refused, with its path. What it is given is its own.
 */
export interface TestClient {
  /** Applies an object as a user would, on the default namespace if it names none. */
  apply<Read, Body>(kind: Kind<Read, Body>, object: Applied<Body>): Promise<Read>
  /** Applies a manifest: any object with apiVersion, kind and metadata.name. */
  applyManifest(manifest: JsonObject): Promise<ApiObject>
  /** The object as clients see it, `status.reconcile` included; `undefined` if there is none. */
  get<Read>(kind: Kind<Read, unknown>, at: string | At): Promise<Read | undefined>
  list<Read>(kind: Kind<Read, unknown>, namespace?: string): Promise<readonly Read[]>
  /** A merge patch. The field manager is `manager`. */
  patch<Read>(
    kind: Kind<Read, unknown>,
    at: string | At,
    body: JsonObject,
    options?: { readonly manager?: string; readonly subresource?: 'status' },
  ): Promise<Read>
  delete(kind: Kind<unknown, unknown>, at: string | At, options?: DeleteOptions): Promise<Deleted>
  /** The six questions about an object, answered in text: desired, observed, difference, action, requeue, status. */
  explain(kind: Kind<unknown, unknown>, at: string | At): Promise<string>
  /** What the API answers to a GET, as text, whole; for pages such as `/metrics`, with or without a query. */
  page(path: string): Promise<string>
  /** The HTTP API. */
  readonly api: HttpHandler
}

/** Who a test is where it does not say. */
export const manager = { manager: 'test' } as const
/** Hooks and policies are asked about what a test does. */
const author = { ...manager, user: { name: 'test', groups: ['system:masters'] } } as const

export function createTestClient(process: TestProcess): TestClient {
  return {
    apply: async <Read, Body>(kind: Kind<Read, Body>, object: Applied<Body>) =>
      (await apply(process, kind, object)) as unknown as Read,
    applyManifest: async (manifest) => apply(process, kindOf(manifest), manifest),
    get: async <Read>(kind: Kind<Read, unknown>, at: string | At) => {
      try {
        const stored = await request(process, kind, (resources, of) => resources.get(of, placeOf(at)))
        return asGiven(stored) as unknown as Read
      } catch (error) {
        if (hasCode(error, 'NOT_FOUND')) return
        throw error
      }
    },
    list: async <Read>(kind: Kind<Read, unknown>, namespace?: string) => {
      const { items } = await request(process, kind, (resources, of) =>
        resources.list(of, namespace === undefined ? {} : { namespace }),
      )
      return items.map((item) => asGiven(item) as unknown as Read)
    },
    patch: async <Read>(
      kind: Kind<Read, unknown>,
      at: string | At,
      body: JsonObject,
      options: { readonly manager?: string; readonly subresource?: 'status' } = {},
    ) => {
      const place = placeOf(at)
      const sent = asSent(`the patch of ${kind.kind} ${place.name}`, body)
      const { stored } = await request(process, kind, (resources, of) =>
        resources.patch(of, place, { type: 'merge', body: sent }, { ...author, ...options }),
      )
      return asGiven(stored) as unknown as Read
    },
    delete: (kind, at, options) =>
      request(process, kind, (resources, of) => resources.delete(of, placeOf(at), { ...author, ...options })),
    explain: async (kind, at) => {
      const { group, version, namespaced, plural } = await requireServed(process, kind)
      const { namespace, name } = placeOf(at)
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      return readPage(process, `${root}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}/${name}/explain`)
    },
    page: (path) => readPage(process, path),
    api: (asked) => process.core.api(asked),
  }
}

type NamedVersion = KindName & { readonly version?: string }

async function requireServed(process: TestProcess, { group, kind, version }: NamedVersion): Promise<ServedKind> {
  const { catalog, refusals } = process.core
  const found = await catalog.byKind(group, kind)
  const refused = refusals?.get(`${group}/${kind}`)
  const reason = refused ?? 'give it in `kinds` or by a reconciler'
  if (found === undefined) throw new TypeError(`no kind ${kind} in group ${group || 'core'}: ${reason}`)
  if (version === undefined || version === found.version) return found
  return (await catalog.inVersion(found, version)) ?? found
}

/** A request about a kind, to the process that runs now. */
function request<Result>(
  process: TestProcess,
  kind: NamedVersion,
  ask: (resources: LocalCore['resources'], kind: ServedKind) => Promise<Result>,
): Promise<Result> {
  return process.answer(async () => {
    const { resources } = process.core
    return ask(resources, await requireServed(process, kind))
  })
}

async function apply(process: TestProcess, kind: NamedVersion, body: JsonObject): Promise<ApiObject> {
  const { name, namespace } = isObject(body['metadata']) ? body['metadata'] : {}
  if (typeof name !== 'string')
    throw new TypeError(`a ${kind.kind} is applied by its metadata.name, which is ${String(name)}`)
  const at = { name, namespace: String(namespace ?? 'default') }
  const sent = asSent(`${kind.kind} ${name}`, body)
  const { stored } = await request(process, kind, (resources, of) =>
    resources.patch(of, at, { type: 'apply', body: sent, force: true }, author),
  )
  return asGiven(stored)
}

function kindOf({ apiVersion, kind }: JsonObject): NamedVersion {
  if (typeof apiVersion === 'string' && typeof kind === 'string') return { ...parseApiVersion(apiVersion), kind }
  throw new TypeError(`a manifest has apiVersion and kind, which are ${String(apiVersion)} and ${String(kind)}`)
}

/** What arrives of it, as from any client: the test may go on changing its own. */
function asSent(what: string, body: JsonObject): JsonObject {
  refuseForeign(body, '', `${what} cannot be sent`)
  return copyJson(body)
}

/** As clients see it. Stored states are shared, and are not for tests to change. */
function asGiven(stored: StoredObject): ApiObject {
  return copyJson(present(stored))
}

async function readPage(process: TestProcess, asked: string): Promise<string> {
  const [path = '', query] = asked.split('?', 2)
  const { body } = await process.core.api({
    method: 'GET',
    path,
    query: new URLSearchParams(query),
    header: () => {},
    fieldsUnder: () => [],
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
  })
  if (typeof body === 'string') return body
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body instanceof Uint8Array ? [body] : body)
    text += typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
  return text
}

function placeOf(at: string | At): Place & { readonly namespace: string } {
  if (typeof at === 'string') return { name: at, namespace: 'default' }
  return { ...at, namespace: at.namespace ?? 'default' }
}
