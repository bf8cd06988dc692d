import { openSqlite } from '../support/sqlite.ts'
import { quotasContract } from './quotas.contract.ts'

quotasContract('SQLite', async () => openSqlite(':memory:'))
