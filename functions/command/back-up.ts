import { parseArgs } from 'node:util'
import { OperatingError } from '../../shared/index.ts'
import { backUp } from '../../shared/runtime/local/backup.ts'
import { summarizeCheck } from '../../shared/runtime/local/check.ts'
import { restore } from '../../shared/runtime/local/restore.ts'
import { dataDirectory } from './data-directory.ts'

/** `setpoint backup FILE`: the database of a data directory, whether a control plane runs on it or not. */
export async function runBackup(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: dataDirectory })
  const file = expectFile(positionals, 'setpoint backup FILE')
  const { checked, resourceVersion } = await backUp(values['data-dir'], file)
  const { report, isWhole } = summarizeCheck(checked)
  const has = isWhole ? 'has everything up to' : 'has what can be read, up to'
  process.stdout.write(`${report}
${file} ${has} resourceVersion ${resourceVersion}, but no key: keep ${values['data-dir']}/secrets.key apart from it
`)
  if (!isWhole) process.exitCode = 1
}

/** `setpoint restore FILE`: a data directory from a backup. */
export function runRestore(args: readonly string[]): void {
  const options = {
    ...dataDirectory,
    keys: { type: 'string' },
    'as-copy': { type: 'boolean', default: false },
    'accept-loss': { type: 'boolean', default: false },
  } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  const backup = expectFile(positionals, 'setpoint restore FILE')
  const directory = values['data-dir']
  const { report, isWhole } = restore({
    backup,
    directory,
    keys: values.keys,
    asCopy: values['as-copy'],
    acceptLoss: values['accept-loss'],
  })
  process.stdout.write(`${report}\n`)
  if (!isWhole) throw new OperatingError('UNAVAILABLE', `${backup} is damaged: nothing was restored`)
  const start = `setpoint start${directory === dataDirectory['data-dir'].default ? '' : ` --data-dir ${directory}`}`
  const held = values['as-copy'] ? `; nothing is reconciled in it until ${start} --resume` : ''
  process.stdout.write(`${directory} is ready to start: ${start}${held}\n`)
}

function expectFile([file, ...more]: readonly string[], usage: string): string {
  if (file === undefined || file === '' || more.length > 0) throw new OperatingError('BAD_REQUEST', `type ${usage}`)
  return file
}
