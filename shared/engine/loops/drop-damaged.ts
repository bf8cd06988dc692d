import { hasCode } from '../../model/errors.ts'
import type { Logger } from '../../ports/logger.ts'
import type { TurnRunner } from '../state/turn.ts'

/**
 * The runner, whose turn is over where what is stored of the object is damaged: whoever puts it back or takes it away
 * writes it, and that wakes it. Till then each resync looks once. A turn that came again and again would hold up what a
 * restart takes up from.
 */
export function dropDamaged(run: TurnRunner, logger: Logger): TurnRunner {
  return async (turn, signal) => {
    try {
      await run(turn, signal)
    } catch (error) {
      if (!hasCode(error, 'DAMAGED')) throw error
      const { kind, namespace, name } = turn.key
      logger.error('turn dropped: its object is damaged', { kind, namespace, name, error: error.message })
      await turn.settle()
    }
  }
}
