import { checkDatabase, type Checked } from '../../adapters/local/sqlite/guard/check.ts'
import { filesIn } from './files.ts'

/** What `npm start -- --check` says, and whether all is well. Throws UNAVAILABLE while a process has the directory. */
export function checkDataDirectory(directory: string): { readonly report: string; readonly isWhole: boolean } {
  const { file, witnesses, keyFile } = filesIn(directory)
  const checked = checkDatabase(file, { witnesses, secrets: { keyFile } })
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
