import middy, { type MiddyfiedHandler } from '@middy/core'
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { reconcilers } from '#reconcilers'
import { openAwsTraces } from '#tracing'
import { createAnswering, type Answer } from '../shared/runtime/aws/api.ts'
import { createSeeing, lambdaBoundary } from '../shared/runtime/aws/boundary.ts'
import { recordInvocation } from './middleware/record-invocation.ts'

/** Answers kubectl, behind a REST API that streams. */
export function apiFunction(
  boundary = lambdaBoundary,
  controllers = reconcilers,
  open = openAwsTraces,
  ask = fetch,
): MiddyfiedHandler<APIGatewayProxyEvent, Answer> {
  const seeing = createSeeing(boundary, open)
  const answer = createAnswering({ boundary, seeing, controllers }, ask)
  return middy<APIGatewayProxyEvent, Answer>({ executionMode: executionModeStreamifyResponse })
    .use(recordInvocation(seeing))
    .handler((event, context) => answer(event, context.getRemainingTimeInMillis()))
}

export const handler = apiFunction()
