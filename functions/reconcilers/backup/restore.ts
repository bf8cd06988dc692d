#!/usr/bin/env node

import { basename, dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { PostgresFailure } from '../postgres/failure.ts'
import type { Endpoint } from '../postgres/sql/connection.ts'
import { archiveAt } from './archive/location.ts'
import { restoreDump } from './dump/restore.ts'
import { ScriptError } from './dump/script.ts'

/**
 * `npm run restore -- DUMP [--to URL]`, or `npx setpoint-restore-dump` where the package is installed: restores a dump,
 * a file or `s3://bucket/key`, into an empty database, all of it or nothing. The database is named by its URL, or by
 * DATABASE_URL, which no list of processes shows. Exits with 1 and one line on stderr if it did not; `--help` prints
 * the usage.
 */
// The package has it compiled.
const called = import.meta.url.endsWith('.ts') ? 'npm run restore --' : 'setpoint-restore-dump'
const usage = `usage: ${called} DUMP [--to postgresql://user:password@host:port/database]
DUMP is a file or s3://bucket/key; without --to the database is that of DATABASE_URL`

interface CommandLine {
  readonly dump: string
  readonly database: Endpoint
}

async function restore({ dump, database: endpoint }: CommandLine): Promise<void> {
  const over = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.once(signal, () => over.abort(new ScriptError(`stopped by ${signal}: nothing was restored`)))
  const open = () => contentOf(dump, over.signal)
  const { database, takenAt, leftOut, tool, restoredBy } = await restoreDump(open, { endpoint, signal: over.signal })
  const how = tool === undefined ? '' : `, from a dump of ${tool.program} ${tool.version}, by ${restoredBy}`
  console.log(`restored ${database} as it was at ${takenAt}${how}`)
  for (const what of leftOut) console.log(`not in the dump: ${what}`)
}

/** What keeps it from being read (no such file, no right, no region of S3) is for who asked to mend. */
async function* contentOf(dump: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const [, location = dirname(dump), name = basename(dump)] = /^(s3:\/\/[^/]+)\/(.+)$/.exec(dump) ?? []
  try {
    yield* await archiveAt(location).read(name, signal)
  } catch (cause) {
    signal.throwIfAborted()
    throw new ScriptError(`cannot read ${dump}: ${(cause as Error).message}`, { cause })
  }
}

/** `undefined` if it asks for the usage. Throws a TypeError for what it should not say. */
function commandLine(): CommandLine | undefined {
  const options = {
    to: { type: 'string', default: process.env['DATABASE_URL'] ?? '' },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help) return undefined
  const [dump = '', ...more] = positionals
  if (dump === '' || more.length > 0) throw new TypeError(`one dump must be named\n${usage}`)
  if (values.to === '') throw new TypeError(`no database is named\n${usage}`)
  return { dump, database: endpointOf(values.to) }
}

/** No message repeats the URL: it may hold a password. */
function endpointOf(text: string): Endpoint {
  const url = URL.parse(text)
  const database = url?.pathname.slice(1) ?? ''
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || database === '')
    throw new TypeError(`the URL of the database is not a PostgreSQL URL, or names no database\n${usage}`)
  return {
    // An address of IPv6 stands in brackets in a URL, and nowhere else.
    host: url.hostname.replaceAll(/[[\]]/g, ''),
    port: Number(url.port || 5432),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(database),
  }
}

try {
  const asked = commandLine()
  if (asked === undefined) console.log(usage)
  else await restore(asked)
} catch (error) {
  const isExpected = [ScriptError, PostgresFailure, TypeError, URIError].some((sort) => error instanceof sort)
  if (!isExpected || !(error instanceof Error)) throw error
  const [what = ''] = error.message.split('. To specify')
  console.error(`restore: ${what}`)
  process.exitCode = 1
}
