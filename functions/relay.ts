import middy, { type MiddyfiedHandler } from '@middy/core'
import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda'
import { reconcilers } from '#reconcilers'
import { createSeeing, lambdaBoundary } from '../shared/runtime/aws/boundary.ts'
import { createRelayFunction } from '../shared/runtime/aws/relay.ts'
import { recordInvocation } from './middleware/record-invocation.ts'

/**
 * Wakes the keys that a batch of the table's stream concerns, and tells the event bus what became ready and what
 * failed.
 */
export function relayFunction(
  boundary = lambdaBoundary,
  controllers = reconcilers,
): MiddyfiedHandler<DynamoDBStreamEvent, DynamoDBBatchResponse> {
  const seeing = createSeeing(boundary)
  const relay = createRelayFunction({ boundary, seeing, controllers })
  return middy<DynamoDBStreamEvent, DynamoDBBatchResponse>()
    .use(recordInvocation(seeing))
    .handler((event, context) => relay(event, context.getRemainingTimeInMillis()))
}

export const handler = relayFunction()
