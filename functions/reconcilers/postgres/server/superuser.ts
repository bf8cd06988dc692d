import { PostgresFailure } from '../failure.ts'
import { scramVerifier } from '../scram.ts'
import { identifier } from '../sql/connection.ts'
import { runCommand } from './command.ts'
import { accountOf, requireHome, type Server } from './home.ts'
import type { Superuser } from './initialise.ts'
import { clearStaleLock } from './postmaster.ts'

/**
 * Makes the superuser one that logs in by this password, without knowing the old one: the way back when the Secret was
 * lost, and when somebody took its login away, let it expire, or renamed it. It opens the data directory in single-user
 * mode, so the server must be stopped; refuses with `ServerRunning` when it is not.
 */
export async function restoreSuperuser(server: Server, superuser: Superuser, signal: AbortSignal): Promise<void> {
  const home = await requireHome(server)
  await clearStaleLock(home, signal)
  const { user, password } = superuser
  const role = identifier(user)
  const make = `DO $$ BEGIN CREATE ROLE ${role}; EXCEPTION WHEN duplicate_object THEN NULL; END $$`
  const rights = `SUPERUSER LOGIN VALID UNTIL 'infinity' PASSWORD '${await scramVerifier(password)}'`
  const input = `${make}\nALTER ROLE ${role} ${rights}\n`
  const args = ['--single', '-D', home.data, '-c', `config_file=${home.config}`, 'postgres']
  const account = await accountOf(server, home)
  const { code, stderr } = await runCommand(server.host.binaries.postgres, args, { account, signal, input })
  const complaint = /(?:ERROR|FATAL|PANIC): *(.*)/.exec(stderr)?.[1]
  if (code === 0 && complaint === undefined) return
  const reason = /postmaster\.pid/.test(stderr) ? 'ServerRunning' : 'PasswordResetFailed'
  throw new PostgresFailure(
    'retryable',
    reason,
    `cannot let "${user}" in by its password: ${complaint ?? `exit code ${code}`}`,
  )
}
