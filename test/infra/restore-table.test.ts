import { describe, expect, it } from 'vitest'
import { tableDefinition } from '../../shared/adapters/aws/dynamodb/dynamodb-table.ts'
import { Template } from 'aws-cdk-lib/assertions'
import { restoreTable, switchTable } from '../../infra/restore-table.ts'
import { deployed, resourcesOf } from './synthesized.ts'

/** Of the stack, with other tables beside the one of objects. */
const resources = [
  resourceOf('OrdersTable01234567', 'AWS::DynamoDB::Table'),
  ...['AWS::DynamoDB::Table', 'Custom::SetpointControllers'].flatMap((type) =>
    Object.keys(resourcesOf(deployed().template(), type)).map((id) => resourceOf(id, type)),
  ),
]

function resourceOf(LogicalResourceId: string, ResourceType: string) {
  const isOfObjects = LogicalResourceId.startsWith('ControlPlaneTable')
  return { LogicalResourceId, ResourceType, PhysicalResourceId: isOfObjects ? 'Setpoint-dev-Table' : 'another' }
}

/** What DynamoDB makes of the commands: a restored table has neither stream, nor time to live, nor backups. */
class FakeAws {
  readonly asked: string[] = []
  /** Of the stack. */
  parameters = ['BootstrapVersion', ...own].map((ParameterKey) => ({ ParameterKey, ParameterValue: 'none' }))
  resources = resources.map((one) => ({ ...one }))
  /** So often DynamoDB cannot keep backups of the table yet. */
  unavailable = 0
  /** Whether the restored table is one of a version that had no index `feed`. */
  isEarlier = false
  status = 'UPDATE_COMPLETE'
  /** Whether the table that is restored was made later. */
  isYounger = false
  /** Whether DynamoDB refuses to delete the table of the stack. */
  isProtected = false
  table:
    | {
        feed?: string
        status: string
        stream?: string
        isShortLived?: boolean
        isBackedUp?: boolean
        isProtected?: boolean
        looks: number
      }
    | undefined

  readonly answer = (args: readonly string[]): unknown => {
    const [, verb = ''] = args
    this.asked.push(args.slice(1).join(' '))
    if (verb === 'describe-stacks') return { Stacks: [{ Parameters: this.parameters, StackStatus: this.status }] }
    if (verb === 'list-stack-resources') return { StackResourceSummaries: this.resources }
    if (verb === 'update-stack' || verb === 'wait') return {}
    if (verb === 'list-tables') return { TableNames: ['Setpoint-dev-Table', ...(this.table ? [target] : [])] }
    if (verb === 'restore-table-to-point-in-time') {
      if (this.isYounger) throw new Error('An error occurred (InvalidRestoreTimeException) when calling')
      this.table = this.restored()
    }
    const { table } = this
    if (table === undefined) throw new Error(`nothing to ${verb}`)
    if (verb === 'describe-table' && args.includes('--table-name=Setpoint-dev-Table'))
      return { Table: { TableStatus: 'ACTIVE', DeletionProtectionEnabled: this.isProtected } }
    if (verb === 'describe-table') {
      if (++table.looks > 2) table.status = 'ACTIVE'
      const { status, stream } = table
      const streaming = stream && { LatestStreamArn: stream, StreamSpecification: { StreamEnabled: true } }
      const GlobalSecondaryIndexes = table.feed && [{ IndexName: 'feed', IndexStatus: table.feed }]
      if (table.feed !== undefined) table.feed = 'ACTIVE'
      const DeletionProtectionEnabled = table.isProtected === true
      return { Table: { TableStatus: status, GlobalSecondaryIndexes, DeletionProtectionEnabled, ...streaming } }
    }
    if (verb === 'update-table' && table.status !== 'ACTIVE') throw new Error('ResourceInUseException')
    if (verb === 'update-table') Object.assign(table, { status: 'UPDATING', looks: 0 })
    if (args.some((arg) => arg.startsWith('--global-secondary-index-updates'))) table.feed = 'CREATING'
    else if (args.includes('--deletion-protection-enabled')) table.isProtected = true
    else if (verb === 'update-table') table.stream = 'arn:aws:dynamodb:eu-west-1:123456789012:table/t/stream/now'
    if (verb === 'update-time-to-live') table.isShortLived = true
    if (verb === 'describe-time-to-live')
      return { TimeToLiveDescription: { TimeToLiveStatus: table.isShortLived === true ? 'ENABLED' : 'DISABLED' } }
    if (verb === 'update-continuous-backups' && this.unavailable-- > 0)
      throw new Error(
        'An error occurred (ContinuousBackupsUnavailableException): Backups are being enabled for the table',
      )
    if (verb === 'update-continuous-backups') table.isBackedUp = true
    return {}
  }

  restored() {
    return { status: 'CREATING', looks: 0, ...(!this.isEarlier && { feed: 'ACTIVE' }) }
  }
}

const own = ['ControlPlaneRestoredTable', 'ControlPlaneRestoredTableStream']
const target = 'Setpoint-dev-Table-20261123T040000Z'
const stream = 'arn:aws:dynamodb:eu-west-1:123456789012:table/t/stream/now'
const restore = (aws: FakeAws, said: string[] = [], from?: string): ReturnType<typeof restoreTable> =>
  restoreTable({
    stack: 'Setpoint-dev',
    at: '2026-11-23T04:00:00Z',
    from,
    aws: aws.answer,
    say: (line) => void said.push(line),
    pause: async () => {},
  })

describe('the command that restores', () => {
  it('makes a table that has what a stack gives one', async () => {
    const aws = new FakeAws()
    expect(await restore(aws)).toEqual({ table: target, stream })
    expect(aws.table).toMatchObject({ status: 'ACTIVE', isShortLived: true, isBackedUp: true })
    expect(aws.asked).toContain(
      `restore-table-to-point-in-time --source-table-name=Setpoint-dev-Table --target-table-name=${target} --restore-date-time=2026-11-23T04:00:00Z`,
    )
  })

  it('says which table to name where the one that is used is younger, and takes the one that is named', async () => {
    const aws = new FakeAws()
    aws.isYounger = true
    await expect(restore(aws)).rejects.toThrow(
      /^DynamoDB has no backup of Setpoint-dev-Table as of 2026-11-23T04:00:00Z. .*: name the table .*, --from TABLE$/,
    )
    aws.isYounger = false
    await restore(aws, [], 'Other').catch(() => 'there is no such table')
    expect(aws.asked.join()).toContain('--source-table-name=Other --target-table-name=Other-20261123T040000Z')
  })

  it('protects it against deletion where the table before was', async () => {
    const [usual, aws] = [new FakeAws(), new FakeAws()]
    aws.isProtected = true
    await restore(aws)
    await restore(usual)
    expect([aws.table, usual.table]).toMatchObject([{ status: 'ACTIVE', isProtected: true }, { status: 'ACTIVE' }])
    expect(usual.table?.isProtected).toBeUndefined()
    aws.asked.length = 0
    await restore(aws)
    expect(aws.asked.filter((line) => line.startsWith('update-table'))).toEqual([])
  })

  it('finds the table of an app of your own, which tells no more than what every control plane has', async () => {
    const aws = new FakeAws()
    aws.parameters = own.map((name) => ({
      ParameterKey: name.replace('ControlPlane', 'Plane'),
      ParameterValue: 'none',
    }))
    for (const one of aws.resources)
      one.LogicalResourceId = one.LogicalResourceId.replace(/^ControlPlane/, 'OuterPlane')
    expect(await restore(aws)).toEqual({ table: target, stream })
  })

  it('waits until DynamoDB keeps backups of a table that is new, but not for ever', async () => {
    const aws = new FakeAws()
    aws.unavailable = 3
    await restore(aws)
    expect(aws.table?.isBackedUp).toBe(true)
    const never = new FakeAws()
    never.unavailable = Infinity
    await expect(restore(never)).rejects.toThrow('ContinuousBackupsUnavailableException')
  })

  it('is of no use for a stack without a control plane', async () => {
    const aws = new FakeAws()
    aws.parameters = []
    await expect(restore(aws)).rejects.toThrow('the stack Setpoint-dev has no parameter RestoredTable: deploy it')
  })

  it('adds the index that a table of an earlier version lacks, as a stack has it', async () => {
    const aws = new FakeAws()
    aws.isEarlier = true
    await restore(aws)
    expect(aws.table?.feed).toBe('ACTIVE')
    const given = (name: string): unknown =>
      JSON.parse(new RegExp(`--${name}=(\\S+)`).exec(aws.asked.join('\n'))?.[1] ?? '')
    const feed = tableDefinition.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === 'feed')
    expect(given('global-secondary-index-updates')).toEqual([{ Create: feed }])
    // As JSON, too: of a list in one argument, the command line takes no other form.
    const keys = tableDefinition.AttributeDefinitions?.filter(
      ({ AttributeName: key }) => key === 'feed' || key === 'rv',
    )
    expect(given('attribute-definitions')).toEqual(keys)
  })

  it('can be repeated, and restores nothing twice, but says that the table may have been written to', async () => {
    const aws = new FakeAws()
    const said: string[] = []
    const first = await restore(aws, said)
    expect(said.join('\n')).not.toContain('was restored before')
    aws.asked.length = 0
    expect(await restore(aws, said)).toEqual(first)
    expect(said.at(-1)).toContain(`${target} was restored before, and has what was written to it since`)
    expect(aws.asked.filter((line) => /^(restore|update-table|update-time)/.test(line))).toEqual([])
  })
})

describe('a restore that DynamoDB gives up', () => {
  it.each([
    ['the table goes again', (aws: FakeAws) => void (aws.table = undefined), /gave up: there is no table/],
    [
      'the table cannot be read',
      (aws: FakeAws) => void (aws.table = { status: 'INACCESSIBLE_ENCRYPTION_CREDENTIALS', looks: -9 }),
      /is INACCESSIBLE_ENCRYPTION_CREDENTIALS, which does not end by waiting/,
    ],
  ])('ends the command: %s', async (_what, happen, message) => {
    const aws = new FakeAws()
    const paused = restoreTable({
      stack: 'Setpoint-dev',
      at: '2026-11-23T04:00:00Z',
      aws: aws.answer,
      say: () => {},
      pause: async () => happen(aws),
    })
    await expect(paused).rejects.toThrow(message)
  })
})

describe('the switch to a restored table', () => {
  const turn = (aws: FakeAws): void =>
    switchTable({ stack: 'Setpoint-dev', aws: aws.answer, say: () => {} }, { table: target, stream })

  it('is an update of the stack as it is, but for what names the table', () => {
    const aws = new FakeAws()
    turn(aws)
    expect(aws.asked.slice(-2)).toEqual([
      [
        'update-stack --stack-name=Setpoint-dev --use-previous-template',
        // Those of CDK: without them CloudFormation refuses a stack that names a role, or uses a macro.
        '--capabilities CAPABILITY_IAM CAPABILITY_NAMED_IAM CAPABILITY_AUTO_EXPAND --parameters',
        'ParameterKey=BootstrapVersion,UsePreviousValue=true',
        `ParameterKey=ControlPlaneRestoredTable,ParameterValue=${target}`,
        `ParameterKey=ControlPlaneRestoredTableStream,ParameterValue=${stream}`,
      ].join(' '),
      'wait stack-update-complete --stack-name=Setpoint-dev',
    ])
  })

  it('says what comes back with the objects, and what stays', () => {
    const said: string[] = []
    const options = { stack: 'Setpoint-dev', aws: new FakeAws().answer, say: (line: string) => void said.push(line) }
    switchTable(options, { table: target, stream })
    expect(said).toEqual([
      `Setpoint-dev switches to ${target}`,
      expect.stringMatching(/^ServiceAccounts, roles and bindings that were removed since are back/),
      expect.stringMatching(/^the table before stays/),
      expect.stringMatching(/^cdk deploy keeps the switch/),
    ])
  })

  it('is not repeated', async () => {
    const aws = new FakeAws()
    await restore(aws)
    aws.parameters = [target, stream].map((ParameterValue, i) => ({ ParameterKey: own[i] ?? '', ParameterValue }))
    turn(aws)
    expect(await restore(aws)).toEqual({ table: target, stream })
    expect(aws.asked.filter((line) => line.startsWith('update-stack') || line.startsWith('restore'))).toHaveLength(1)
  })

  it('is waited for by a command that is repeated before it is over', () => {
    const aws = new FakeAws()
    aws.parameters = [target, stream].map((ParameterValue, i) => ({ ParameterKey: own[i] ?? '', ParameterValue }))
    turn(aws)
    expect(aws.asked).not.toContain('wait stack-update-complete --stack-name=Setpoint-dev')
    aws.status = 'UPDATE_IN_PROGRESS'
    turn(aws)
    expect(aws.asked.at(-1)).toBe('wait stack-update-complete --stack-name=Setpoint-dev')
  })

  it('is refused by a stack that knows nothing of it', () => {
    const aws = new FakeAws()
    aws.parameters = []
    expect(() => turn(aws)).toThrow('the stack Setpoint-dev has no parameter RestoredTable: deploy it')
  })
})

describe('a stack, as CloudFormation makes it of its parameters', () => {
  const template = Template.fromStack(deployed().stack).toJSON() as Synthesized

  it('has those that the command sets, which name nothing at first, and one condition', () => {
    const { Parameters, Conditions } = template
    expect(own.map((name) => Parameters[name]?.Default)).toEqual(['none', 'arn:aws:dynamodb:::none'])
    expect(Object.values(Conditions)).toEqual([{ 'Fn::Not': [{ 'Fn::Equals': [{ Ref: own[0] }, 'none'] }] }])
  })

  it('may be told the table by the app, for a pipeline that gives no parameters and takes what they are by default', () => {
    const restored = { table: target, stream }
    const { Parameters } = Template.fromStack(deployed({ restored }).stack).toJSON() as Synthesized
    expect(own.map((name) => Parameters[name]?.Default)).toEqual([target, stream])
  })

  /** Names in it of the table, its indexes and its stream. */
  const named = (isRestored: boolean): readonly string[] => {
    const values = new Map([
      ['ControlPlaneRestoredTable', 'restored-table'],
      ['ControlPlaneRestoredTableStream', 'restored-table-stream'],
      ['ControlPlaneTable1210433C', 'own-table'],
      ['ControlPlaneTable1210433C.StreamArn', 'own-table-stream'],
    ])
    const { ControlPlaneTable1210433C: table, ...others } = template.Resources
    expect(table?.Type).toBe('AWS::DynamoDB::Table')
    return textsIn(chosen(others, isRestored, values)).filter((text) => /(?:own|restored)-table/.test(text))
  }

  it.each([
    { isRestored: false, name: 'own-table' },
    { isRestored: true, name: 'restored-table' },
  ])('whose functions, mapping, policies, alarm and dashboards all have $name', (row) => {
    const found = named(row.isRestored)
    // Functions, their policies for the table and its indexes, the mapping, the alarm, the dashboard.
    expect(found.length).toBeGreaterThan(25)
    expect(found.filter((text) => !text.includes(row.name))).toEqual([])
    expect(found.filter((text) => text === `${row.name}-stream`).length).toBeGreaterThanOrEqual(2)
    expect(found.filter((text) => text.endsWith(`:table/${row.name}/index/due`)).length).toBeGreaterThan(0)
  })
})

interface Synthesized {
  readonly Parameters: Readonly<Record<string, { readonly Default?: string }>>
  readonly Conditions: Readonly<Record<string, unknown>>
  readonly Resources: Readonly<Record<string, { readonly Type: string }>>
}

/** As CloudFormation resolves its functions, as far as they name one of these. */
function chosen(value: unknown, isRestored: boolean, values: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => chosen(one, isRestored, values))
  if (typeof value !== 'object' || value === null) return value
  const {
    Ref: ref,
    'Fn::If': choice,
    'Fn::GetAtt': attribute,
    'Fn::Join': joined,
  } = value as {
    readonly Ref?: string
    readonly 'Fn::If'?: readonly unknown[]
    readonly 'Fn::GetAtt'?: readonly string[]
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]]
  }
  if (choice !== undefined) return chosen(choice[isRestored ? 1 : 2], isRestored, values)
  if (ref !== undefined) return values.get(ref) ?? ''
  if (attribute !== undefined) return values.get(attribute.join('.')) ?? ''
  if (joined !== undefined) return joined[1].map((part) => String(chosen(part, isRestored, values))).join(joined[0])
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, chosen(one, isRestored, values)]))
}

/** Without the name of the control plane, which is that of its first table for good. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => (name === 'SETPOINT_PLANE' ? [] : textsIn(one)))
}
