import { runLocalProcess } from '../../shared/runtime/local/process.ts'
import { findEntry, loadReconcilers } from './entry.ts'

/** `setpoint start [entry] …`: the control plane with a person's reconcilers, until SIGTERM, SIGINT or SIGHUP. */
export async function runStart(args: readonly string[]): Promise<void> {
  const [first] = args
  const isNamed = first !== undefined && !first.startsWith('-')
  const rest = isNamed ? args.slice(1) : args
  const entry = rest.includes('--help') || rest.includes('-h') ? '' : findEntry(isNamed ? first : undefined)
  await runLocalProcess(() => loadReconcilers(entry), { name: 'setpoint start [entry]', args: rest, toTry: [] })
}

/** `setpoint check …`: what `--check` of the start does. No reconciler is loaded. */
export async function runCheck(args: readonly string[]): Promise<void> {
  const program = { name: 'setpoint check', args: [...args, '--check'], toTry: [] }
  await runLocalProcess(() => [], program)
}
