import { describe, expect, it } from 'vitest'
import { requestInfo } from '../../../shared/api/request-info.ts'

const info = (line: string): unknown => {
  const [method = '', target = ''] = line.split(' ')
  const [path = '', query = ''] = target.split('?')
  return requestInfo({ method, path, query: new URLSearchParams(query) })
}

const resource = (parts: object): object => ({
  isResource: true,
  verb: 'get',
  group: '',
  version: 'v1',
  namespace: '',
  resource: '',
  name: '',
  subresource: '',
  ...parts,
})

describe('what a request asks for', () => {
  const widget = { group: 'example.com', resource: 'widgets' }
  const rows = [
    { line: 'GET /apis/example.com/v1/namespaces/ns/widgets/w', is: { ...widget, namespace: 'ns', name: 'w' } },
    { line: 'GET /apis/example.com/v1/namespaces/ns/widgets', is: { ...widget, namespace: 'ns', verb: 'list' } },
    { line: 'GET /apis/example.com/v1/widgets', is: { ...widget, verb: 'list' } },
    { line: 'GET /apis/example.com/v1/widgets?watch=true', is: { ...widget, verb: 'watch' } },
    { line: 'GET /apis/example.com/v1/widgets?watch=1', is: { ...widget, verb: 'watch' } },
    { line: 'GET /apis/example.com/v1/widgets?watch', is: { ...widget, verb: 'watch' } },
    { line: 'GET /apis/example.com/v1/widgets?watch=false', is: { ...widget, verb: 'list' } },
    { line: 'GET /apis/example.com/v1/widgets?watch=0', is: { ...widget, verb: 'list' } },
    { line: 'GET /apis/example.com/v1/widgets/w?watch=true', is: { ...widget, name: 'w' } },
    { line: 'HEAD /apis/example.com/v1/widgets/w', is: { ...widget, name: 'w' } },
    { line: 'HEAD /apis/example.com/v1/widgets?watch=true', is: { ...widget, verb: 'list' } },
    { line: 'POST /apis/example.com/v1/widgets', is: { ...widget, verb: 'create' } },
    { line: 'PUT /apis/example.com/v1/widgets/w', is: { ...widget, name: 'w', verb: 'update' } },
    {
      line: 'PATCH /apis/example.com/v1/widgets/w/status',
      is: { ...widget, name: 'w', subresource: 'status', verb: 'patch' },
    },
    { line: 'DELETE /apis/example.com/v1/widgets/w', is: { ...widget, name: 'w', verb: 'delete' } },
    { line: 'DELETE /apis/example.com/v1/widgets', is: { ...widget, verb: 'deletecollection' } },
    { line: 'GET /apis/example.com/v1/widgets/w/a/b', is: { ...widget, name: 'w', subresource: 'a/b' } },
    { line: 'GET /api/v1/namespaces', is: { resource: 'namespaces', verb: 'list' } },
    { line: 'GET /api/v1/namespaces/ns', is: { resource: 'namespaces', namespace: 'ns', name: 'ns' } },
    {
      line: 'PUT /api/v1/namespaces/ns/status',
      is: { resource: 'namespaces', namespace: 'ns', name: 'ns', subresource: 'status', verb: 'update' },
    },
    {
      line: 'PUT /api/v1/namespaces/ns/finalize',
      is: { resource: 'namespaces', namespace: 'ns', name: 'ns', subresource: 'finalize', verb: 'update' },
    },
    {
      line: 'GET /api/v1/namespaces/ns/runs',
      is: { resource: 'namespaces', namespace: 'ns', name: 'ns', subresource: 'runs' },
    },
    ...['runs', 'explain'].map((name) => ({
      line: `GET /apis/example.com/v1/namespaces/ns/${name}`,
      is: { group: 'example.com', resource: name, namespace: 'ns', verb: 'list' },
    })),
    {
      line: 'GET /apis/example.com/v1/namespaces/ns/status',
      is: { group: 'example.com', resource: 'namespaces', namespace: 'ns', name: 'ns', subresource: 'status' },
    },
    { line: 'GET /api/v1/namespaces/ns/configmaps/c', is: { resource: 'configmaps', namespace: 'ns', name: 'c' } },
    { line: 'GET //api//v1/configmaps/', is: { resource: 'configmaps', verb: 'list' } },
    { line: 'GET /api/v1/configmaps/a%20b%2Fc', is: { resource: 'configmaps', name: 'a b/c' } },
  ]
  it.each(rows)('$line', ({ line, is }) => {
    expect(info(line)).toEqual(resource(is))
  })

  const paths = [
    { line: 'GET /', segments: [] },
    { line: 'GET /version', segments: ['version'] },
    { line: 'GET /api', segments: ['api'] },
    { line: 'GET /api/v1', segments: ['api', 'v1'] },
    { line: 'GET /apis/example.com/v1', segments: ['apis', 'example.com', 'v1'] },
    { line: 'GET /openapi/v3/apis/example.com/v1', segments: ['openapi', 'v3', 'apis', 'example.com', 'v1'] },
    { line: 'POST /version', segments: ['version'] },
  ]
  it.each(paths)('$line names no resource', ({ line, segments }) => {
    expect(info(line)).toEqual({ isResource: false, segments })
  })

  it('is refused if the path is not percent-encoded UTF-8', () => {
    expect(() => info('GET /api/v1/configmaps/%E0%A4')).toThrow('path segment "%E0%A4" is not percent-encoded UTF-8')
  })

  it('is refused if the method is no verb', () => {
    expect(() => info('OPTIONS /api/v1/configmaps')).toThrow(
      'the server does not allow this method on the requested resource',
    )
  })
})
