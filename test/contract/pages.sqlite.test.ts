import { openSqlite } from '../support/sqlite.ts'
import { pagesContract } from './pages.contract.ts'

pagesContract('SQLite', async () => openSqlite(':memory:'), true)
