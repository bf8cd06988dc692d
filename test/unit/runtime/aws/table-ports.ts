import type { Clock } from '../../../../shared/ports/clock.ts'
import type { TablePorts } from '../../../../shared/runtime/aws/services.ts'
import { createInHand } from '../../../support/in-hand.ts'
import type { OpenSqlite } from '../../../support/sqlite.ts'

/** SQLite in the place of the table. No place is kept, and no limit holds anybody up. */
export function tablePorts(opened: OpenSqlite, clock: Pick<Clock, 'nowMs'>): TablePorts {
  return {
    ...opened,
    reserve: async () => [],
    listNetted: async () => [],
    inHand: createInHand(clock),
    checkpoint: () => ({ load: async () => {}, save: async () => {} }),
  }
}
