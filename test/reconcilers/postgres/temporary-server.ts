import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configure } from '../../../functions/reconcilers/postgres/server/configure.ts'
import { destroy } from '../../../functions/reconcilers/postgres/server/destroy.ts'
import type { Server } from '../../../functions/reconcilers/postgres/server/home.ts'
import { type ServerHost, prepareHost } from '../../../functions/reconcilers/postgres/server/host.ts'
import { initialise } from '../../../functions/reconcilers/postgres/server/initialise.ts'
import { start } from '../../../functions/reconcilers/postgres/server/lifecycle.ts'
import type { Settings } from '../../../functions/reconcilers/postgres/server/settings.ts'
import type { Endpoint } from '../../../functions/reconcilers/postgres/sql/connection.ts'

/** Whether this run is root's, which lends the server an account. */
export const asRoot = process.getuid?.() === 0

export const superuser = { user: 'postgres', password: 'correct horse battery staple' }

/** Long enough for a stage on a busy machine, short enough to name the stage that hangs. */
export function deadline(): AbortSignal {
  return AbortSignal.timeout(100_000)
}

/**
 * A directory for one test, reachable for the server's account, and gone with everything that runs in it afterwards.
 */
export interface Workbench extends AsyncDisposable {
  readonly directory: string
  readonly host: ServerHost
  /** A server of this name, of which nothing exists yet; stopped and removed with the workbench. */
  server(name: string): Server
}

export async function openWorkbench(): Promise<Workbench> {
  const directory = await mkdtemp(join(tmpdir(), 'setpoint-postgres-'))
  await chmod(directory, 0o755)
  const host = await prepareHost({ refuge: asRoot ? join(directory, 'refuge') : undefined }, deadline())
  const servers: Server[] = []
  return {
    directory,
    host,
    server(name) {
      const server = { host, directory: join(directory, name) }
      servers.push(server)
      return server
    },
    async [Symbol.asyncDispose]() {
      try {
        await Promise.all(servers.map((server) => destroy(server, deadline())))
      } finally {
        await rm(directory, { recursive: true, force: true, maxRetries: 10 })
      }
    },
  }
}

/** Runs every stage and answers how to log in as superuser. */
export async function bringUp(server: Server, settings: Settings = {}): Promise<Endpoint> {
  await initialise(server, superuser, deadline())
  await configure(server, { settings }, deadline())
  const { port } = await start(server, deadline())
  return { host: '127.0.0.1', port, database: 'postgres', ...superuser }
}
