import type middy from '@middy/core'
import type { Seeing } from '../../shared/runtime/aws-boundary.ts'

/** Writes down the numbers of an invocation at its end, and why it failed if it did; the failure goes on to Lambda. */
export function telling<Event, Result>({ logger, telemetry }: Seeing): middy.MiddlewareObj<Event, Result> {
  return {
    after: () => telemetry.flush(),
    onError: ({ error }) => {
      logger.error('invocation failed', { error: error?.stack ?? String(error) })
      telemetry.flush()
    },
  }
}
