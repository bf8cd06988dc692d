import { describe, expect, it } from 'vitest'
import { placeBody } from '../../../shared/api/place-body.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { callOf, plainKind } from './called.ts'
import { endOf } from './end-of.ts'

const clusterKind = { ...plainKind, namespaced: false }
const one = 'PUT /apis/g.dev/v1/namespaces/n/ks/a'
const many = 'POST /apis/g.dev/v1/namespaces/n/ks'

function placed(line: string, body: JsonObject, kind = plainKind): unknown {
  return endOf(() => placeBody(callOf(line, { kind }), body))
}

describe('a body', () => {
  it.each<[string, JsonObject, JsonObject]>([
    [one, {}, { metadata: { name: 'a', namespace: 'n' } }],
    [one, { metadata: null }, { metadata: { name: 'a', namespace: 'n' } }],
    [one, { metadata: { name: 'a', namespace: 'n' } }, { metadata: { name: 'a', namespace: 'n' } }],
    [one, { metadata: { name: '', namespace: '' } }, { metadata: { name: 'a', namespace: 'n' } }],
    [one, { metadata: { name: null, namespace: null } }, { metadata: { name: 'a', namespace: 'n' } }],
    [one, { metadata: { labels: {} }, spec: 1 }, { metadata: { labels: {}, name: 'a', namespace: 'n' }, spec: 1 }],
    [many, {}, { metadata: { namespace: 'n' } }],
    [many, { metadata: { name: 'b' } }, { metadata: { name: 'b', namespace: 'n' } }],
    [many, { metadata: { name: '' } }, { metadata: { name: '', namespace: 'n' } }],
  ])('of %s that says %j is %j', (line, body, place) => {
    expect(placed(line, body)).toStrictEqual(place)
  })

  const otherName = (name: string) =>
    `BAD_REQUEST: the name of the object (${name}) does not match the name on the URL (a)`
  const otherNamespace =
    'BAD_REQUEST: the namespace of the provided object does not match the namespace sent on the request'
  it.each<[string, JsonObject, string]>([
    [one, { metadata: 'x' }, 'BAD_REQUEST: metadata must be an object'],
    [one, { metadata: [] }, 'BAD_REQUEST: metadata must be an object'],
    [one, { metadata: { name: 'b' } }, otherName('b')],
    [one, { metadata: { name: 5 } }, otherName('5')],
    [one, { metadata: { namespace: 'm' } }, otherNamespace],
    [many, { metadata: { namespace: 'm' } }, otherNamespace],
  ])('of %s that says %j is refused', (line, body, why) => {
    expect(placed(line, body)).toBe(why)
  })

  it('of the cluster may say a namespace, which is looked at elsewhere', () => {
    const body = { metadata: { namespace: 'm' } }
    expect(placed('PUT /apis/g.dev/v1/ks/a', body, clusterKind)).toStrictEqual({
      metadata: { namespace: 'm', name: 'a' },
    })
    expect(placed('PUT /apis/g.dev/v1/ks/a', {}, clusterKind)).toStrictEqual({ metadata: { name: 'a' } })
  })
})
