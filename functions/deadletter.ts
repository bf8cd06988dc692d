import middy, { type MiddyfiedHandler } from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { reconcilers } from '#reconcilers'
import { createSeeing, lambdaBoundary } from '../shared/runtime/aws/boundary.ts'
import { createDeadLetter } from '../shared/runtime/aws/dead-letters.ts'
import { recordInvocation } from './middleware/record-invocation.ts'

/** Takes in what the work queues gave up: the objects say so, and are tried again much later. */
export function deadLetterFunction(
  boundary = lambdaBoundary,
  controllers = reconcilers,
): MiddyfiedHandler<SQSEvent, SQSBatchResponse> {
  const seeing = createSeeing(boundary)
  const takeIn = createDeadLetter({ boundary, seeing, controllers })
  return middy<SQSEvent, SQSBatchResponse>()
    .use(recordInvocation(seeing))
    .handler((event) => takeIn(event))
}

export const handler = deadLetterFunction()
