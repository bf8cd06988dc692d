import { basename, dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { PostgresFailure } from '../postgres/failure.ts'
import type { Endpoint } from '../postgres/sql/connection.ts'
import { archiveAt } from './archive/location.ts'
import { restoreDump } from './dump/restore.ts'
import { ScriptError } from './dump/script.ts'

/**
 * `npm run restore -- DUMP [--to URL]`: restores a dump, a file or `s3://bucket/key`, into an empty database, all of it or
 * nothing. The database is named by its URL, or by DATABASE_URL, which no list of processes shows. Exits with 1 and one line
 * on stderr if it did not.
 */
async function restore(): Promise<void> {
  const { dump, url } = commandLine()
  const [, location = dirname(dump), name = basename(dump)] = /^(s3:\/\/[^/]+)\/(.+)$/.exec(dump) ?? []
  const over = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.once(signal, () => over.abort(new ScriptError(`stopped by ${signal}: nothing was restored`)))
  const content = await archiveAt(location).read(name, over.signal)
  const { database, takenAt, leftOut } = await restoreDump(content, endpointOf(url), over.signal)
  console.log(`restored ${database} as it was at ${takenAt}`)
  for (const what of leftOut) console.log(`not in the dump: ${what}`)
}

function commandLine(): { readonly dump: string; readonly url: string } {
  const options = { to: { type: 'string', default: process.env['DATABASE_URL'] ?? '' } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [dump, ...more] = positionals
  if (dump !== undefined && more.length === 0 && values.to !== '') return { dump, url: values.to }
  throw new TypeError(`usage: npm run restore -- DUMP --to postgresql://user:password@host:port/database`)
}

function endpointOf(text: string): Endpoint {
  const url = new URL(text)
  return {
    host: url.hostname,
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
  }
}

try {
  await restore()
} catch (error) {
  const isExpected = error instanceof ScriptError || error instanceof PostgresFailure || error instanceof TypeError
  if (!isExpected && (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  console.error(`restore: ${(error as Error).message}`)
  process.exitCode = 1
}
