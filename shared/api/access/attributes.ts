import type { Attributes } from '../../model/access/rules.ts'
import { findSelectedName } from '../../model/selector.ts'
import type { HttpRequest } from '../../ports/http-handler.ts'
import { textParameter } from '../query.ts'
import type { RequestInfo } from '../request-info.ts'

/**
 * What a request wants, as rules speak of it. A list or watch of one name is about that name. A path is as it is
 * served: decoded, without slashes at its end.
 */
export function attributesOf(request: Pick<HttpRequest, 'method' | 'query'>, info: RequestInfo): Attributes {
  if (!info.isResource) return { verb: request.method.toLowerCase(), path: `/${info.segments.join('/')}` }
  const { verb, group, resource, subresource, namespace, name } = info
  const isSelective = verb === 'list' || verb === 'watch'
  const selected = isSelective ? findSelectedName(textParameter(request.query, 'fieldSelector')) : undefined
  return { verb, group, resource, subresource, namespace, name: selected ?? name }
}
