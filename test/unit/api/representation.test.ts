import { describe, expect, it } from 'vitest'
import { representationOf } from '../../../shared/api/representation.ts'
import type { Json } from '../../../shared/model/json.ts'
import { endOf } from './end-of.ts'
import { bareRequest, request } from './sent-request.ts'

const json = 'application/json'
const meta = 'g=meta.k8s.io'
const object = { as: 'object' }
const tableOf = (version: string, include = 'Metadata') => ({ as: 'table', version, include })
const metadataOf = (version: string) => ({ as: 'metadata', version })
const no = 'NOT_ACCEPTABLE: only the following media types are accepted: application/json, application/yaml'

describe('the form of an answer', () => {
  it.each<[string, Json]>([
    ['', object],
    [json, object],
    [`${json};charset=utf-8`, object],
    ['*/*', object],
    ['*', object],
    ['application/*', object],
    ['application/yaml', object],
    ['text/html, application/yaml', object],
    ['text/html', no],
    ['text/*', no],
    [`${json};as=Table;v=v1;${meta}`, tableOf('v1')],
    [`${json};as=Table;v=v1beta1;${meta}`, tableOf('v1beta1')],
    [`${json};as=Table;v=v2;${meta}`, no],
    [`${json};as=Table;${meta}`, no],
    [`${json};as=Table;v=v1`, no],
    [`${json};as=Table;v=v1;g=x.dev`, no],
    [`${json};as=PartialObjectMetadata;v=v1;${meta}`, metadataOf('v1')],
    [`${json};as=PartialObjectMetadataList;v=v1beta1;${meta}`, metadataOf('v1beta1')],
    [`${json};as=Other;v=v1;${meta}`, no],
    [`${json};as=Table;v=v2;${meta}, ${json}`, object],
    [`${json};as=Table;v=v1;${meta}, ${json}`, tableOf('v1')],
    [`text/html;as=Table;v=v1;${meta}`, no],
  ])('that accepts %j is %j', (accept, form) => {
    expect(endOf(() => representationOf(request('GET /x', { accept })))).toEqual(form)
  })

  it('is an object where nothing is said', () => {
    expect(representationOf(bareRequest('GET /x'))).toEqual(object)
  })

  it('of a watch is no YAML', () => {
    expect(endOf(() => representationOf(request('GET /x?watch=1', { accept: 'application/yaml' })))).toBe(no)
    expect(representationOf(request('GET /x?watch=1', { accept: `application/yaml, ${json};q=0.1` }))).toEqual(object)
  })

  const unknown = 'BAD_REQUEST: unrecognized includeObject value: "none"; use None, Metadata or Object'
  it.each<[string, Json]>([
    ['includeObject=', tableOf('v1')],
    ['includeObject=None', tableOf('v1', 'None')],
    ['includeObject=Metadata', tableOf('v1')],
    ['includeObject=Object', tableOf('v1', 'Object')],
    ['includeObject=none', unknown],
  ])('of a table asked for by %j is %j', (query, form) => {
    const asked = request(`GET /x?${query}`, { accept: `${json};as=Table;v=v1;${meta}` })
    expect(endOf(() => representationOf(asked))).toEqual(form)
  })
})
