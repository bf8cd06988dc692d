import { createHash } from 'node:crypto'
import { chmod, readlink, realpath, stat, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PostgresFailure } from '../failure.ts'
import { canReach } from './account.ts'
import type { Account } from './command.ts'
import { exists, isSystemError, makeDirectory, makeOpenDirectory, readIfPresent, unlessAbsent } from './files.ts'
import { claimRefuge } from './refuge.ts'
import type { ServerHost } from './host.ts'

/**
 * One server on this machine, as its user names it: everything it has lies in `directory`, which is its own. The
 * directory is a symbolic link to a place in the refuge where the server's account cannot reach the wanted one.
 */
export interface Server {
  readonly host: ServerHost
  readonly directory: string
}

/**
 * The files of a server. Only `data` belongs to the account the server runs as; the rest is ours, so that a superuser
 * of the database cannot change how it is started, nor lead us to write elsewhere through a link.
 */
export interface Home {
  readonly path: string
  readonly data: string
  readonly config: string
  readonly access: string
  /** What the running server has read: `config` and `access` as they were at its start or last reload. */
  readonly applied: string
  /** The `config` with which the server last came up, or which it took by a reload. */
  readonly proven: string
  /** A `config` with which it did not come up since, below a line that says why. */
  readonly refused: string
  readonly log: string
}

/** The home as it is, or `undefined` when there is none yet. */
export async function findHome(server: Server): Promise<Home | undefined> {
  const path = await unlessAbsent(realpath(server.directory))
  return path === undefined ? undefined : homeAt(path)
}

/** The home, for stages that come after `initialise`. */
export async function requireHome(server: Server): Promise<Home> {
  const home = await findHome(server)
  if (home !== undefined && (await exists(home.data))) return home
  throw new PostgresFailure('retryable', 'NotInitialised', 'the server has no data directory')
}

/** Makes the home where there is none. Where it is was decided when it was first made, and stays so. */
export async function makeHome(server: Server, signal: AbortSignal): Promise<Home> {
  if (!(await exists(server.directory))) await place(server, signal)
  const path = (await linkTarget(server.directory)) ?? server.directory
  await makeDirectory(path)
  await chmod(path, server.host.account === undefined ? 0o700 : 0o755)
  return homeAt(await realpath(path))
}

async function place({ host, directory }: Server, signal: AbortSignal): Promise<void> {
  await makeDirectory(dirname(directory))
  if (host.account === undefined || (await canReach(dirname(directory), host.account, signal))) return
  const digest = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  const shelters = join(await claimRefuge(host.account, host.refuge, signal), 'servers')
  await makeOpenDirectory(shelters)
  await symlink(join(shelters, `${basename(directory)}-${digest}`), directory)
}

/**
 * The account a server runs as: where root lends one, the owner of its data directory, so that a server made under
 * one account stays with it when another would be chosen today.
 */
export async function accountOf({ host }: Server, home: Home): Promise<Account | undefined> {
  if (host.account === undefined) return undefined
  const { uid, gid } = await stat(home.data)
  return { ...host.account, uid, gid }
}

/** Where a symbolic link leads, or `undefined` for a directory or nothing. */
export async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path)
  } catch (error) {
    if (isSystemError(error, 'EINVAL', 'ENOENT')) return undefined
    throw error
  }
}

/** The major version of the data in a server's directory, if there is any. */
export async function findDataVersion(directory: string): Promise<string | undefined> {
  return (await readIfPresent(join(directory, 'data', 'PG_VERSION')))?.trim()
}

/** No server is started on data of another major version, nor stopped for what only a start would bring. */
export async function requireVersion({ host }: Server, home: Home): Promise<void> {
  const version = await findDataVersion(home.path)
  if (version === host.binaries.version) return
  const programs = `the programs ${host.binaries.name} are of ${host.binaries.version}`
  const message = `the data directory is of PostgreSQL ${version ?? 'no version'}, ${programs}`
  throw new PostgresFailure('terminal', 'VersionMismatch', message)
}

function homeAt(path: string): Home {
  return {
    path,
    data: join(path, 'data'),
    config: join(path, 'postgresql.conf'),
    access: join(path, 'pg_hba.conf'),
    applied: join(path, 'applied.conf'),
    proven: join(path, 'proven.conf'),
    refused: join(path, 'refused.conf'),
    log: join(path, 'server.log'),
  }
}
