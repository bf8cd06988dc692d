import { describe, expect, it } from 'vitest'
import { tableDefinition } from '../../shared/adapters/aws/dynamodb/dynamodb-table.ts'
import { restoreTable } from '../../infra/restore-table.ts'
import { deployed, expectProperties, resourcesOf } from './synthesized.ts'

/** What DynamoDB makes of the commands: a restored table has neither stream, nor time to live, nor backups. */
class FakeAws {
  readonly asked: string[] = []
  /** Whether the restored table is one of a version that had no index `feed`. */
  isEarlier = false
  table:
    | { feed?: string; status: string; stream?: string; isShortLived?: boolean; isBackedUp?: boolean; looks: number }
    | undefined

  readonly answer = (args: readonly string[]): unknown => {
    const [, verb = ''] = args
    this.asked.push(args.slice(1).join(' '))
    if (verb === 'describe-stacks') return ['Setpoint-dev-Table']
    if (verb === 'list-tables') return { TableNames: ['Setpoint-dev-Table', ...(this.table ? [target] : [])] }
    if (verb === 'restore-table-to-point-in-time') this.table = this.restored()
    const { table } = this
    if (table === undefined) throw new Error(`nothing to ${verb}`)
    if (verb === 'describe-table') {
      if (++table.looks > 2) table.status = 'ACTIVE'
      const { status, stream } = table
      const streaming = stream && { LatestStreamArn: stream, StreamSpecification: { StreamEnabled: true } }
      const GlobalSecondaryIndexes = table.feed && [{ IndexName: 'feed', IndexStatus: table.feed }]
      if (table.feed !== undefined) table.feed = 'ACTIVE'
      return { Table: { TableStatus: status, GlobalSecondaryIndexes, ...streaming } }
    }
    if (args.some((arg) => arg.startsWith('--global-secondary-index-updates'))) table.feed = 'CREATING'
    else if (verb === 'update-table') table.stream = 'arn:aws:dynamodb:eu-west-1:123456789012:table/t/stream/now'
    if (verb === 'update-time-to-live') table.isShortLived = true
    if (verb === 'describe-time-to-live')
      return { TimeToLiveDescription: { TimeToLiveStatus: table.isShortLived === true ? 'ENABLED' : 'DISABLED' } }
    if (verb === 'update-continuous-backups') table.isBackedUp = true
    return {}
  }

  restored() {
    return { status: 'CREATING', looks: 0, ...(!this.isEarlier && { feed: 'ACTIVE' }) }
  }
}

const target = 'Setpoint-dev-Table-20261123T040000Z'
const restore = (aws: FakeAws): Promise<string> =>
  restoreTable({
    stack: 'Setpoint-dev',
    at: '2026-11-23T04:00:00Z',
    aws: aws.answer,
    say: () => {},
    pause: async () => {},
  })

describe('the command that restores', () => {
  it('makes a table that has what a stack gives one, and says how to switch to it', async () => {
    const aws = new FakeAws()
    expect(await restore(aws)).toBe(
      `npx cdk deploy -c table=${target} -c tableStream=arn:aws:dynamodb:eu-west-1:123456789012:table/t/stream/now`,
    )
    expect(aws.table).toMatchObject({ status: 'ACTIVE', isShortLived: true, isBackedUp: true })
    expect(aws.asked).toContain(
      `restore-table-to-point-in-time --source-table-name=Setpoint-dev-Table --target-table-name=${target} --restore-date-time=2026-11-23T04:00:00Z`,
    )
  })

  it('adds the index that a table of an earlier version lacks, as a stack has it', async () => {
    const aws = new FakeAws()
    aws.isEarlier = true
    await restore(aws)
    expect(aws.table?.feed).toBe('ACTIVE')
    const given = /--global-secondary-index-updates=(\S+)/.exec(aws.asked.join('\n'))?.[1] ?? ''
    const feed = tableDefinition.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === 'feed')
    expect(JSON.parse(given)).toEqual([{ Create: feed }])
  })

  it('can be repeated, and restores nothing twice', async () => {
    const aws = new FakeAws()
    const first = await restore(aws)
    aws.asked.length = 0
    expect(await restore(aws)).toBe(first)
    expect(aws.asked.filter((line) => /^(restore|update-table|update-time)/.test(line))).toEqual([])
  })
})

describe('a control plane on a restored table', () => {
  const restored = deployed({
    restoredTable: {
      tableName: 'restored',
      streamArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/restored/stream/now',
    },
  }).template()

  it('makes no table of objects, and its functions work with that one', () => {
    const made = Object.keys(resourcesOf(restored, 'AWS::DynamoDB::Table'))
    expect(made.filter((id) => !id.startsWith('ControlPlaneTokenKeys'))).toEqual([])
    const text = JSON.stringify(restored.toJSON())
    expect(text).toContain('"SETPOINT_TABLE":"restored"')
    expect(text).toContain(':table/restored/index/due')
  })

  it('relays what its stream tells', () => {
    expectProperties(restored, 'AWS::Lambda::EventSourceMapping', {
      EventSourceArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/restored/stream/now',
    })
  })
})
