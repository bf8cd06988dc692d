import {
  bufferOf,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from '../../shared/testing-aws/dynalite.ts'

/** What happens to one request. */
export type Fault =
  /** Refused for lack of capacity; nothing is done. */
  | 'throttle'
  /** No connection; nothing is done. */
  | 'unreachable'
  /** No answer, and nothing is done. */
  | 'lost'
  /** No answer, but it is done. */
  | 'answer lost'
  /** No answer, and it is done only when the next request has been answered. */
  | 'late'
  /** Status 500, and nothing is done. */
  | 'broken'
  /** Status 500, but it is done. */
  | 'broken after'
  /** It is done, and the answer is cut short. */
  | 'garbled'
  /** Refused because of a clock that is wrong; nothing is done. */
  | 'skewed'
  /** Of a batch, all but the first is left undone. */
  | 'unprocessed'
  /** It is done; of a condition that fails, no item is told. */
  | 'without item'

/** Chooses the fault of a request by its operation, such as `PutItem`, its count among all, and what it asks for. */
export type Faults = (operation: string, count: number, input: Input) => Fault | undefined

// oxlint-disable-next-line typescript/no-explicit-any -- the requests of any operation
export type Input = any

/** A way to DynamoDB on which requests go wrong. */
export function faultyTransport(transport: Transport, faults: Faults): Transport {
  let count = 0
  let late: TransportRequest | undefined

  return {
    handle: async (request) => {
      const input: Input = JSON.parse(bufferOf(request.body).toString())
      const operation = request.headers['x-amz-target']?.split('.')[1] ?? ''
      const fault = faults(operation, count++, input)
      const held = late
      late = fault === 'late' ? request : undefined
      try {
        return { response: await answer(transport, request, { fault, input }) }
      } finally {
        if (held !== undefined) await transport.handle(held)
      }
    },
  }
}

async function answer(
  transport: Transport,
  request: TransportRequest,
  { fault, input }: { readonly fault: Fault | undefined; readonly input: Input },
): Promise<TransportResponse> {
  const send = async (body?: Input): Promise<TransportResponse> => {
    const sent = body === undefined ? request : { ...request, body: JSON.stringify(body) }
    return (await transport.handle(sent)).response
  }
  switch (fault) {
    case undefined:
      return send()
    case 'throttle':
      return reply(400, { __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException' })
    case 'unreachable':
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    case 'lost':
    case 'late':
      throw timeout()
    case 'answer lost':
      await send()
      throw timeout()
    case 'broken after':
      await send()
      return reply(500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError' })
    case 'broken':
      return reply(500, { __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError' })
    case 'garbled':
      await send()
      return { ...reply(200, {}), body: Buffer.from('{"Attri') }
    case 'skewed':
      return reply(400, { __type: 'com.amazon.coral.service#InvalidSignatureException', message: 'Signature expired' })
    case 'unprocessed':
      return withoutRest(input, send)
    case 'without item':
      return withoutItem(await send())
  }
}

function timeout(): Error {
  return Object.assign(new Error('no answer in time'), { name: 'TimeoutError' })
}

function reply(statusCode: number, body: Input): TransportResponse {
  return {
    statusCode,
    headers: { 'content-type': 'application/x-amz-json-1.0' },
    body: Buffer.from(JSON.stringify(body)),
  }
}

function withoutItem(response: TransportResponse): TransportResponse {
  const { Item: _, ...body }: Input = JSON.parse(Buffer.from(response.body).toString())
  return response.statusCode === 400 ? reply(400, body) : response
}

/** Sends the first of a batch, and says of the rest what DynamoDB says of what it left undone. */
async function withoutRest(
  input: Input,
  send: (body: Input) => Promise<TransportResponse>,
): Promise<TransportResponse> {
  const [[table, asked]] = Object.entries<Input>(input.RequestItems) as [[string, Input]]
  const isRead = !Array.isArray(asked)
  const [first, ...rest] = isRead ? asked.Keys : asked
  const part = (entries: Input): Input => ({ [table]: isRead ? { ...asked, Keys: entries } : entries })
  const { statusCode, body } = await send({ ...input, RequestItems: part([first]) })
  const left = rest.length === 0 ? {} : { [isRead ? 'UnprocessedKeys' : 'UnprocessedItems']: part(rest) }
  return reply(statusCode, { ...JSON.parse(Buffer.from(body).toString()), ...left })
}
