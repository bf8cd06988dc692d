import { checkDatabase, type Checked } from '../../adapters/local/sqlite/guard/check.ts'
import { lookInto } from '../../adapters/local/sqlite/guard/guarded-database.ts'
import { filesIn } from './files.ts'

/** What `npm start -- --check` says, and whether all is well. Throws UNAVAILABLE while a process has the directory. */
export function checkDataDirectory(directory: string): CheckSummary {
  const { file, witnesses, keyFile } = filesIn(directory)
  return summarizeCheck(checkDatabase(file, { witnesses, secrets: { keyFile } }))
}

/** Whether a process has the directory. */
export function isInUse(directory: string): boolean {
  return lookInto(filesIn(directory).file) === 'in use'
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
