import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { openSqliteDatabase } from '../../../../../shared/adapters/local/sqlite/sqlite-database.ts'
import { temporaryDirectory } from '../../../../support/temporary-directory.ts'

it('copies a database although each commit takes so long that the copying begins within one', async () => {
  using directory = temporaryDirectory('copy')
  const database = openSqliteDatabase(join(directory.path, 'source.db'))
  const note = database.prepare('UPDATE horizon SET rv = ?')
  let copying: Promise<void> | undefined
  // The thread that copies looks at the file at once, and finds the transaction open for as long as the write takes.
  for (let rv = 1; rv <= 3; rv++)
    await database.write(() => {
      note.run(rv)
      copying ??= database.copyTo(join(directory.path, 'copy.db'))
      spin(50)
    })
  await copying
  database.close()

  using copy = new DatabaseSync(join(directory.path, 'copy.db'), { readOnly: true })
  expect(copy.prepare('SELECT rv FROM horizon').get()?.['rv']).toBeOneOf([1, 2, 3])
})

it('copies for its owner only, whatever the account lets others read', async () => {
  using directory = temporaryDirectory('copy')
  const copy = join(directory.path, 'copy.db')
  const database = openSqliteDatabase(join(directory.path, 'source.db'))
  await database.copyTo(copy)
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  database.close()
})

function spin(ms: number): void {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs);
}
