/**
 * Restores the objects of a control plane to a second of the last 35 days, into a new table beside the old one, and
 * switches to it if that is asked for. It can be run again: it makes nothing that is there.
 */
import type { AnswerAws } from './aws-command.ts'
import { findResources } from './plane-resources.ts'
import { notRestored, restoredParameters, type RestoredTable } from './restored-table.ts'

export interface Restore {
  readonly stack: string
  /** ISO 8601. */
  readonly at: string
  /** The table to restore from. Default: the one that is used. */
  readonly from?: string | undefined
  readonly aws: AnswerAws
  readonly say: (line: string) => void
  /** Between two looks at the new table. */
  readonly pause: () => Promise<unknown>
}

interface Described {
  readonly Table: {
    readonly TableStatus: string
    readonly LatestStreamArn?: string
    readonly GlobalSecondaryIndexes?: readonly { readonly IndexName: string; readonly IndexStatus: string }[]
    readonly StreamSpecification?: { readonly StreamEnabled: boolean }
    readonly DeletionProtectionEnabled?: boolean
  }
}

/** Makes a table that has what a stack gives one. */
export async function restoreTable({ stack, at, from, aws, say, pause }: Restore): Promise<RestoredTable> {
  const used = tableOf(aws, stack)
  const source = from ?? used
  // One name for one restore, so that a repeated command goes on where it was, or finds it used.
  const ending = `-${at.replaceAll(/[^0-9TZ]/g, '')}`
  const target = source.endsWith(ending) ? source : `${source.slice(0, 200)}${ending}`
  const name = `--table-name=${target}`
  const before = findTable(aws, target)
  if (before?.Table.StreamSpecification?.StreamEnabled === true)
    say(target === used ? inUse(target) : usedBefore(target))
  if (before === undefined) {
    say(`${source} as of ${at} becomes ${target}`)
    const tables = [`--source-table-name=${source}`, `--target-table-name=${target}`]
    try {
      aws(['dynamodb', 'restore-table-to-point-in-time', ...tables, `--restore-date-time=${at}`])
    } catch (error) {
      throw explainTime(error, source, at)
    }
  }
  await waitForTable({ aws, say, pause }, target, 'DynamoDB restores it, which takes from minutes to hours')
  // A restored table has none of these.
  const streaming = '--stream-specification=StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES'
  if (findTable(aws, target)?.Table.StreamSpecification?.StreamEnabled !== true)
    aws(['dynamodb', 'update-table', name, streaming])
  await addFeed({ aws, say, pause }, target)
  if (isProtected(aws, source) && !isProtected(aws, target)) {
    aws(['dynamodb', 'update-table', name, '--deletion-protection-enabled'])
    await waitForTable({ aws, say, pause }, target, 'DynamoDB protects it against deletion')
  }
  const lives = aws(['dynamodb', 'describe-time-to-live', name]) as LivesShorter
  if (!(lives.TimeToLiveDescription?.TimeToLiveStatus ?? '').startsWith('ENABL'))
    aws(['dynamodb', 'update-time-to-live', name, '--time-to-live-specification=Enabled=true,AttributeName=expires'])
  await keepBackups({ aws, say, pause }, target)
  const stream = findTable(aws, target)?.Table.LatestStreamArn ?? ''
  if (stream === '') throw new Error(`${target} has no stream yet: repeat the command`)
  return { table: target, stream }
}

function isProtected(aws: AnswerAws, table: string): boolean {
  return findTable(aws, table)?.Table.DeletionProtectionEnabled === true
}

function waitForTable({ aws, say, pause }: Waiting, table: string, how: string): Promise<void> {
  const statusOf = (): string | undefined => findTable(aws, table)?.Table.TableStatus
  return waitUntilActive({ say, pause }, { what: `table ${table}`, how, statusOf })
}

type Waiting = Pick<Restore, 'aws' | 'say' | 'pause'>

interface Made {
  /** What DynamoDB makes. */
  readonly what: string
  readonly how: string
  /** Undefined for what is not there. */
  readonly statusOf: () => string | undefined
}

/** What was asked for may take some looks until it is listed. */
const looksMax = 5

/** Throws where DynamoDB gives up: it goes again, never comes, or is in a state that none is made by. */
async function waitUntilActive(
  { say, pause }: Pick<Restore, 'say' | 'pause'>,
  { what, how, statusOf }: Made,
): Promise<void> {
  let missed = 0
  for (;;) {
    const status = statusOf()
    if (status === 'ACTIVE') return
    missed = status === undefined ? missed + 1 : 0
    if (missed > looksMax) throw new Error(`DynamoDB gave up: there is no ${what}. Repeat the command to try again`)
    if (status !== undefined && !underWay.has(status))
      throw new Error(`the ${what} is ${status}, which does not end by waiting`)
    say(how)
    await pause()
  }
}

const underWay: ReadonlySet<string> = new Set(['CREATING', 'UPDATING'])

/** With pauses of twenty seconds: ten minutes. */
const backupTriesMax = 30

/** Of a table that is new, DynamoDB begins to keep backups by itself, and refuses to be asked until then. */
async function keepBackups({ aws, say, pause }: Waiting, table: string): Promise<void> {
  const recovery = '--point-in-time-recovery-specification=PointInTimeRecoveryEnabled=true'
  for (let tries = 1; ; tries++) {
    try {
      aws(['dynamodb', 'update-continuous-backups', `--table-name=${table}`, recovery])
      return
    } catch (error) {
      if (tries === backupTriesMax || !String(error).includes('ContinuousBackupsUnavailable')) throw error
    }
    say('DynamoDB is about to keep backups of it')
    await pause()
  }
}

/** A restored table has backups from its own making on. */
function explainTime(error: unknown, table: string, at: string): unknown {
  if (!String(error).includes('InvalidRestoreTime')) return error
  const why = `DynamoDB has no backup of ${table} as of ${at}. A restored table has backups from its making on`
  return new Error(`${why}: name the table that was used at that second, --from TABLE`, { cause: error })
}

function inUse(table: string): string {
  return `the control plane uses ${table} already, with what was written to it since. To restore it anew, name the table of before with --from, and the second beside this one`
}

function usedBefore(table: string): string {
  return `${table} was restored before, and has what was written to it since. To restore it anew, delete it first, or name another second`
}

/**
 * An update of the stack, with the template and the parameters that it has, but for those of the table. Later
 * deployments by `cdk deploy` keep them.
 */
export function switchTable(
  { stack, aws, say }: Pick<Restore, 'stack' | 'aws' | 'say'>,
  restored: RestoredTable,
): void {
  const name = `--stack-name=${stack}`
  const { Parameters: all = [], StackStatus: status } = describeStack(aws, stack)
  const waiting = ['cloudformation', 'wait', 'stack-update-complete', name]
  if (all.some(({ ParameterValue }) => ParameterValue === restored.stream)) {
    // It names the table as soon as the update begins.
    if (status === 'UPDATE_IN_PROGRESS') aws(waiting)
    return
  }
  const given = (['table', 'stream'] as const).map((of) => {
    const { ParameterKey: key } = findParameter(all, restoredParameters[of], stack)
    return [key, `ParameterKey=${key},ParameterValue=${restored[of]}`] as const
  })
  const values = new Map(given)
  const parameters = all.map(({ ParameterKey: key }) => values.get(key) ?? `ParameterKey=${key},UsePreviousValue=true`)
  const template = ['--use-previous-template', ...capabilities]
  say(`${stack} switches to ${restored.table}`)
  aws(['cloudformation', 'update-stack', name, ...template, '--parameters', ...parameters])
  aws(waiting)
  for (const line of afterSwitch) say(line)
}

/** Those that CDK deploys with: an app of your own may name roles, and use macros. */
const capabilities = ['--capabilities', 'CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM', 'CAPABILITY_AUTO_EXPAND']

/** What is easily forgotten: what was revoked since that second, what goes on being paid, and what would undo it. */
const afterSwitch = [
  'ServiceAccounts, roles and bindings that were removed since are back, and tokens of such accounts hold until they end: docs/aws.md ends all tokens',
  'the table before stays, so that you can go back to it, and costs its storage and its backups',
  'cdk deploy keeps the switch: a pipeline that deploys otherwise would undo it, unless `restored` of the ControlPlane names the table',
]

interface Parameter {
  readonly ParameterKey: string
  readonly ParameterValue?: string
}

interface DescribedStack {
  readonly Parameters?: readonly Parameter[]
  readonly StackStatus?: string
}

function describeStack(aws: AnswerAws, stack: string): DescribedStack {
  const { Stacks } = aws(['cloudformation', 'describe-stacks', `--stack-name=${stack}`]) as {
    readonly Stacks: readonly DescribedStack[]
  }
  return Stacks[0] ?? {}
}

/** That of the control plane of a stack, whatever its id is. */
function findParameter(all: readonly Parameter[], name: string, stack: string): Parameter {
  const found = all.find(({ ParameterKey }) => ParameterKey.endsWith(name))
  if (found === undefined) throw new Error(`the stack ${stack} has no parameter ${name}: deploy it`)
  return found
}

/** A table as an earlier version had it lacks this index. DynamoDB fills it while the table is there. */
async function addFeed({ aws, say, pause }: Waiting, table: string): Promise<void> {
  const feedOf = () =>
    findTable(aws, table)?.Table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === 'feed')
  // A table takes one update at a time.
  await waitForTable({ aws, say, pause }, table, 'DynamoDB updates it')
  if (feedOf() === undefined)
    aws([
      'dynamodb',
      'update-table',
      `--table-name=${table}`,
      `--attribute-definitions=${JSON.stringify(feedKeys)}`,
      `--global-secondary-index-updates=${JSON.stringify([{ Create: feedIndex }])}`,
    ])
  const made = { what: `index feed of ${table}`, how: 'DynamoDB fills the index feed' }
  await waitUntilActive({ say, pause }, { ...made, statusOf: () => feedOf()?.IndexStatus })
  await waitForTable({ aws, say, pause }, table, 'DynamoDB updates it')
}

/** As the table of a stack has them. */
const feedKeys = [
  { AttributeName: 'feed', AttributeType: 'S' },
  { AttributeName: 'rv', AttributeType: 'N' },
]
const feedIndex = {
  IndexName: 'feed',
  KeySchema: [
    { AttributeName: 'feed', KeyType: 'HASH' },
    { AttributeName: 'rv', KeyType: 'RANGE' },
  ],
  Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['net'] },
}

interface LivesShorter {
  readonly TimeToLiveDescription?: { readonly TimeToLiveStatus?: string }
}

/** The table that a stack uses: a restored one, if its parameter names one, or its own. */
function tableOf(aws: AnswerAws, stack: string): string {
  const { Parameters: all = [] } = describeStack(aws, stack)
  const { ParameterValue: restored } = findParameter(all, restoredParameters.table, stack)
  if (restored !== undefined && restored !== notRestored) return restored
  return findResources({ aws, stack })('table', 'AWS::DynamoDB::Table')
}

function findTable(aws: AnswerAws, name: string): Described | undefined {
  const { TableNames } = aws(['dynamodb', 'list-tables']) as { readonly TableNames: readonly string[] }
  return TableNames.includes(name)
    ? (aws(['dynamodb', 'describe-table', `--table-name=${name}`]) as Described)
    : undefined
}
