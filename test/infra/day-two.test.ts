import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runProgram, type Ended } from '../support/program.ts'

/** The commands as people type them, and an AWS command line that notes what it is asked for. */
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'setpoint-day-two-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** It says what a file of the name of the verb has. */
function answer(verb: string, text: string): void {
  writeFileSync(join(directory, verb), text)
  const file = join(directory, 'aws')
  writeFileSync(file, `#!/bin/sh\necho "$@" >> ${directory}/asked\ncat ${directory}/"$2"\n`)
  chmodSync(file, 0o700)
}

/** A control plane whose relay has given up a batch of these records. */
function answerGivenUp(records: readonly object[]): void {
  const resource = (part: string, ResourceType: string) => ({
    LogicalResourceId: `Plane${part}01234567`,
    PhysicalResourceId: part,
    ResourceType,
  })
  const all = [
    resource('Controllers', 'Custom::SetpointControllers'),
    resource('RelayFailures', 'AWS::SQS::Queue'),
    resource('RelayFunction', 'AWS::Lambda::Function'),
    resource('SystemDeadLetters', 'AWS::SQS::Queue'),
  ]
  const place = {
    shardId: 's',
    startSequenceNumber: '1',
    endSequenceNumber: String(records.length),
    streamArn: 'arn',
  }
  const message = { Body: JSON.stringify({ DDBStreamBatchInfo: place }), MessageId: 'm', ReceiptHandle: 'h' }
  answer('list-stack-resources', JSON.stringify({ StackResourceSummaries: all }))
  answer('get-shard-iterator', '{ "ShardIterator": "i" }')
  answer('get-records', JSON.stringify({ Records: records }, undefined, 4))
  answer('invoke', '{}')
  answer('delete-message', '')
  answer('get-queue-attributes', '{ "Attributes": { "ApproximateNumberOfMessages": "0" } }')
  answer('receive-message', JSON.stringify({ Messages: [message] }))
}

/** The relay answers into the file that is named last but one; the queue has the message once. */
function answerRelay(batchItemFailures: readonly object[]): void {
  writeFileSync(
    join(directory, 'aws'),
    `#!/bin/sh
    echo "$@" >> ${directory}/asked
    cat ${directory}/"$2"
    [ "$2" = receive-message ] && echo '{}' > ${directory}/receive-message
    [ "$2" = invoke ] && echo '${JSON.stringify({ batchItemFailures })}' > "$5"
    exit 0
    `,
  )
}

const asked = (): readonly string[] => readFileSync(join(directory, 'asked'), 'utf8').trim().split('\n')

function run(program: string, ...args: readonly string[]): Promise<Ended> {
  return runProgram(program, args, { env: { PATH: `${directory}:/usr/bin:/bin` } })
}

const type = (...args: readonly string[]): Promise<Ended> => run(process.execPath, 'infra/day-two.ts', ...args)

describe('setpoint-aws', () => {
  it.each([
    [],
    ['restore'],
    ['toString'],
    ['__proto__'],
    ['redrive'],
    ['restore-table', '--stack=Setpoint-dev'],
    ['restore-table', '--stack=Setpoint-dev', '--at=yesterday'],
  ])('%j: says what to type, exit code 2', async (...args) => {
    const { code, stderr } = await type(...args)
    expect(stderr).toMatch(/^usage: setpoint-aws COMMAND/)
    expect(code).toBe(2)
  })

  it('says in one line what AWS refuses with', async () => {
    answer('list-stack-resources', '{ "StackResourceSummaries": [] }')
    const { code, stderr } = await type('redrive', '--stack=Setpoint-dev')
    expect(stderr).toBe(
      'setpoint-aws: the stack Setpoint-dev has no Custom::SetpointControllers: it is no control plane\n',
    )
    expect(code).toBe(1)
  })

  it('passes on changes that take megabytes, as those of a busy stream do', async () => {
    const images = { NewImage: { doc: { S: 'x'.repeat(2_000) } }, OldImage: { doc: { S: 'x'.repeat(2_000) } } }
    const Records = Array.from({ length: 1_000 }, (_, i) => ({
      dynamodb: { SequenceNumber: String(i + 1), ...images },
    }))
    answerGivenUp(Records)
    answerRelay([])
    const { code, stdout, stderr } = await type('redrive', '--stack=Setpoint-dev')
    expect([stderr, code]).toEqual(['', 0])
    expect(stdout).toContain('1000 changes were passed on')
  })

  it('ends with 1 if the relay has given changes up again, and keeps them', async () => {
    answerGivenUp([{ dynamodb: { SequenceNumber: '1' } }])
    answerRelay([{ itemIdentifier: '1' }])
    const { code, stdout } = await type('redrive', '--stack=Setpoint-dev')
    expect(stdout).toContain('the relay still cannot pass on 1')
    expect(stdout).toContain('0 changes were passed on')
    expect(asked().join('\n')).not.toContain('delete-message')
    expect(code).toBe(1)
  })

  it('says what is to be done first where nothing was synthesized', async () => {
    for (const where of [directory, join(directory, 'nowhere')]) {
      const { code, stderr } = await type('quotas', where)
      expect(stderr).toBe(`setpoint-aws: ${where} has no template: run cdk synth first, or name its directory\n`)
      expect(code).toBe(1)
    }
  })

  it.each([
    { free: 10, code: 0 },
    { free: 5, code: 1 },
  ])('compares what a synthesized stack needs with an account that lets $free functions run', async (row) => {
    const limit = { ConcurrentExecutions: row.free, UnreservedConcurrentExecutions: row.free }
    answer('get-account-settings', JSON.stringify({ AccountLimit: limit }))
    const mapping = {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: { ScalingConfig: { MaximumConcurrency: 6 } },
    }
    writeFileSync(join(directory, 'Some.template.json'), JSON.stringify({ Resources: { mapping } }))
    const { code, stdout } = await type('quotas', directory)
    expect(stdout).toMatch(/^6 functions may run at once/)
    expect(code).toBe(row.code)
  })
})

it('docs/aws.md has dead letters moved by the AWS command line alone', async () => {
  answer('list-stack-resources', 'https://sqs.eu-west-1.amazonaws.com/1/dead.fifo')
  answer('get-queue-attributes', 'arn:aws:sqs:eu-west-1:1:dead.fifo')
  answer('start-message-move-task', '{}')
  const [, lines = ''] = /^(stack=.*\nqueue=[^]*?)^```$/m.exec(readFileSync('docs/aws.md', 'utf8')) ?? []
  const { code } = await run('sh', '-ec', lines)
  expect(code).toBe(0)
  expect(asked()[0]).toContain("contains(LogicalResourceId, 'SystemDeadLetters')")
  expect(asked().slice(1)).toEqual([
    'sqs get-queue-attributes --queue-url https://sqs.eu-west-1.amazonaws.com/1/dead.fifo --attribute-names QueueArn --query Attributes.QueueArn --output text',
    'sqs start-message-move-task --source-arn arn:aws:sqs:eu-west-1:1:dead.fifo',
  ])
})
