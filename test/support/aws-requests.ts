import { bufferOf, type Transport } from '../../shared/testing-aws/dynalite.ts'

/**
 * Counts what clients of AWS ask for: each request as it leaves the code, and the capacity that DynamoDB says it took.
 * What the SDK sends again by itself is one request here.
 */
export interface AwsRequests {
  /** What was asked for since the last time. */
  take(): RequestTally
}

export interface RequestTally {
  /** How often, by operation: `GetItem`, `SendMessageBatch`. */
  readonly calls: Readonly<Record<string, number>>
  /** DynamoDB's read units, of the table and its indexes. */
  readonly readUnits: number
  /** DynamoDB's write units, of the table alone. */
  readonly writeUnits: number
  /** DynamoDB's write units of indexes, by name. */
  readonly indexUnits: Readonly<Record<string, number>>
}

/** The part of any client of the SDK that is needed here. */
interface CountedClient {
  readonly middlewareStack: {
    add(
      // oxlint-disable-next-line typescript/no-explicit-any -- the requests and answers of any service
      middleware: (next: (args: any) => Promise<any>, context: any) => (args: any) => Promise<any>,
      options: { readonly step: 'initialize'; readonly name: string },
    ): void
  }
}

export function countAwsRequests(...clients: readonly CountedClient[]): AwsRequests {
  let tally = emptyTally()
  for (const { middlewareStack } of clients) {
    middlewareStack.add(
      (next, context: { commandName?: string; clientName?: string }) => async (args) => {
        const operation = context.commandName?.replace(/Command$/, '') ?? ''
        tally.calls[operation] = (tally.calls[operation] ?? 0) + 1
        if (context.clientName !== 'DynamoDBClient' || !isOfItems.test(operation)) return next(args)
        const result = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'INDEXES' } })
        for (const capacity of [result.output.ConsumedCapacity ?? []].flat())
          note(tally, { operation, ...args.input }, capacity)
        return result
      },
      { step: 'initialize', name: 'countAwsRequests' },
    )
  }
  return {
    take: () => {
      const taken = tally
      tally = emptyTally()
      return taken
    },
  }
}

/**
 * The same for whoever is reached by a transport of the tests: what all clients ask for on it, with the polls of the
 * mappings.
 */
export function countedTransport(transport: Transport): AwsRequests & { readonly transport: Transport } {
  let tally = emptyTally()
  const handle: Transport['handle'] = async (request) => {
    const [service = '', operation = ''] = request.headers['x-amz-target']?.split('.') ?? []
    tally.calls[operation] = (tally.calls[operation] ?? 0) + 1
    if (!service.startsWith('DynamoDB') || !isOfItems.test(operation)) return transport.handle(request)
    const input: Pick<Asked, 'ConsistentRead'> = JSON.parse(bufferOf(request.body).toString())
    const body = JSON.stringify({ ...input, ReturnConsumedCapacity: 'INDEXES' })
    const answer = await transport.handle({ ...request, body })
    const { ConsumedCapacity = [] }: { ConsumedCapacity?: Capacity | Capacity[] } = JSON.parse(
      Buffer.from(answer.response.body).toString(),
    )
    for (const capacity of [ConsumedCapacity].flat()) note(tally, { operation, ...input }, capacity)
    return answer
  }
  return {
    transport: { handle },
    take: () => {
      const taken = tally
      tally = emptyTally()
      return taken
    },
  }
}

const isOfItems = /Item|Query|Scan/

type Tally = { -readonly [Part in keyof RequestTally]: RequestTally[Part] } & {
  readonly calls: Record<string, number>
  readonly indexUnits: Record<string, number>
}

interface Capacity {
  readonly CapacityUnits?: number
  readonly GlobalSecondaryIndexes?: Readonly<Record<string, { readonly CapacityUnits?: number }>>
}

function emptyTally(): Tally {
  return { calls: {}, readUnits: 0, writeUnits: 0, indexUnits: {} }
}

interface Asked {
  readonly operation: string
  readonly ConsistentRead?: boolean
}

function note(tally: Tally, { operation, ConsistentRead = false }: Asked, capacity: Capacity): void {
  const { CapacityUnits = 0, GlobalSecondaryIndexes = {} } = capacity
  if (/Get|Query|Scan/.test(operation)) {
    // DynamoDB bills a query that finds nothing as the least that can be read; dynalite does not.
    tally.readUnits += Math.max(CapacityUnits, operation === 'Query' ? (ConsistentRead ? 1 : 0.5) : 0)
    return
  }
  tally.writeUnits += CapacityUnits
  for (const [index, { CapacityUnits: units = 0 }] of Object.entries(GlobalSecondaryIndexes)) {
    tally.writeUnits -= units
    tally.indexUnits[index] = (tally.indexUnits[index] ?? 0) + units
  }
}
