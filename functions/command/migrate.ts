import { parseArgs } from 'node:util'
import { OperatingError, type Kind } from '../../shared/index.ts'
import { kindsBroughtBy, reportFit, reportSchemaChange } from '../../shared/runtime/local/schema-changes.ts'
import type { AskKubectl } from './ask-kubectl.ts'
import { migrateStored } from './migrate-stored.ts'
import { findEntry, loadReconcilers } from './entry.ts'
import { forTerminal } from './terminal-text.ts'

/**
 * `setpoint migrate [definition …]`: has the objects of kinds stored in their present versions, while the control plane
 * runs. `setpoint migrate --dry-run [entry]`: what the schemas of these reconcilers would mean for the objects of a
 * control plane that runs. Ends with 1 if some object would not fit, or could not be converted.
 */
export async function runMigrate(args: readonly string[], ask: AskKubectl): Promise<void> {
  const options = { 'dry-run': { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
  if (!values['dry-run']) return migrateStored(positionals, ask)
  if (positionals.length > 1) throw new OperatingError('BAD_REQUEST', 'type setpoint migrate --dry-run [entry]')
  const controllers = await loadReconcilers(findEntry(positionals[0]))
  const reports = await Promise.all(kindsBroughtBy(controllers).map((kind) => tellKind(kind, ask)))
  process.stdout.write(forTerminal(reports.map(({ text }) => text).join('\n')))
  if (reports.some(({ invalid }) => invalid > 0)) process.exitCode = 1
}

interface Told {
  readonly text: string
  readonly invalid: number
}

async function tellKind(kind: Kind, ask: AskKubectl): Promise<Told> {
  const name = kind.definition?.metadata.name
  if (name === undefined) return { text: `${kind.kind}: defined elsewhere\n`, invalid: 0 }
  const stored = await ask(['get', 'customresourcedefinition', name, '--ignore-not-found', '-o', 'json'])
  if (stored.trim() === '') return { text: `${name}: new\n`, invalid: 0 }
  const { items } = JSON.parse(await ask(['get', name, '--all-namespaces', '-o', 'json']))
  const report = await reportSchemaChange(kind, JSON.parse(stored), [items])
  const { changes, objects, invalid, examples, advice } = report ?? { changes: [], ...(await reportFit(kind, [items])) }
  const said = `${name}: ${report === undefined ? 'unchanged' : 'changed'}, ${countOf(objects)}`
  if (report === undefined && invalid === 0) return { text: `${said}\n`, invalid }
  const more = invalid > examples.length ? [`  and ${invalid - examples.length} more`] : []
  const lines = [
    `${said}, of which ${invalid} ${report !== undefined ? 'would' : invalid === 1 ? 'does' : 'do'} not fit`,
    ...changes.map(({ path, says }) => `  ${path} ${says}`),
    ...examples.map((example) => `  ${example}`),
    ...more,
    `  ${advice}`,
  ]
  return { text: `${lines.join('\n')}\n`, invalid }
}

function countOf(objects: number): string {
  return objects === 1 ? '1 object' : `${objects} objects`
}
