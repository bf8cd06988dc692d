import middy, { type MiddyfiedHandler } from '@middy/core'
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda'
import { reconcilers } from '#reconcilers'
import { openAwsTraces } from '#tracing'
import { openAwsVault } from '#vault'
import { createSeeing, lambdaBoundary } from '../shared/runtime/aws/boundary.ts'
import { createReconcile } from '../shared/runtime/aws/reconcile.ts'
import { logUnhandledRejections } from '../shared/runtime/local/rejections.ts'
import { recordInvocation } from './middleware/record-invocation.ts'

/** Runs the keys that a batch of a work queue names. */
export function reconcileFunction(
  boundary = lambdaBoundary,
  controllers = reconcilers,
  { open = openAwsTraces, openVault = openAwsVault } = {},
): MiddyfiedHandler<SQSEvent, SQSBatchResponse> {
  const seeing = createSeeing(boundary, open)
  const reconcile = createReconcile({ boundary, seeing, controllers, openVault })
  return middy<SQSEvent, SQSBatchResponse>()
    .use(recordInvocation(seeing))
    .handler((event, context) => reconcile(event, context.getRemainingTimeInMillis()))
}

logUnhandledRejections(createSeeing(lambdaBoundary).logger)
export const handler = reconcileFunction()
