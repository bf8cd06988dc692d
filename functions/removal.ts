import middy, { type MiddyfiedHandler } from '@middy/core'
import type { CloudFormationCustomResourceEvent } from 'aws-lambda'
import { createSeeing, lambdaBoundary } from '../shared/runtime/aws/boundary.ts'
import { createRemoval } from '../shared/runtime/aws/removal.ts'
import { recordInvocation } from './middleware/record-invocation.ts'

/** Tells CloudFormation whether controllers may go. */
export function removalFunction(
  boundary = lambdaBoundary,
  put = fetch,
): MiddyfiedHandler<CloudFormationCustomResourceEvent, void> {
  const answer = createRemoval(boundary, put)
  return middy<CloudFormationCustomResourceEvent, void>()
    .use(recordInvocation(createSeeing(boundary)))
    .handler((event) => answer(event))
}

export const handler = removalFunction()
