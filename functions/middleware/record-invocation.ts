import type middy from '@middy/core'
import type { Seeing } from '../../shared/runtime/aws/boundary.ts'

/**
 * Writes down the numbers of an invocation at its end, and why it failed if it did; the failure goes on to Lambda. One
 * that is the caller's, as `refusal` says by giving the reason, is no error of ours.
 */
export function recordInvocation<Event, Result>(
  { logger, telemetry, traces }: Seeing,
  refusal?: (error: unknown) => string | undefined,
): middy.MiddlewareObj<Event, Result> {
  const end = (): Promise<void> | undefined => {
    telemetry.flush()
    return traces?.flush().catch((error: unknown) => logger.warn('spans are lost', { error: String(error) }))
  }
  return {
    after: end,
    onError: async ({ error }) => {
      const reason = refusal?.(error)
      if (reason === undefined) logger.error('invocation failed', { error: error?.stack ?? String(error) })
      else logger.info('refused', { reason })
      await end()
    },
  }
}
