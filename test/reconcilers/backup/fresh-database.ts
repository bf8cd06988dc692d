import { Client } from 'pg'
import { expect } from 'vitest'
import { withDump } from '../../../functions/reconcilers/backup/dump/dump.ts'
import type { Endpoint } from '../../../functions/reconcilers/postgres/sql/connection.ts'

/** Databases of a running server, for one test each. */

export async function connected<T>(endpoint: Endpoint, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...endpoint, ssl: false })
  client.on('error', () => {})
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

let databases = 0

/** A fresh database with a role that owns it, and is nobody special. */
export async function freshDatabase(admin: Endpoint, setUp = ''): Promise<Endpoint> {
  const name = `d${++databases}`
  await connected(admin, async (client) => {
    await client.query(`CREATE ROLE ${name} LOGIN PASSWORD 'hunter22'`)
    await client.query(`CREATE DATABASE ${name} OWNER ${name}`)
  })
  const endpoint = { ...admin, user: name, password: 'hunter22', database: name }
  if (setUp !== '') await connected(endpoint, (client) => client.query(setUp))
  return endpoint
}

/** The rows of a query, each a list of its columns. */
export const rows = (endpoint: Endpoint, query: string): Promise<readonly unknown[]> =>
  connected(endpoint, async (client) => (await client.query({ text: query, rowMode: 'array' })).rows)

/** A dump of a database with many rows ends at once when its time is over, and leaves no session behind. */
export async function expectCutOff(from: Endpoint, admin: Endpoint): Promise<void> {
  const over = new AbortController()
  const reason = new Error('time is over')
  const running = withDump({ endpoint: from, takenMs: 0, signal: over.signal }, async ({ content }) => {
    for await (const _ of content) over.abort(reason)
  })
  await expect(running).rejects.toBe(reason)
  await expect
    .poll(() => rows(admin, `SELECT count(*)::int FROM pg_stat_activity WHERE datname = '${from.database}'`))
    .toEqual([[0]])
}
