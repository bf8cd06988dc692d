import { openSqlite, openSqliteFile } from '../support/sqlite.ts'
import { objectStoreContract } from './object-store.contract.ts'

objectStoreContract('SQLite in memory', () => openSqlite(':memory:'))
objectStoreContract('SQLite in a file', () => openSqliteFile())
