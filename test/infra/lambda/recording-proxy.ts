import { once } from 'node:events'
import { createServer, request as send, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tokenTables } from '../../support/token-tables.ts'

/** A request to AWS, as its permission is named: `dynamodb:Query` on an index, `sqs:SendMessage` on a queue. */
export interface AwsCall {
  readonly action: string
  /** `index/<name>` of a table, or the name of a queue or of a table of keys; of all else the empty text. */
  readonly on: string
}

export interface RecordingProxy extends AsyncDisposable {
  readonly endpoint: string
  /** Each once. */
  readonly calls: () => readonly AwsCall[]
}

export type AwsService = 'dynamodb' | 'sqs' | 'events' | 'cloudformation'

/**
 * Stands before an emulator, and notes what is asked of it. The SDK's JSON protocols name the operation in a header.
 * That of CloudFormation names it in the body.
 */
export async function recordCalls(service: AwsService, target: Answering): Promise<RecordingProxy> {
  const calls = new Map<string, AwsCall>()
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const body = Buffer.concat(await incoming.toArray())
      for (const call of callsOf(service, incoming, body)) calls.set(JSON.stringify(call), call)
      const { status, headers, body: answer } = await target(incoming, body)
      outgoing.writeHead(status, headers).end(answer)
    })().catch((error: unknown) => outgoing.destroy(error as Error))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: () => [...calls.values()],
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** What answers a request. */
export type Answering = (
  request: IncomingMessage,
  body: Buffer,
) => Promise<{ readonly status: number; readonly headers: Record<string, string>; readonly body: Uint8Array }>

/** Passes requests on to another server. */
export function passedTo(endpoint: string): Answering {
  return async ({ method, url = '/', headers }, body) => {
    const passed = send(new URL(url, endpoint), { method, headers })
    passed.end(body)
    const [response] = (await once(passed, 'response')) as [IncomingMessage]
    const answer = Buffer.concat(await response.toArray())
    const kept = Object.entries(response.headers).filter(([name]) => name.startsWith('x-') || name === 'content-type')
    return {
      status: response.statusCode ?? 500,
      headers: Object.fromEntries(kept) as Record<string, string>,
      body: answer,
    }
  }
}

function callsOf(service: AwsService, { headers }: IncomingMessage, body: Buffer): readonly AwsCall[] {
  if (service === 'cloudformation')
    return [{ action: `${service}:${new URLSearchParams(body.toString()).get('Action')}`, on: '' }]
  const operation = String(headers['x-amz-target']).split('.').at(-1) ?? ''
  const {
    IndexName,
    QueueUrl,
    TableName = '',
  } = JSON.parse(body.toString() || '{}') as Record<string, string | undefined>
  // A batch of messages needs the permission of one message.
  const action = service === 'sqs' ? operation.replace(/Batch$/, '') : operation
  return [
    {
      action: `${service}:${action}`,
      on:
        IndexName === undefined
          ? (QueueUrl?.split('/')
              .at(-1)
              ?.replace(/\.fifo$/, '') ?? (isOfKeys(TableName) ? TableName : ''))
          : `index/${IndexName}`,
    },
  ]
}

function isOfKeys(table: string): boolean {
  return Object.values<string>(tokenTables).includes(table)
}
