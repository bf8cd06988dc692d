import { expect, it } from 'vitest'
import { attributesOf } from '../../../shared/api/access/attributes.ts'
import type { Attributes } from '../../../shared/model/access/rules.ts'
import { requestInfo } from '../../../shared/api/request-info.ts'
import { request } from './sent-request.ts'

const ks = { group: 'g.dev', resource: 'ks', subresource: '', namespace: '', name: '' }
const named = 'fieldSelector=metadata.name%3Db'

it.each<[string, Attributes]>([
  ['GET /', { verb: 'get', path: '/' }],
  ['POST /a//b%20c/', { verb: 'post', path: '/a/b c' }],
  ['GET /apis/g.dev/v1/ks', { ...ks, verb: 'list' }],
  [`GET /apis/g.dev/v1/ks?${named}`, { ...ks, verb: 'list', name: 'b' }],
  [`GET /apis/g.dev/v1/ks?watch=1&${named}`, { ...ks, verb: 'watch', name: 'b' }],
  ['GET /apis/g.dev/v1/ks?fieldSelector=metadata.name!%3Db', { ...ks, verb: 'list' }],
  ['GET /apis/g.dev/v1/ks?fieldSelector=', { ...ks, verb: 'list' }],
  [`DELETE /apis/g.dev/v1/ks?${named}`, { ...ks, verb: 'deletecollection' }],
  [`GET /apis/g.dev/v1/ks/a?${named}`, { ...ks, verb: 'get', name: 'a' }],
  [
    'PATCH /apis/g.dev/v1/namespaces/n/ks/a/status',
    { ...ks, verb: 'patch', namespace: 'n', name: 'a', subresource: 'status' },
  ],
])('%s wants %j', (line, wanted) => {
  const asked = request(line)
  expect(attributesOf(asked, requestInfo(asked))).toStrictEqual(wanted)
})
