import { UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb'
import { moveEndUs, slotTimesMs, spacingUsOf, type Rate } from '../../../model/reservations.ts'
import type { Reserve } from '../../../ports/reservations.ts'
import { isConditionFailure } from './dynamodb-failures.ts'
import { itemKey } from './dynamodb-keys.ts'
import { createDynamodbRequests, type DynamodbOptions } from './dynamodb-requests.ts'

interface Step {
  readonly line: string
  readonly count: number
  readonly rate: Rate
  readonly nowMs: number
}

/**
 * Lines of reservations in the table, an item each, which holds nothing but where the line ends. One write makes any
 * number of them: it adds to an end that is ahead, which never conflicts, or begins anew from now, on condition that
 * the end has passed. Which of the two is guessed by what this process saw last; a wrong guess costs a second write. A
 * write that gets no answer is made again, and what the first one reserved is lost. An item takes a thousand writes a
 * second.
 */
export function createDynamodbReservations(options: DynamodbOptions): Reserve {
  const { client, table, clock } = options
  const requests = createDynamodbRequests(options)
  const seenUs = new Map<string, number>()

  /** Ends only grow, and the time stays that of the first try: what has not passed then is ahead for good. */
  async function endAfter(step: Step, isAhead: boolean): Promise<number> {
    try {
      const { Attributes } = await client.send(new UpdateItemCommand(update(table, step, isAhead)))
      return Number(Attributes?.['end']?.N)
    } catch (error) {
      if (isConditionFailure(error)) return endAfter(step, !isAhead)
      throw error
    }
  }

  return (line, count, rate) =>
    requests.repeat(`reserve for ${line}`, async () => {
      const step = { line, count, rate, nowMs: clock.nowMs() }
      const endUs = await endAfter(step, (seenUs.get(line) ?? 0) > step.nowMs * 1_000)
      seenUs.set(line, endUs)
      return slotTimesMs(endUs, count, rate, step.nowMs)
    })
}

function update(TableName: string, { line, count, rate, nowMs }: Step, isAhead: boolean): UpdateItemCommandInput {
  const value = isAhead ? count * spacingUsOf(rate) : moveEndUs(0, count, rate, nowMs)
  return {
    TableName,
    Key: itemKey(`reservations#${line}`, '-'),
    UpdateExpression: isAhead ? 'SET #end = #end + :value' : 'SET #end = :value',
    ConditionExpression: isAhead ? '#end > :now' : 'attribute_not_exists(#end) OR #end <= :now',
    ExpressionAttributeNames: { '#end': 'end' },
    ExpressionAttributeValues: { ':value': { N: String(value) }, ':now': { N: String(nowMs * 1_000) } },
    ReturnValues: 'UPDATED_NEW',
  }
}
