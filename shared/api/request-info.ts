import { OperatingError } from '../model/errors.ts'
import type { HttpRequest } from '../ports/http-handler.ts'
import { flag } from './query.ts'

/** What a request asks for, read from its method and path as Kubernetes reads it (apiserver `RequestInfoFactory`). */
export type RequestInfo = ResourceRequest | PathRequest

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

export interface ResourceRequest {
  readonly isResource: true
  readonly verb: Verb
  readonly group: string
  readonly version: string
  /** Empty for cluster-scoped resources and for lists over all namespaces. */
  readonly namespace: string
  /** The plural of the URL. */
  readonly resource: string
  /** Empty for a collection. */
  readonly name: string
  /** Everything behind the name; empty for the object itself. */
  readonly subresource: string
}

/** A path that names no resource: discovery, schemas, health. */
export interface PathRequest {
  readonly isResource: false
  /** Decoded, without slashes at either end. */
  readonly segments: readonly string[]
}

/**
 * Throws BAD_REQUEST for a path that is not UTF-8 in percent-encoding, METHOD_NOT_ALLOWED for a method that is no verb.
 */
export function requestInfo(request: Pick<HttpRequest, 'method' | 'path' | 'query'>): RequestInfo {
  const segments = pathSegments(request.path)
  const groupAt = segments[0] === 'apis' ? 1 : segments[0] === 'api' ? 0 : undefined
  if (groupAt === undefined || segments.length < groupAt + 3) return { isResource: false, segments }
  const group = groupAt === 0 ? '' : (segments[1] ?? '')
  const place = placeOf(segments.slice(groupAt + 2), group)
  return { isResource: true, verb: verbOf(request, place.name), group, version: segments[groupAt + 1] ?? '', ...place }
}

function pathSegments(path: string): readonly string[] {
  const segments = path.split('/').filter((segment) => segment !== '')
  return path.includes('%') ? segments.map(decodeSegment) : segments
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw new OperatingError('BAD_REQUEST', `path segment ${JSON.stringify(segment)} is not percent-encoded UTF-8`, {
      cause,
    })
  }
}

type Place = Pick<ResourceRequest, 'namespace' | 'resource' | 'name' | 'subresource'>

/**
 * Of the parts behind the version. `namespaces/x/y` is the resource y in x, unless y belongs to the namespace itself.
 */
function placeOf(parts: readonly string[], group: string): Place {
  const namespace = parts[0] === 'namespaces' ? (parts[1] ?? '') : ''
  const ofNamespace = group === '' ? namespaceSubresources : kubernetesSubresources
  const isInNamespace = namespace !== '' && parts.length > 2 && !ofNamespace.includes(parts[2] ?? '')
  const [resource = '', name = '', ...rest] = isInNamespace ? parts.slice(2) : parts
  return { namespace, resource, name, subresource: rest.join('/') }
}

/** Kubernetes takes these for a namespace's in every group. A kind of another group may be called `runs`. */
const kubernetesSubresources: readonly string[] = ['status', 'finalize']
const namespaceSubresources: readonly string[] = [...kubernetesSubresources, 'explain', 'runs']

function verbOf({ method, query }: Pick<HttpRequest, 'method' | 'query'>, name: string): Verb {
  switch (method) {
    case 'GET':
      return name !== '' ? 'get' : flag(query, 'watch') ? 'watch' : 'list'
    case 'HEAD':
      return name === '' ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    default:
      throw methodNotAllowed()
  }
}

/** METHOD_NOT_ALLOWED in Kubernetes' words. */
export function methodNotAllowed(why?: string): OperatingError {
  const message = 'the server does not allow this method on the requested resource'
  return new OperatingError('METHOD_NOT_ALLOWED', why === undefined ? message : `${message}: ${why}`)
}
