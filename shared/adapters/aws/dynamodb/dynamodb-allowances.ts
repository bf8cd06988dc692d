import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { spacingUsOf, type Rate } from '../../../model/reservations.ts'
import type { Allowances } from '../../../ports/allowances.ts'
import { isConditionFailure } from './dynamodb-failures.ts'
import { itemKey } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

/**
 * An item for each account, which holds where its line of calls ends, as that of reservations does. A call adds to the
 * end on condition that the end is no more than the burst ahead: one write for a call, and one that fails for whoever
 * has to wait. An end that has passed begins anew from now.
 */
export function createDynamodbAllowances(options: DynamodbOptions): Allowances {
  const { client, table: TableName, clock } = options
  const requests = createDynamodbRequests(options)

  /** Undefined: done. Else where the line ends. */
  async function update(account: string, change: Change): Promise<number | undefined> {
    const { expression, condition, valueUs, limitUs } = change
    const input: UpdateItemCommandInput = {
      TableName,
      Key: itemKey(`allowance#${account}`, '-'),
      UpdateExpression: expression,
      ConditionExpression: condition,
      ExpressionAttributeNames: { '#end': 'end' },
      ExpressionAttributeValues: {
        ':value': { N: String(valueUs) },
        ...Object.fromEntries(Object.entries(limitUs).map(([name, us]) => [`:${name}`, { N: String(us) }])),
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }
    try {
      await client.send(new UpdateItemCommand(input))
      return undefined
    } catch (error) {
      if (isConditionFailure(error)) return Number(error.Item?.['end']?.N ?? 0)
      throw error
    }
  }

  async function takeAt(account: string, rate: Rate, nowMs: number): Promise<number> {
    const nowUs = nowMs * 1_000
    const aheadUs = nowUs + Math.floor((rate.burst - 1) * spacingUsOf(rate))
    const limitUs = { now: nowUs }
    for (;;) {
      const endUs = await update(account, {
        ...addsUp,
        valueUs: spacingUsOf(rate),
        limitUs: { ...limitUs, ahead: aheadUs },
      })
      if (endUs === undefined) return 0
      if (endUs > aheadUs) return Math.ceil((endUs - aheadUs) / 1_000)
      if ((await update(account, { ...beginsAnew, valueUs: nowUs + spacingUsOf(rate), limitUs })) === undefined)
        return 0
    }
  }

  return {
    take: (account, rate) => requests.repeat('count a call of an account', () => takeAt(account, rate, clock.nowMs())),
    close: (account, rate, untilMs) =>
      requests.repeat('close an account', async () => {
        const valueUs = untilMs * 1_000 + Math.floor((rate.burst - 1) * spacingUsOf(rate))
        await update(account, { ...movesOn, valueUs, limitUs: {} })
      }),
  }
}

interface Change {
  readonly expression: string
  readonly condition: string
  readonly valueUs: number
  /** The other values, by name. */
  readonly limitUs: Readonly<Record<string, number>>
}

const addsUp = { expression: 'SET #end = #end + :value', condition: '#end > :now AND #end <= :ahead' }
const beginsAnew = { expression: 'SET #end = :value', condition: 'attribute_not_exists(#end) OR #end <= :now' }
const movesOn = { expression: 'SET #end = :value', condition: 'attribute_not_exists(#end) OR #end < :value' }
