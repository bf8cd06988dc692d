import { PostgresFailure } from '../failure.ts'
import { scramVerifier } from '../scram.ts'
import { runCommand } from './command.ts'
import { accountOf, requireHome, type Server } from './home.ts'
import type { Superuser } from './initialise.ts'
import { clearStaleLock } from './postmaster.ts'

/**
 * Gives the superuser this password without knowing the old one: the way back when the Secret was lost. It opens the
 * data directory in single-user mode, so the server must be stopped; refuses with `ServerRunning` when it is not.
 */
export async function resetPassword(server: Server, superuser: Superuser, signal: AbortSignal): Promise<void> {
  const home = await requireHome(server)
  await clearStaleLock(home, signal)
  const { user, password } = superuser
  const input = `ALTER ROLE "${user.replaceAll('"', '""')}" PASSWORD '${await scramVerifier(password)}'\n`
  const args = ['--single', '-D', home.data, '-c', `config_file=${home.config}`, 'postgres']
  const account = await accountOf(server, home)
  const { code, stderr } = await runCommand(server.host.binaries.postgres, args, { account, signal, input })
  const complaint = /(?:ERROR|FATAL|PANIC): *(.*)/.exec(stderr)?.[1]
  if (code === 0 && complaint === undefined) return
  const reason = /postmaster\.pid/.test(stderr) ? 'ServerRunning' : 'PasswordResetFailed'
  throw new PostgresFailure(
    'retryable',
    reason,
    `cannot reset the password of "${user}": ${complaint ?? `exit code ${code}`}`,
  )
}
