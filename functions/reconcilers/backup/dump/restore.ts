import { createGunzip } from 'node:zlib'
import { pipeline } from 'node:stream/promises'
import type { Endpoint } from '../../postgres/sql/connection.ts'
import { userObjects } from './objects.ts'
import { readScript, ScriptError, type DumpHeader, type ScriptPart } from './script.ts'
import { withSession, type Session } from './session.ts'

/**
 * Restores a dump into a database that has nothing of its own yet, all of it or nothing: one transaction, which ends
 * well only if the dump is whole and its digest is right. Throws a ScriptError for a dump that is not, and for a
 * database that is not empty.
 */
export async function restoreDump(
  content: AsyncIterable<Uint8Array>,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<DumpHeader> {
  const script = readScript(decompress(content))
  const header = await script.header()
  await withSession({ endpoint, purpose: 'restore', signal }, async (session) => {
    await session.query('BEGIN')
    await expectEmpty(session, endpoint.database)
    for await (const part of script.parts()) await run(part, session)
    await session.query('COMMIT')
  })
  return header
}

async function run(part: ScriptPart, session: Session): Promise<void> {
  if ('statement' in part) await session.query(part.statement)
  else await session.copyIn(part.copy, part.data)
}

async function expectEmpty(session: Session, database: string): Promise<void> {
  const found = await session.query<{ qname: string }>(
    `WITH ${userObjects} SELECT qname FROM relations WHERE relkind IN ('r', 'p', 'v', 'm', 'S', 'f') LIMIT 3`,
  )
  if (found.length === 0) return
  throw new ScriptError(`database "${database}" is not empty: it has ${found.map(({ qname }) => qname).join(', ')}`)
}

async function* decompress(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
  void pipeline(content, gunzip).catch(() => {})
  try {
    yield* gunzip as AsyncIterable<Uint8Array>
  } catch (cause) {
    if (
      cause instanceof Error &&
      /^Z_|unexpected end of file/.test(`${(cause as NodeJS.ErrnoException).code} ${cause.message}`)
    )
      throw new ScriptError(`the dump is damaged: ${cause.message}`, { cause })
    throw cause
  }
}
