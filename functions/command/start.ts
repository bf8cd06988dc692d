import { parseArgs } from 'node:util'
import { checkDataDirectory } from '../../shared/runtime/local/check.ts'
import { runLocalProcess } from '../../shared/runtime/local/process.ts'
import { dataDirectory } from './data-directory.ts'
import { findEntry, loadReconcilers } from './entry.ts'
import { openReloadedModules } from './reload.ts'

/** `setpoint start [entry] …`: the control plane with a person's reconcilers, until SIGTERM, SIGINT or SIGHUP. */
export async function runStart(args: readonly string[]): Promise<void> {
  const [first] = args
  const isNamed = first !== undefined && !first.startsWith('-')
  const rest = isNamed ? args.slice(1) : args
  const entry = rest.includes('--help') || rest.includes('-h') ? '' : findEntry(isNamed ? first : undefined)
  await runLocalProcess(() => loadReconcilers(entry), { ...program, args: rest })
}

/** What `setpoint dev` runs: a start whose reconcilers are loaded again when their files change. */
export async function runReloading([entry = '', ...args]: readonly string[]): Promise<void> {
  const modules = openReloadedModules(entry)
  await runLocalProcess(() => modules.load(), { ...program, args }, modules.onChange)
}

const program = { name: 'setpoint start [entry]', toTry: [] } as const

/** `setpoint check`: reads everything in a data directory. Ends with 0 if nothing is damaged. */
export async function runCheck(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: dataDirectory })
  const { report, isWhole } = checkDataDirectory(values['data-dir'])
  process.stdout.write(`${report}\n`)
  if (!isWhole) process.exitCode = 1
}
