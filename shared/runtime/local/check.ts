import { findDamagedAuthority } from '../../adapters/local/https/local-credentials.ts'
import { listUsers } from '../../adapters/local/https/users-editor.ts'
import { checkDatabase, type Checked } from '../../adapters/local/sqlite/guard/check.ts'
import { isHeldByProcess } from '../../adapters/local/sqlite/guard/read-only.ts'
import { findDamagedTokenKey } from '../../adapters/local/tokens/token-key-file.ts'
import { filesIn, type DataFiles } from './files.ts'

/** What `npm start -- --check` says, and whether all is well. Throws UNAVAILABLE while a process has the directory. */
export function checkDataDirectory(directory: string): CheckSummary {
  const files = filesIn(directory)
  const { file, witnesses, keyFile } = files
  return summarizeCheck([...checkDatabase(file, { witnesses, secrets: { keyFile } }), checkKeys(files)])
}

/** What lets people and programs in. The administrator's token and the certificate of the server are made anew. */
function checkKeys({ authorityFile, tokenKeyFile, usersFile }: DataFiles): Checked {
  const found = [findDamagedAuthority(authorityFile), findDamagedTokenKey(tokenKeyFile), findDamagedUsers(usersFile)]
  return { what: 'keys and users', problems: found.filter((one) => one !== undefined) }
}

function findDamagedUsers(file: string): string | undefined {
  try {
    listUsers(file)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Whether a process has the directory. */
export function isInUse(directory: string): boolean {
  return isHeldByProcess(filesIn(directory).file)
}

export interface CheckSummary {
  /** A line for each thing that was looked at, or for each problem of it. */
  readonly report: string
  readonly isWhole: boolean
}

export function summarizeCheck(checked: readonly Checked[]): CheckSummary {
  return {
    report: checked.flatMap(linesOf).join('\n'),
    isWhole: checked.every(({ problems }) => problems.length === 0),
  }
}

const saidMax = 100

function linesOf({ what, problems }: Checked): readonly string[] {
  if (problems.length === 0) return [`ok       ${what}`]
  const more = problems.length > saidMax ? [`damaged  ${what}: and ${problems.length - saidMax} more`] : []
  return [...problems.slice(0, saidMax).map((problem) => `damaged  ${what}: ${problem}`), ...more]
}
