import type { Call } from '../../../shared/api/call.ts'
import type { ResourceRequest } from '../../../shared/api/request-info.ts'
import { requestInfo } from '../../../shared/api/request-info.ts'
import { InvariantError } from '../../../shared/model/errors.ts'
import { defineBuiltInKind, type ServedKind } from '../../../shared/model/served-kind.ts'
import { request, type Sent } from './sent-request.ts'

/** A kind of which nothing is known but its names. */
export const plainKind: ServedKind = {
  ...defineBuiltInKind({ group: 'g.dev', kind: 'K', plural: 'ks', namespaced: true, schema: { type: 'object' } }),
  builtIn: false,
}

/** A call as the main path makes it of a request for a resource. */
export function callOf(line: string, { kind = plainKind, ...sent }: Sent & { readonly kind?: ServedKind } = {}): Call {
  const asked = request(line, sent)
  return { request: asked, info: resourceIn(line), kind, user: { name: 'ann', groups: [] } }
}

function resourceIn(line: string): ResourceRequest {
  const info = requestInfo(request(line))
  if (info.isResource) return info
  throw new InvariantError(`${line} names no resource`)
}
