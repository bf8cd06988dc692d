import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'

/** PostgreSQL servers as somebody with a shell on the machine sees and mistreats them. */

/** The process of a cluster's server, by its lock file; `undefined` if none runs. */
export function serverPid(dataDirectory: string, cluster: string): number | undefined {
  try {
    const text = readFileSync(join(dataDirectory, 'postgres', cluster, 'data', 'postmaster.pid'), 'utf8')
    const pid = Number.parseInt(text, 10)
    return isAlive(pid) ? pid : undefined
  } catch {
    return undefined
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Ends every server below a data directory: they outlive the control plane, and a failed test. */
export async function endServers(dataDirectory: string): Promise<void> {
  for (const cluster of clustersIn(dataDirectory)) {
    const pid = serverPid(dataDirectory, cluster)
    if (pid === undefined) continue
    process.kill(pid, 'SIGQUIT')
    while (isAlive(pid)) await sleep(20)
  }
}

function clustersIn(dataDirectory: string): readonly string[] {
  try {
    return readdirSync(join(dataDirectory, 'postgres'))
  } catch {
    return []
  }
}

/**
 * Runs one statement; the first column of its rows. Every call logs in anew. A statement that loses against one of the
 * control plane has done nothing, and is run again as a person would.
 */
export async function query(url: string, statement: string): Promise<readonly unknown[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await queryOnce(url, statement)
    } catch (error) {
      if (tries === triesMax || (error as Error).message !== lost) throw error
      await sleep(100)
    }
  }
}

/** What PostgreSQL says where two statements alter the same role or database; `XX000`, which says too little. */
const lost = 'tuple concurrently updated'
const triesMax = 50

async function queryOnce(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new Client({ connectionString: url, ssl: false, connectionTimeoutMillis: 5_000 })
  // A server that ends tells open connections so; the statement fails then, which is what callers hear of.
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement)
    return rows.map((row) => Object.values(row)[0])
  } finally {
    await client.end()
  }
}
