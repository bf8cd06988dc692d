import { parseArgs } from 'node:util'
import { askHealth } from '../../shared/runtime/local/health.ts'
import { dataDirectory } from './data-directory.ts'

/** `setpoint health`: ends with 0 if the control plane of a data directory takes writes. */
export async function runHealth(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: dataDirectory })
  process.stdout.write(`${await askHealth(values['data-dir'])}\n`)
}
