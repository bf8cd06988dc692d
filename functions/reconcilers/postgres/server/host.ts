import { homedir } from 'node:os'
import { join } from 'node:path'
import { chooseAccount } from './account.ts'
import { type Binaries, findBinaries, findInstallation } from './binaries.ts'
import type { Account } from './command.ts'
import { claimRefuge } from './refuge.ts'

/** What this machine runs PostgreSQL with; found once per process. */
export interface ServerHost {
  readonly account: Account | undefined
  readonly binaries: Binaries
  /** As in the options. */
  readonly refuge: string | undefined
}

/** What the person who runs the control plane may decide; all of it has a default. */
export interface HostOptions {
  /** The account to use when we are root; SETPOINT_POSTGRES_USER. */
  readonly user?: string | undefined
  /** Where root keeps what the account cannot reach elsewhere; see `claimRefuge`. */
  readonly refuge?: string | undefined
}

/**
 * Finds the account and binaries that run. Fails terminally, with the reason in words, where PostgreSQL cannot run.
 * May be run again after a failure: nothing is remembered.
 */
export async function prepareHost({ user, refuge }: HostOptions, signal: AbortSignal): Promise<ServerHost> {
  const account = await chooseAccount(user, signal)
  const installation = await findInstallation()
  const cache = async () =>
    account === undefined
      ? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'setpoint')
      : join(await claimRefuge(account, refuge, signal), 'binaries')
  const binaries = await findBinaries({ installation, account, cache }, signal)
  return { account, binaries, refuge }
}
