import { listCommands } from '../../../functions/command/commands.ts'
import * as backup from '../../../functions/reconcilers/backup/kinds.ts'
import * as konnect from '../../../functions/reconcilers/konnect/kinds.ts'
import * as postgres from '../../../functions/reconcilers/postgres/kinds.ts'
import { computedKinds } from '../../../shared/api/computed/computed-kinds.ts'
import { metrics } from '../../../shared/model/metrics.ts'
import type { StructuralSchema } from '../../../shared/model/schema/structural-schema.ts'
import type { Kind } from '../../../shared/reconciler/kind.ts'
import { conditionsByKind, postgresFailures } from './conditions.ts'
import { publicNamesOf } from './public-names.ts'

/** The pages that are written from the code, by their files. */
export function referencePages(): Readonly<Record<string, string>> {
  return {
    'docs/generated/functions.md': functionsPage(),
    'docs/generated/kinds.md': kindsPage(),
    'docs/generated/commands.md': commandsPage(),
    'docs/generated/metrics.md': metricsPage(),
  }
}

const written = '`npm run reference` writes this page from the code; a test compares it.'

const entries = {
  setpoint: 'shared/index.ts',
  'setpoint/testing': 'shared/testing/test-env.ts',
  'setpoint/local': 'shared/runtime/local/control-plane.ts',
} as const

function functionsPage(): string {
  const parts = Object.entries(entries).map(([entry, path]) => {
    const names = publicNamesOf(path).toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
    const sections = names.map(
      ({ name, comment, declaration }) =>
        `### ${name}\n\n${comment === '' ? '' : `${comment}\n\n`}\`\`\`typescript\n${declaration}\n\`\`\`\n`,
    )
    return `## ${entry}\n\n${sections.join('\n')}`
  })
  return `# Public functions and types\n\n${written}\n\n${parts.join('\n')}`
}

function kindsPage(): string {
  const kinds = [backup, konnect, postgres].flatMap((module) => Object.values(module).filter(isKind)).toSorted(byKind)
  const sections = kinds.map(({ group, version, kind, definition }) => {
    const { schema, additionalPrinterColumns: columns = [] } = definition?.spec.versions[0] ?? {}
    const { description = '', properties = {} } = schema?.openAPIV3Schema ?? {}
    const rows = Object.entries(properties).flatMap(([name, field]) => fieldRows(name, field, false))
    const shown = columns.map(({ name, jsonPath }) => `${name} (\`${jsonPath}\`)`).join(', ')
    return `## ${kind}

\`${group}/${version}\`. ${description}

| field | type | what it is |
| --- | --- | --- |
${rows.join('\n')}

Columns of \`kubectl get\`: ${shown}.

${conditionsOf(kind)}`
  })
  const own = computedKinds.map(
    ({ group, version, kind, namespaced, schema: { description = '', properties = {} } }) => `### ${kind}

\`${group}/${version}\`, ${namespaced ? 'in namespaces' : 'without namespaces'}. ${description}

| field | type | what it is |
| --- | --- | --- |
${fieldRows('status', properties['status'] ?? {}, false).join('\n')}
`,
  )
  const failures = Object.entries(postgresFailures)
    .map(([next, reasons]) => `- **${next}**: ${wordsOf(reasons)}.\n`)
    .join('')
  return `# Kinds that come with it

${written} Every status also has the fields and conditions that [the engine writes](../reference.md#what-the-engine-writes).

${sections.join('\n')}
## Failures of PostgreSQL

The reasons of Ready that PostgresCluster, PostgresDatabase and Job share.

${failures}
## What a control plane tells of its own work

These kinds can be read and listed, and neither written nor watched: nothing of them is stored. The [reference](../reference.md#queues-timers-and-budgets) says more.

${own.join('\n')}`
}

/** The table of a kind's conditions, and what Ready says besides. */
function conditionsOf(kind: string): string {
  const found = conditionsByKind[kind]
  if (found === undefined) throw new Error(`test/docs/reference/conditions.ts has nothing of ${kind}`)
  const rows = Object.entries(found.conditions).map(
    ([type, { what, reasons }]) => `| \`${type}\` | ${what} | ${wordsOf(reasons)} |`,
  )
  return `| condition | what it says | reasons |
| --- | --- | --- |
${rows.join('\n')}

Ready has also the reasons ${wordsOf(found.ready)}.
`
}

function wordsOf(reasons: readonly string[]): string {
  return reasons.map((reason) => `\`${reason}\``).join(', ')
}

function isKind(value: unknown): value is Kind {
  return typeof value === 'object' && value !== null && 'definition' in value
}

function byKind(a: Kind, b: Kind): number {
  return a.kind.localeCompare(b.kind, 'en')
}

/** What the engine writes into every status is told once. */
const engineFields = new Set([
  'status.conditions',
  'status.observedGeneration',
  'status.reconcile',
  'status.lastHandledReconcileAt',
])

function fieldRows(path: string, schema: StructuralSchema, isRequired: boolean): readonly string[] {
  if (engineFields.has(path)) return []
  const { properties = {}, items, additionalProperties, required = [] } = schema
  const below = [
    ...Object.entries(properties).flatMap(([name, field]) =>
      fieldRows(`${path}.${name}`, field, required.includes(name)),
    ),
    ...(items?.properties === undefined ? [] : rowsBelow(`${path}[]`, items)),
    ...(typeof additionalProperties === 'object' && additionalProperties.properties !== undefined
      ? rowsBelow(`${path}.*`, additionalProperties)
      : []),
  ]
  return [`| \`${path}\` | ${typeOf(schema)} | ${tell(schema, isRequired)} |`, ...below]
}

function rowsBelow(path: string, { properties = {}, required = [] }: StructuralSchema): readonly string[] {
  return Object.entries(properties).flatMap(([name, field]) =>
    fieldRows(`${path}.${name}`, field, required.includes(name)),
  )
}

function typeOf({ type, items, enum: words, format }: StructuralSchema): string {
  if (words !== undefined) return words.map((word) => `\`${String(word)}\``).join(' or ')
  if (type === 'array') return `list of ${items?.type ?? 'anything'}`
  return format === undefined || format === 'int64' ? (type ?? 'anything') : `${type}, ${format}`
}

function tell(
  { description = '', default: given, minimum, maximum, maxLength }: StructuralSchema,
  isRequired: boolean,
): string {
  const facts = [
    description.replaceAll('|', '\\|'),
    isRequired ? 'Required.' : '',
    given === undefined || typeof given === 'object' ? '' : `Default \`${JSON.stringify(given)}\`.`,
    minimum === undefined ? '' : `At least ${minimum}.`,
    maximum === undefined ? '' : `At most ${maximum}.`,
    maxLength === undefined ? '' : `At most ${maxLength} characters.`,
  ]
  return facts.filter((fact) => fact !== '').join(' ')
}

function commandsPage(): string {
  const rows = listCommands().map(({ name, usage, summary }) => {
    const words = `setpoint ${name} ${usage}`.trim().replaceAll('|', '\\|')
    return `| \`${words}\` | ${summary} |`
  })
  return `# Commands

${written} Each is also \`kubectl setpoint …\`. [The reference](../reference.md) says more of some.

| command | what it does |
| --- | --- |
${rows.join('\n')}
`
}

function metricsPage(): string {
  const rows = Object.values(metrics).map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  return `# Metrics

${written} [The reference](../reference.md#metrics) says how they are read.

| metric | type | labels | what it counts |
| --- | --- | --- | --- |
${rows.join('\n')}
`
}
