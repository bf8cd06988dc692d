import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../../../shared/api/api.ts'
import { OperatingError, type ErrorCode, type ErrorDetails } from '../../../shared/model/errors.ts'
import { createWidgetHarness, widget, widgets, type Harness } from './harness.ts'
import { request, type Sent } from './sent-request.ts'

let harness: Harness
beforeEach(async () => {
  harness = await createWidgetHarness()
})
afterEach(() => harness.close())

describe('who is not known', () => {
  const rows: readonly { line: string; sent: Sent; because: string }[] = [
    { line: `GET ${widgets}`, sent: { token: '' }, because: 'there is no token' },
    { line: `GET ${widgets}`, sent: { token: 'wrong' }, because: 'the token is wrong' },
    { line: 'GET /version', sent: { token: '' }, because: 'nothing works without a token' },
    { line: 'GET /apis', sent: { token: '' }, because: 'not even discovery' },
    { line: 'GET /nowhere', sent: { token: '' }, because: 'a stranger does not learn what is there' },
    { line: `POST ${widgets}`, sent: { token: '', body: widget('w') }, because: 'writes least of all' },
  ]
  it.each(rows)('is refused: $because', async ({ line, sent }) => {
    expect(await harness.send(line, sent)).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer' },
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Unauthorized',
        reason: 'Unauthorized',
        code: 401,
      },
    })
  })

  it('costs no reading of the body', async () => {
    const asked = request(`POST ${widgets}`, { token: '' })
    const response = await harness.api({ ...asked, body: () => Promise.reject(new Error('read')) })
    expect(response.status).toBe(401)
  })
})

describe("a failure in Kubernetes' words", () => {
  beforeEach(async () => {
    await harness.send(`POST ${widgets}`, { body: widget('w1') })
  })

  const rows: readonly { line: string; sent?: Sent; is: object }[] = [
    {
      line: `GET ${widgets}/nope`,
      is: {
        code: 404,
        reason: 'NotFound',
        message: 'widgets.example.com "nope" not found',
        details: { name: 'nope', group: 'example.com', kind: 'widgets' },
      },
    },
    {
      line: 'GET /api/v1/namespaces/default/configmaps/nope',
      is: { code: 404, message: 'configmaps "nope" not found', details: { name: 'nope', kind: 'configmaps' } },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: widget('w1') },
      is: {
        code: 409,
        reason: 'AlreadyExists',
        message: 'widgets.example.com "w1" already exists',
        details: { name: 'w1', group: 'example.com', kind: 'widgets' },
      },
    },
    {
      line: 'POST /apis/example.com/v1/namespaces/nowhere/widgets',
      sent: { body: widget('w1') },
      is: {
        code: 404,
        reason: 'NotFound',
        message: 'namespaces "nowhere" not found',
        details: { name: 'nowhere', kind: 'namespaces' },
      },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: widget('w2', { size: 0, color: 5 }) },
      is: {
        code: 422,
        reason: 'Invalid',
        message: expect.stringMatching(/^Widget\.example\.com "w2" is invalid: \[/),
        details: {
          name: 'w2',
          group: 'example.com',
          kind: 'Widget',
          causes: expect.arrayContaining([
            {
              reason: 'FieldValueTypeInvalid',
              field: 'spec.color',
              message: expect.stringContaining('must be of type string'),
            },
            {
              reason: 'FieldValueInvalid',
              field: 'spec.size',
              message: expect.stringContaining('should be greater than or equal to 1'),
            },
          ]),
        },
      },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: '{"metadata":' },
      is: { code: 400, reason: 'BadRequest', message: expect.stringContaining('the body is not JSON: ') },
    },
    { line: `POST ${widgets}`, sent: { body: '[]' }, is: { code: 400, message: 'the body must be one object' } },
    {
      line: `POST ${widgets}`,
      sent: { body: '' },
      is: { code: 400, message: expect.stringContaining('the body is not JSON') },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: Uint8Array.of(0x7b, 0xff, 0x7d) },
      is: { code: 400, message: 'the body is not UTF-8' },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: 'a: [', type: 'application/yaml' },
      is: { code: 400, message: expect.stringContaining('the body is not YAML: ') },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: '{}', type: 'text/plain' },
      is: { code: 415, reason: 'UnsupportedMediaType' },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: 'x', type: 'application/vnd.kubernetes.protobuf' },
      is: { code: 400, message: expect.stringContaining('its first bytes are not') },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: { metadata: 'x' } },
      is: { code: 400, message: 'metadata must be an object' },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: { kind: 5, metadata: { name: 'a' } } },
      is: { code: 400, message: 'kind: must be a string' },
    },
    {
      line: `POST ${widgets}`,
      sent: { body: { apiVersion: ['v1'], metadata: { name: 'a' } } },
      is: { code: 400, message: 'apiVersion: must be a string' },
    },
    { line: 'GET /api/v1/configmaps/%ff', is: { code: 400, reason: 'BadRequest' } },
  ]
  it.each(rows)('$line: $is.code $is.message', async ({ line, sent, is }) => {
    const { status, headers, body } = await harness.send(line, sent)
    expect(body).toMatchObject({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...is })
    expect([status, headers['content-type']]).toEqual([body.code, 'application/json'])
    expect(harness.errors).toEqual([])
  })
})

describe('an expected failure', () => {
  const rows: readonly {
    code: ErrorCode
    details?: ErrorDetails
    status: number
    reason: string
    retryAfter: string | undefined
  }[] = [
    { code: 'FORBIDDEN', status: 403, reason: 'Forbidden', retryAfter: undefined },
    { code: 'EXPIRED', status: 410, reason: 'Expired', retryAfter: undefined },
    { code: 'TOO_LARGE', status: 413, reason: 'RequestEntityTooLarge', retryAfter: undefined },
    { code: 'THROTTLED', status: 429, reason: 'TooManyRequests', retryAfter: '1' },
    { code: 'THROTTLED', details: { retryAfterSeconds: 7 }, status: 429, reason: 'TooManyRequests', retryAfter: '7' },
    { code: 'UNAVAILABLE', status: 503, reason: 'ServiceUnavailable', retryAfter: '1' },
    { code: 'WRITE_UNKNOWN', status: 500, reason: 'InternalError', retryAfter: undefined },
    { code: 'DEADLINE_EXCEEDED', status: 504, reason: 'Timeout', retryAfter: undefined },
  ]
  it.each(rows)(
    '$code is a $status, to be tried again after $retryAfter',
    async ({ code, details, status, reason, retryAfter }) => {
      const { resources } = harness.services
      const get = (): Promise<never> =>
        Promise.reject(new OperatingError(code, 'as told', details === undefined ? {} : { details }))
      const response = await createApi({ ...harness.services, resources: { ...resources, get } })(
        request(`GET ${widgets}/w`),
      )
      expect([response.status, response.headers['retry-after']]).toEqual([status, retryAfter])
      // Who runs the control plane learns of what is not the client's doing.
      expect(harness.errors).toHaveLength(status >= 500 ? 1 : 0)
      const body = JSON.parse(response.body as string)
      expect(body).toMatchObject({
        reason,
        code: status,
        message: 'as told',
        ...(retryAfter === undefined ? {} : { details: { retryAfterSeconds: Number(retryAfter) } }),
      })
    },
  )
})

describe('a failure that nobody expected', () => {
  it('is told as such, without a word of the inside, and logged', async () => {
    const { resources } = harness.services
    const get = (): Promise<never> => Promise.reject(new TypeError('secret of /etc/passwd'))
    const response = await createApi({ ...harness.services, resources: { ...resources, get } })(
      request(`GET ${widgets}/w`),
    )
    expect(response.status).toBe(500)
    expect(JSON.parse(response.body as string)).toMatchObject({
      reason: 'InternalError',
      message: 'Internal error occurred: see the log of the control plane',
    })
    expect(response.body).not.toContain('secret')
    expect(harness.errors).toEqual([
      expect.objectContaining({
        message: 'request failed',
        method: 'GET',
        path: `${widgets}/w`,
        error: expect.stringContaining('secret of /etc/passwd'),
      }),
    ])
  })
})

describe('a body', () => {
  it('of more than 1 MiB is refused', async () => {
    expect(await harness.send(`POST ${widgets}`, { body: ' '.repeat(1024 * 1024 + 1) })).toMatchObject({
      status: 413,
      body: { reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 1048576' },
    })
  })

  it('that no store would keep is refused, however it is written and before anything is made of it', async () => {
    const body = JSON.stringify(widget('large', { color: 'x'.repeat(360_000) }))
    const sent = { body, type: 'application/apply-patch+yaml' }
    expect((await harness.send(`PATCH ${widgets}/large?fieldManager=x`, sent)).body.message).toBe(
      'the object has 360095 characters of JSON, the limit is 358400',
    )
    const indented = JSON.stringify(widget('small', { parts: Array.from({ length: 60_000 }, () => 'p') }), null, 4)
    expect((await harness.send(`POST ${widgets}`, { body: indented })).status).toBe(201)
  })

  const deep = (levels: number): string => `{"metadata":{"name":"w"},"spec":${'['.repeat(levels)}${']'.repeat(levels)}}`
  it('nested deeper than 200 levels is refused, whatever is below', async () => {
    expect((await harness.send(`POST ${widgets}`, { body: deep(200) })).body.message).toBe(
      'the body is nested deeper than 200 levels',
    )
    expect((await harness.send(`POST ${widgets}`, { body: deep(500_000) })).body.message).toBe(
      'the body is nested deeper than 200 levels',
    )
    expect((await harness.send(`POST ${widgets}`, { body: deep(190) })).body.message).not.toContain('nested')
  })

  it('cannot reach for the prototype of what is made of it', async () => {
    const body = '{"metadata":{"name":"w"},"spec":{"__proto__":{"color":"red"}}}'
    expect((await harness.send(`POST ${widgets}`, { body })).body.message).toBe('a field cannot be called __proto__')
    const patch = { type: 'application/merge-patch+json', body: '{"__proto__":{"a":1}}' }
    expect((await harness.send(`PATCH ${widgets}/w`, patch)).body.message).toBe('a field cannot be called __proto__')
  })
})

it('that is an answer longer than any text says what to ask instead', async () => {
  const { resources } = harness.services
  const list = async (): Promise<never> => 'x'.repeat(2 ** 29) as never
  const { status, body } = await createApi({ ...harness.services, resources: { ...resources, list } })(
    request(`GET ${widgets}`),
  )
  expect([status, body]).toEqual([413, expect.stringMatching(/longer than any text.*limit/)])
})

describe('warnings', () => {
  it('fit into a header, whatever they say', async () => {
    const { resources } = harness.services
    const warnings = [
      '"quoted" \\ back',
      'two\r\nlines: x',
      'ümlaut',
      'x'.repeat(600),
      ...Array.from({ length: 30 }, () => 'more'),
    ]
    const create: typeof resources.create = async (...given) => ({ ...(await resources.create(...given)), warnings })
    const { headers } = await createApi({ ...harness.services, resources: { ...resources, create } })(
      request(`POST ${widgets}`, { body: widget('w') }),
    )
    const warning = headers['warning'] ?? ''
    expect(
      warning.startsWith('299 - "\\"quoted\\" \\\\ back", 299 - "two  lines: x", 299 - " mlaut", 299 - "xxx'),
    ).toBe(true)
    expect(warning).toMatch(/^[\x20-\x7e]*$/)
    expect(warning.match(/299 - /g)).toHaveLength(20)
  })
})
