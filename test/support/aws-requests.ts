/**
 * Counts what clients of AWS ask for: each request as it leaves the code, and the capacity that DynamoDB says it took. What the
 * SDK sends again by itself is one request here.
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
        for (const capacity of [result.output.ConsumedCapacity ?? []].flat()) note(tally, operation, capacity)
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

function note(tally: Tally, operation: string, { CapacityUnits = 0, GlobalSecondaryIndexes = {} }: Capacity): void {
  if (/Get|Query|Scan/.test(operation)) {
    tally.readUnits += CapacityUnits
    return
  }
  tally.writeUnits += CapacityUnits
  for (const [index, { CapacityUnits: units = 0 }] of Object.entries(GlobalSecondaryIndexes)) {
    tally.writeUnits -= units
    tally.indexUnits[index] = (tally.indexUnits[index] ?? 0) + units
  }
}
