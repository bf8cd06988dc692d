import type { StoredObject } from '../model/stored-object.ts'
import type { HttpHandler } from '../ports/http-handler.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Tracing } from '../ports/tracing.ts'

/**
 * Whether the variables of OpenTelemetry ask for traces: where they go is named, or that they go by OTLP; and nothing
 * switches them off.
 */
export function asksForTraces(environment: Readonly<Record<string, string | undefined>>): boolean {
  const exporter = environment['OTEL_TRACES_EXPORTER'] ?? ''
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true' || exporter === 'none') return false
  if (exporter === 'otlp') return true
  return endpoints.some((name) => (environment[name] ?? '') !== '')
}

const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const

/** A span for each request, below the one that its sender names. A watch is over for it when it begins. */
export function withRequestSpans(handler: HttpHandler, tracing: Tracing): HttpHandler {
  return (request) => {
    const { method, path } = request
    const route = routeOf(path)
    const agent = request.header('user-agent')?.slice(0, 200)
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'url.path': path,
      ...(agent !== undefined && { 'user_agent.original': agent }),
    }
    const parent = request.header('traceparent') ?? 'none'
    return tracing.span(
      { name: `${method} ${route}`, kind: 'server', attributes, parent },
      () => handler(request),
      ({ status }) => ({
        attributes: { 'http.response.status_code': status },
        ...(status >= 500 && { error: `status ${status}` }),
      }),
    )
  }
}

/** The path without the names of objects and namespaces. */
export function routeOf(path: string): string {
  const [, root = '', ...rest] = path.split('/')
  const versionLength = root === 'apis' ? 2 : 1
  if (root !== 'api' && root !== 'apis') return `/${root}`
  const version = rest.slice(0, versionLength)
  const words = rest.slice(versionLength)
  const [first, , plural] = words
  const isNamespaced = first === 'namespaces' && plural !== undefined && plural !== 'status' && plural !== 'finalize'
  const at = isNamespaced ? ['namespaces', '{namespace}', ...namesIn(words.slice(2))] : namesIn(words)
  return `/${[root, ...version, ...at].join('/')}`
}

function namesIn([plural, name, ...subresource]: readonly string[]): readonly string[] {
  if (plural === undefined) return []
  return name === undefined ? [plural] : [plural, '{name}', ...subresource]
}

/**
 * The store, with a span for each write below one that is under way. The write of a change leaves its own span with the
 * object, in the engine's record, and the run that deals with the change begins there.
 */
export function withWriteSpans(store: ObjectStore, tracing: Tracing | undefined): ObjectStore {
  if (tracing === undefined) return store
  const write = <Result>(
    verb: string,
    stored: StoredObject,
    make: (stored: StoredObject) => Promise<Result>,
  ): Promise<Result> => {
    if (tracing.current() === undefined) return make(stored)
    const attributes = attributesOf(stored.object)
    return tracing.span({ name: `${verb} ${stored.object.kind}`, kind: 'internal', attributes }, () =>
      make(withTrace(stored, tracing.current())),
    )
  }
  return {
    ...store,
    create: (stored) => write('create', stored, (traced) => store.create(traced)),
    replace: (stored, touched) => write('write', stored, (traced) => store.replace(traced, touched)),
    remove: (stored) => write('remove', stored, (traced) => store.remove(traced)),
  }
}

function attributesOf({ kind, metadata: { namespace, name } }: StoredObject['object']) {
  return {
    'setpoint.kind': kind,
    'setpoint.name': name,
    ...(namespace !== undefined && { 'setpoint.namespace': namespace }),
  }
}

function withTrace(stored: StoredObject, trace: string | undefined): StoredObject {
  const { object, engine } = stored
  if (engine.change === undefined || engine.change.trace !== undefined || trace === undefined) return stored
  return { object, engine: { ...engine, change: { ...engine.change, trace } } }
}
