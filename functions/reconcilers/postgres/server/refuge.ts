import { chmod, lstat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresFailure } from '../failure.ts'
import { canReach } from './account.ts'
import type { Account } from './command.ts'
import { isSystemError, makeDirectory } from './files.ts'

/**
 * A directory for what the account cannot reach where it lies: `wanted`, or the first of three system directories that
 * is, or can be made, root's own and open to the account. Only root ever needs one, so only root makes one.
 */
export async function claimRefuge(account: Account, wanted: string | undefined, signal: AbortSignal): Promise<string> {
  const candidates =
    wanted === undefined ? ['/var/lib/setpoint', '/var/tmp/setpoint', join(tmpdir(), 'setpoint')] : [wanted]
  for (const candidate of candidates) {
    if ((await claim(candidate)) && (await canReach(candidate, account, signal))) return candidate
  }
  const message = `no directory that account ${account.name} can reach and only root can write, tried ${candidates.join(', ')}`
  throw new PostgresFailure('terminal', 'DirectoryUnusable', message)
}

// Programs run from here, so it must be root's own: in a directory for everybody, such as /var/tmp, somebody else may
// have made one of this name and wait for us to run what lies in it.
async function claim(directory: string): Promise<boolean> {
  try {
    await makeDirectory(directory)
    const { mode, uid } = await lstat(directory).then((stats) =>
      stats.isDirectory() ? stats : { mode: 0o777, uid: -1 },
    )
    if (uid !== 0 || (mode & 0o022) !== 0) return false
    await chmod(directory, 0o755)
    return true
  } catch (error) {
    if (isSystemError(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT')) return false
    throw error
  }
}
