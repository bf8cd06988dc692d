import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { createStoredAccess } from '../../shared/resources/stored-access.ts'
import { openSqlite } from '../support/sqlite.ts'
import { accessContract } from './access.contract.ts'

accessContract('SQLite, one process', async () => {
  const { store } = openSqlite(':memory:')
  const access = createStoredAccess({ store, clock: systemClock, maxAgeMs: Infinity })
  return [{ access, store: access.follow(store) }]
})
