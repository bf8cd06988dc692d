import type { APIGatewayProxyEvent, Context } from 'aws-lambda'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../shared/model/json.ts'
import type { AwsBoundary } from '../../shared/runtime/aws/boundary.ts'
import type { Clock } from '../../shared/ports/clock.ts'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { systemRandom } from '../../shared/adapters/node/system-random.ts'
import { requestOf } from '../../shared/adapters/aws/lambda-http.ts'
import { testCredentials } from '../../shared/testing-aws/dynalite.ts'
import type { Handler } from '../support/lambda-driver.ts'
import { installStreaming, type StreamedAnswer } from '../support/lambda-streaming.ts'
import { underLoad } from '../support/under-load.ts'
import { startServices, type Services } from './whole-path.ts'

installStreaming()
const { apiFunction } = await import('../../functions/api.ts')

/** The function before the gateway: what it takes for a request, whom it believes, and what it streams. */
let services: Services
let api: Handler<APIGatewayProxyEvent, StreamedAnswer>
beforeEach(async () => {
  services = await startServices()
  api = startApi(systemClock)
  await send({ httpMethod: 'POST', path: '/api/v1/namespaces', ...json({ metadata: { name: 'default' } }) })
})
afterEach(() => services[Symbol.asyncDispose]())

interface Changed extends Pick<AwsBoundary, 'environment' | 'write'> {
  readonly transport: Services['dynamodb']['transport']
}

/** Another process of the function. */
function startApi(
  clock: Clock,
  { environment = {}, write = () => {}, transport = services.dynamodb.transport }: Partial<Changed> = {},
): typeof api {
  const { endpoint } = services.dynamodb
  return apiFunction(
    {
      environment: { SETPOINT_TABLE: services.table, SETPOINT_QUEUES: '{}', ...environment },
      clock,
      random: systemRandom,
      write,
      dynamodb: { region: 'us-east-1', endpoint, credentials: testCredentials, requestHandler: transport as never },
      sqs: {},
      eventbridge: {},
      retire: () => {},
    },
    [],
  ) as never
}

const somebody = { principal: 'arn:aws:iam::1:role/Admin', groups: '["system:masters"]' }

type Given = Partial<Omit<APIGatewayProxyEvent, 'requestContext'>> & {
  readonly authorizer?: unknown
  readonly timeMs?: number
}

function open({ authorizer = somebody, timeMs = 30_000, ...event }: Given, process = api): Promise<StreamedAnswer> {
  const endMs = Date.now() + timeMs
  const context = { getRemainingTimeInMillis: () => endMs - Date.now() } as Context
  const whole = { headers: {}, multiValueHeaders: {}, body: null, isBase64Encoded: false, ...event }
  return process({ ...whole, requestContext: { authorizer } } as unknown as APIGatewayProxyEvent, context)
}

async function send(
  given: Given,
  process = api,
): Promise<{ readonly status: number; readonly body: string; readonly headers: Readonly<Record<string, string>> }> {
  const { prelude, stream } = await open(given, process)
  const { statusCode, headers } = await prelude
  return { status: statusCode, headers, body: await text(stream) }
}

function json(body: unknown): Pick<APIGatewayProxyEvent, 'body' | 'headers'> {
  return { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }
}

const maps = '/api/v1/namespaces/default/configmaps'

describe('somebody on no list', () => {
  const alice = { principal: 'https://issuer#alice', groups: '["dev","system:authenticated"]' }
  const get = { httpMethod: 'GET', path: maps }
  const role = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'
  const binding = {
    metadata: { name: 'dev' },
    roleRef: { kind: 'ClusterRole', name: 'reads-maps', apiGroup: 'rbac.authorization.k8s.io' },
    subjects: [{ kind: 'Group', name: 'dev', apiGroup: 'rbac.authorization.k8s.io' }],
  }
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]

  it('may do what bindings say, at once in every process', async () => {
    const other = startApi(systemClock)
    const statuses = async () =>
      Promise.all([api, other].map((process) => send({ ...get, authorizer: alice }, process))).then((all) =>
        all.map(({ status }) => status),
      )
    expect(await statuses()).toEqual([403, 403])
    const clusterRoles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
    await send({ httpMethod: 'POST', path: clusterRoles, ...json({ metadata: { name: 'reads-maps' }, rules }) })
    expect(await send({ httpMethod: 'POST', path: role, ...json(binding) })).toMatchObject({ status: 201 })
    expect(await statuses()).toEqual([200, 200])
    expect(
      await send({ ...json({ metadata: { name: 'x' } }), httpMethod: 'POST', path: maps, authorizer: alice }),
    ).toMatchObject({ status: 403 })
    await send({ httpMethod: 'DELETE', path: `${role}/dev` })
    expect(await statuses()).toEqual([403, 403])
  })
})

describe('/readyz', () => {
  const ready = { httpMethod: 'GET', path: '/readyz' }

  it('says whether the table takes writes, and /livez that the process answers', async () => {
    expect(await send(ready)).toMatchObject({ status: 200, body: 'ok' })
    const { transport } = services.dynamodb
    const refuse: typeof transport.handle = async (request) => {
      if (!String(request.headers['x-amz-target']).endsWith('PutItem')) return transport.handle(request)
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    }
    const cut = startApi(systemClock, { transport: { ...transport, handle: refuse } })
    const { status, body } = await send(ready, cut)
    expect({ status, body }).toEqual({
      status: 503,
      body: '[+]ping ok\n[-]writes failed: not taken\nreadyz check failed',
    })
    expect(await send({ ...ready, path: '/livez' }, cut)).toMatchObject({ status: 200 })
  })
})

describe('the record of requests', () => {
  it('is in the log of the function where it is wanted, and names the id of the answer', async () => {
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    const recorded = startApi(systemClock, { environment: { SETPOINT_AUDIT: 'on' }, write })
    const { headers } = await send({ ...json({ metadata: { name: 'm' } }), httpMethod: 'POST', path: maps }, recorded)
    const records = lines.map((line) => JSON.parse(line) as JsonObject).filter((line) => 'auditID' in line)
    expect(records).toMatchObject([
      {
        user: { name: somebody.principal },
        verb: 'create',
        resource: 'configmaps',
        name: 'm',
        decision: 'allow',
        code: 201,
      },
    ])
    expect(headers['audit-id']).toBe(records[0]?.['auditID'])
  })
})

describe('a request', () => {
  it.each([
    { isBase64Encoded: false, encode: (body: string) => body },
    { isBase64Encoded: true, encode: (body: string) => Buffer.from(body).toString('base64') },
  ])('has the body that was sent (base64: $isBase64Encoded)', async ({ isBase64Encoded, encode }) => {
    const body = encode(JSON.stringify({ metadata: { name: 'a' }, data: { greeting: 'Grüße 🎈' } }))
    const given = {
      httpMethod: 'POST',
      path: maps,
      body,
      isBase64Encoded,
      headers: { 'content-type': 'application/json' },
    }
    expect((await send(given)).status).toBe(201)
    const { body: answer, headers } = await send({ httpMethod: 'GET', path: `${maps}/a` })
    expect(JSON.parse(answer)).toMatchObject({ data: { greeting: 'Grüße 🎈' } })
    expect(headers['content-type']).toBe('application/json')
  })

  it('has every value of a parameter, and headers whatever their letters', async () => {
    await send({ httpMethod: 'POST', path: maps, ...json({ metadata: { name: 'a', labels: { app: 'x' } } }) })
    const { body } = await send({
      httpMethod: 'GET',
      path: maps,
      multiValueQueryStringParameters: { labelSelector: ['app in (x,y)'], limit: ['500'] },
      multiValueHeaders: { ACCEPT: ['application/json;as=Table;v=v1;g=meta.k8s.io', 'application/json'] },
    })
    expect(JSON.parse(body)).toMatchObject({ kind: 'Table', rows: [{}] })
  })

  it('that is too large is refused', async () => {
    const body = 'x'.repeat(4 * 1_024 * 1_024)
    const { status } = await send({
      httpMethod: 'POST',
      path: maps,
      ...json({ metadata: { name: 'a' }, data: { body } }),
    })
    expect(status).toBe(413)
  })
})

describe('who asks', () => {
  it.each([
    { why: 'no authorizer has spoken', authorizer: null },
    { why: 'the authorizer said nothing of ours', authorizer: { principalId: 'x' } },
  ])('is nobody if $why, whatever the headers say', async ({ authorizer }) => {
    const claims = JSON.stringify({ name: 'me', groups: ['system:masters'] })
    const headers = { Authorization: claims, authorization: claims, 'x-remote-user': 'admin' }
    const given = { httpMethod: 'GET', path: maps, headers, authorizer }
    expect((await send(given)).status).toBe(401)
    expect((await send({ ...given, multiValueHeaders: { Authorization: [claims] } })).status).toBe(401)
  })

  it('is whom the authorizer names', async () => {
    const { body } = await send({
      httpMethod: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      ...json({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
    })
    expect(JSON.parse(body)).toMatchObject({ status: { userInfo: { username: somebody.principal } } })
  })
})

describe('a watch', () => {
  const watch = (more: Record<string, string> = {}, timeMs?: number): Promise<StreamedAnswer> =>
    open({
      httpMethod: 'GET',
      path: maps,
      queryStringParameters: { watch: 'true', ...more },
      ...(timeMs && { timeMs }),
    })

  it('is streamed: its beginning comes at once, and what happens as it happens', async () => {
    const { prelude, stream } = await watch()
    expect(await prelude).toMatchObject({ statusCode: 200 })
    const told: string[] = []
    stream.on('data', (piece: Buffer) => told.push(piece.toString()))
    await send({ httpMethod: 'POST', path: maps, ...json({ metadata: { name: 'a' } }) })
    await expect.poll(() => told.join('')).toContain('"ADDED"')
    stream.destroy()
  })

  it('ends ahead of the time of its function', async () => {
    const startMs = Date.now()
    const { stream, ended } = await watch({}, 5_000)
    await text(stream)
    await ended
    expect(Date.now() - startMs).toBeLessThan(underLoad(2_500))
  })

  it('that goes on from a version of another table is told to list again, whichever way it was switched', async () => {
    const process = (id: string, aheadMs: number): typeof api =>
      startApi(
        { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs },
        { environment: { SETPOINT_TABLE_SWITCH: id } },
      )
    const list = async (by: typeof api): Promise<string> => {
      const { body } = await send({ httpMethod: 'GET', path: maps }, by)
      return (JSON.parse(body) as { metadata: { resourceVersion: string } }).metadata.resourceVersion
    }
    const follow = async (resourceVersion: string, by: typeof api): Promise<boolean> => {
      const query = { watch: 'true', timeoutSeconds: '1', resourceVersion }
      const { prelude, stream } = await open({ httpMethod: 'GET', path: maps, queryStringParameters: query }, by)
      const told = await text(stream)
      return (await prelude).statusCode === 200 && !told.includes('"code":410')
    }
    const first = process('one', 0)
    const old = await list(first)
    expect(await follow(old, first)).toBe(true)
    const second = process('two', 5_000)
    expect(await follow(old, second)).toBe(false)
    expect(await follow(await list(second), second)).toBe(true)
    // Another process of the same switch, when the functions from before it have ended.
    const later = process('two', 130_000)
    expect(await follow(old, later)).toBe(false)
    const since = await list(later)
    expect(await follow(since, process('two', 140_000))).toBe(true)
    expect(await follow(since, process('three', 150_000))).toBe(false)
  })

  it('of who comes again by itself is short, since it is paid for while it is open', async () => {
    const asked: string[] = []
    for (const timeoutSeconds of ['600', '30'])
      asked.push(
        requestOf(
          { httpMethod: 'GET', path: maps, queryStringParameters: { watch: 'true', timeoutSeconds } } as never,
          'null',
          new AbortController().signal,
        ).query.get('timeoutSeconds') ?? '',
      )
    expect(asked).toEqual(['55', '30'])
  })
})
