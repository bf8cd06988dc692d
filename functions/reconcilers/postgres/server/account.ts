import { PostgresFailure } from '../failure.ts'
import { type Account, runCommand } from './command.ts'

/**
 * The account PostgreSQL runs as. The server refuses to run as root, so root lends it an unprivileged account:
 * SETPOINT_POSTGRES_USER, else `postgres` where there is one, else `nobody`. Anybody else runs it as themselves.
 */
export async function chooseAccount(wanted: string | undefined, signal: AbortSignal): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const candidates = wanted === undefined ? ['postgres', 'nobody'] : [wanted]
  for (const name of candidates) {
    const account = await findAccount(name, signal)
    if (account !== undefined) return account
  }
  throw unusable(
    `PostgreSQL cannot run as root, and there is no other account named ${candidates.join(' or ')}: name one in SETPOINT_POSTGRES_USER`,
  )
}

async function findAccount(name: string, signal: AbortSignal): Promise<Account | undefined> {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name)) throw unusable(`"${name}" is not the name of an account`)
  const [uid, gid] = await Promise.all([idOf('-u', name, signal), idOf('-g', name, signal)])
  return uid === undefined || gid === undefined || uid === 0 ? undefined : { name, uid, gid }
}

async function idOf(option: '-u' | '-g', name: string, signal: AbortSignal): Promise<number | undefined> {
  const { code, stdout } = await runCommand('id', [option, name], { signal })
  return code === 0 ? Number(stdout) : undefined
}

/**
 * Whether the account can enter the directory. Tried out rather than computed, since modes alone do not say what
 * access lists and mounts allow.
 */
export async function canReach(directory: string, account: Account | undefined, signal: AbortSignal): Promise<boolean> {
  if (account === undefined) return true
  const { code } = await runCommand('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], { account, signal })
  return code === 0
}

function unusable(message: string): PostgresFailure {
  return new PostgresFailure('terminal', 'AccountUnusable', message)
}
