import middy, { type MiddyfiedHandler } from '@middy/core'
import type { ScheduledEvent } from 'aws-lambda'
import { reconcilers } from '#reconcilers'
import { createSeeing, lambdaBoundary } from '../shared/runtime/aws/boundary.ts'
import { createResync, type TickShare } from '../shared/runtime/aws/resync.ts'
import { recordInvocation } from './middleware/record-invocation.ts'

/** The minute's tick: wakes what is due, and what the resync wheel has come to. One of several ticks says which. */
export function resyncFunction(
  boundary = lambdaBoundary,
  controllers = reconcilers,
): MiddyfiedHandler<Partial<ScheduledEvent> & { readonly share?: TickShare }, void> {
  const seeing = createSeeing(boundary)
  const tick = createResync({ boundary, seeing, controllers })
  return middy<Partial<ScheduledEvent> & { readonly share?: TickShare }, void>()
    .use(recordInvocation(seeing))
    .handler(({ share }) => tick(share))
}

export const handler = resyncFunction()
