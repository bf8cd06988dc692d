import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, vi } from 'vitest'
import { lambdaBoundary } from '../../../../shared/runtime/aws/boundary.ts'
import { createRemoval } from '../../../../shared/runtime/aws/removal.ts'
import type { StoredObject } from '../../../../shared/model/stored-object.ts'
import { startDynalite, testCredentials } from '../../../../shared/testing-aws/dynalite.ts'
import { stacksXml } from '../../../support/cloudformation-wire.ts'
import { openDynamodb } from '../../../support/dynamodb.ts'
import { createVirtualClock } from '../../../support/virtual-clock.ts'

const created = {
  RequestType: 'Create',
  ResponseURL: 'https://cloudformation-custom-resource-response-useast1.s3.amazonaws.com/answer',
  ResourceProperties: { ServiceToken: '' },
} as const satisfies Partial<CloudFormationCustomResourceEvent>

type Put = typeof fetch

/** Answers with each of these in turn, an Error by throwing it, and with 200 from then on. */
function answering(...results: readonly (number | Error)[]) {
  const sent: Request[] = []
  const put: Put = async (url, init) => {
    const result = results[sent.length] ?? 200
    sent.push(new Request(url, init))
    init?.signal?.throwIfAborted()
    if (result instanceof Error) throw result
    return new Response(null, { status: result })
  }
  return { put, sent }
}

async function removed(put: Put): Promise<void> {
  const clock = createVirtualClock()
  const boundary = {
    ...lambdaBoundary,
    clock,
    environment: { SETPOINT_TABLE: 'table' },
    dynamodb: { region: 'us-east-1' },
  }
  const ended = createRemoval(boundary, put)(created as CloudFormationCustomResourceEvent)
  ended.catch(() => {})
  await clock.advance(60_000)
  return ended
}

describe('the answer to CloudFormation', () => {
  it('has no content type: its URL may be signed without one', async () => {
    const { put, sent } = answering()
    await removed(put)
    expect(sent.map(({ headers }) => headers.get('content-type'))).toEqual([''])
  })

  it.each([
    ['S3 is out of order', 503],
    ['the connection breaks', new TypeError('fetch failed')],
  ])('is sent again while %s', async (_, trouble) => {
    const { put, sent } = answering(trouble, trouble, trouble)
    await removed(put)
    const texts = await Promise.all(sent.map((one) => one.text()))
    expect([texts.length, new Set(texts).size]).toEqual([4, 1])
  })

  it('is not waited for longer than ten seconds, and sent again then', async () => {
    const over = AbortSignal.abort(new DOMException('it took too long', 'TimeoutError'))
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(over)
    const { put, sent } = answering()
    await removed(put)
    expect([sent.length, timeout.mock.calls]).toEqual([2, [[10_000], [10_000]]])
    timeout.mockRestore()
  })

  it('is given up after five times: Lambda begins anew', async () => {
    const { put, sent } = answering(...Array<number>(9).fill(403))
    await expect(removed(put)).rejects.toThrow('CloudFormation did not take the answer: 403')
    expect(sent).toHaveLength(5)
  })
})

/** `lamp` is deployed as `lantern`: a rename. Both have the default finalizer of their name. */
const former = { name: 'lamp', group: 'example.dev', kind: 'Lamp', finalizer: 'example.dev/lamp' }
const renamed = { name: 'lantern', group: 'example.dev', kind: 'Lamp', finalizer: 'example.dev/lantern' }

/** New code ran until CloudFormation asked: its finalizer stands beside the one of before. */
const ranWithBoth = {
  object: {
    apiVersion: 'example.dev/v1',
    kind: 'Lamp',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: [former.finalizer, renamed.finalizer],
    },
  },
  engine: {},
} satisfies StoredObject

interface Asked {
  readonly before?: object
  readonly after: object
  /** What CloudFormation does; with a number it answers nothing but that. */
  readonly status: string | number
}

async function openGuard() {
  const { client, transport, close } = await startDynalite()
  const { table, store } = await openDynamodb(client)
  await store.create(ranWithBoth)
  const asked: string[] = []
  const logged: string[] = []
  let status: Asked['status'] = ''
  const describeStacks = async (request: IncomingMessage, reply: ServerResponse): Promise<void> => {
    asked.push(new URLSearchParams(await text(request)).get('StackName') ?? '')
    if (typeof status === 'number') reply.writeHead(status).end()
    else reply.writeHead(200, { 'content-type': 'text/xml' }).end(stacksXml(status))
  }
  const server = createServer((request, reply) => void describeStacks(request, reply)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const aws = { region: 'us-east-1', credentials: testCredentials }
  const boundary = {
    ...lambdaBoundary,
    environment: { SETPOINT_TABLE: table },
    write: (line: string) => void logged.push(line),
    dynamodb: { ...aws, endpoint: 'http://dynalite', requestHandler: transport },
    cloudformation: { ...aws, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  } as unknown as typeof lambdaBoundary
  const { put, sent } = answering()
  const answer = createRemoval(boundary, put)
  return {
    asked,
    logged,
    ask: async ({ before, after, status: now }: Asked) => {
      status = now
      await answer({
        ...created,
        RequestType: before === undefined ? 'Delete' : 'Update',
        StackId: 'arn:stack',
        ResourceProperties: { ServiceToken: '', controllers: [after] },
        OldResourceProperties: { ServiceToken: '', controllers: [before] },
      } as unknown as CloudFormationCustomResourceEvent)
      return (await sent.at(-1)?.json()) as { readonly Status: string; readonly Reason?: string }
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await close()
    },
  }
}

describe('a rename of a controller whose objects have the finalizer of before', () => {
  it('is refused, and says what becomes of the finalizer of the new name', async () => {
    await using guard = await openGuard()
    const { Status, Reason } = await guard.ask({ before: former, after: renamed, status: 'UPDATE_IN_PROGRESS' })
    expect([Status, guard.asked]).toEqual(['FAILED', ['arn:stack']])
    expect(Reason).toBe(
      'The reconciler lamp is needed: its finalizer example.dev/lamp is on default/a, and nobody else would clean up after those. ' +
        'Delete them first (kubectl delete lamp.example.dev -A --all), or remove the finalizer where there is nothing to clean up. ' +
        'Objects that ran meanwhile keep the finalizer example.dev/lantern after the rollback, and nobody takes it off. ' +
        `Name those that are to stay: kubectl patch lamp.example.dev NAME -n NAMESPACE --type=merge -p '{"metadata":{"finalizers":["example.dev/lamp"]}}'`,
    )
  })

  it('is rolled back, though objects have the finalizer of the new name', async () => {
    await using guard = await openGuard()
    const undone = await guard.ask({ before: renamed, after: former, status: 'UPDATE_ROLLBACK_IN_PROGRESS' })
    expect(undone).not.toHaveProperty('Reason')
    expect(undone.Status).toBe('SUCCESS')
    expect(guard.logged.join('')).toContain('its finalizer example.dev/lantern is on default/a')
  })

  it('is not taken back by a deployment: that is none of CloudFormation', async () => {
    await using guard = await openGuard()
    expect(await guard.ask({ before: renamed, after: former, status: 'UPDATE_IN_PROGRESS' })).toMatchObject({
      Status: 'FAILED',
    })
  })

  it('is refused where CloudFormation does not say what it does, with why', async () => {
    await using guard = await openGuard()
    const { Status, Reason } = await guard.ask({ before: renamed, after: former, status: 403 })
    expect([Status, Reason]).toEqual(['FAILED', expect.stringContaining('cannot see what CloudFormation does')])
  })

  it('leaves the removal of the stack refused, and asks nobody then', async () => {
    await using guard = await openGuard()
    const status = 'UPDATE_ROLLBACK_IN_PROGRESS'
    expect(await guard.ask({ after: renamed, status })).toMatchObject({ Status: 'FAILED' })
    expect(guard.asked).toEqual([])
  })

  it('asks nobody about an update that takes nothing away', async () => {
    await using guard = await openGuard()
    const status = 'UPDATE_IN_PROGRESS'
    expect(await guard.ask({ before: former, after: former, status })).toMatchObject({ Status: 'SUCCESS' })
    expect(guard.asked).toEqual([])
  })
})
