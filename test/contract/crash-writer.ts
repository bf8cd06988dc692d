import { writeSync } from 'node:fs'
import { systemClock } from '../../shared/adapters/node/system-clock.ts'
import { openGuardedPorts } from '../../shared/runtime/local/ports.ts'
import { openSqlite } from '../support/sqlite.ts'
import { storedWidget, versionOf, withSpec } from '../support/stored-object.ts'

/**
 * Writes to the file named by its argument until it is killed, and says each write that was acknowledged: `name
 * version`. With a third argument, with a mark beside the file.
 */
const [file = '', round = '', guard] = process.argv.slice(2)
const { store } = guard === undefined ? openSqlite(file) : openGuardedPorts(file, systemClock, { markMs: 5 })

async function write(writer: number): Promise<never> {
  const name = `r${round}-w${writer}`
  let live = await store.create(storedWidget(name))
  for (let size = 0; ; size++) {
    writeSync(1, `${name} ${versionOf(live)}\n`)
    live = await store.replace(withSpec(live, { size, text: 'x'.repeat((size * 37) % 3_000) }), ['spec'])
  }
}

await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)))
