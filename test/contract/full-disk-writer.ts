import { OperatingError } from '../../shared/model/errors.ts'
import { openSqlite } from '../support/sqlite.ts'
import { storedWidget, widgetKind, withSpec } from '../support/stored-object.ts'

/**
 * Writes to the file named by its argument until the disk refuses, and says what its writers were told and what it can
 * still read.
 */
const [file = ''] = process.argv.slice(2)
const { store, feed } = openSqlite(file)

let acknowledged = 0
const told = new Set<string>()
while (told.size === 0) {
  const batch = Array.from({ length: 10 }, (_, i) =>
    store.create(withSpec(storedWidget(`w${acknowledged + i}`), { text: 'x'.repeat(20_000) })),
  )
  for (const result of await Promise.allSettled(batch)) {
    if (result.status === 'fulfilled') acknowledged++
    else told.add(result.reason instanceof OperatingError ? result.reason.code : String(result.reason))
  }
}
const listed = (await store.list(widgetKind)).items.length
const end = await feed.latest()
let followed = 0
for await (const { changes, resourceVersion } of feed.follow({ after: '1', signal: new AbortController().signal })) {
  followed += changes.length
  if (resourceVersion === end) break
}
console.log(JSON.stringify({ acknowledged, told: [...told], listed, followed }))
process.kill(process.pid, 'SIGKILL')
