import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const scratch = temporaryDirectory('redrive')
afterAll(() => scratch[Symbol.dispose]())
const directory = scratch.path

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

it('setpoint-aws redrive ends with 1 if the relay gave changes up again', async () => {
  const place = { shardId: 's', startSequenceNumber: '1', endSequenceNumber: '1', streamArn: 'arn' }
  const message = { Body: JSON.stringify({ DDBStreamBatchInfo: place }), MessageId: 'm', ReceiptHandle: 'h' }
  const answers: Readonly<Record<string, unknown>> = {
    'list-stack-resources': { StackResourceSummaries: all },
    'get-shard-iterator': { ShardIterator: 'i' },
    'get-records': { Records: [{ dynamodb: { SequenceNumber: '1' } }] },
    invoke: {},
    'get-queue-attributes': {
      Attributes: { ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '0' },
    },
    'receive-message': { Messages: [message] },
  }
  for (const [verb, text] of Object.entries(answers)) writeFileSync(join(directory, verb), JSON.stringify(text))
  writeFileSync(
    join(directory, 'aws'),
    `#!/bin/sh
    echo "$@" >> ${directory}/asked
    [ -f ${directory}/"$2" ] && cat ${directory}/"$2"
    [ "$2" = receive-message ] && echo '{}' > ${directory}/receive-message
    [ "$2" = invoke ] && echo '{ "batchItemFailures": [{ "itemIdentifier": "1" }] }' > "$5"
    exit 0
    `,
  )
  chmodSync(join(directory, 'aws'), 0o700)
  const env = { PATH: `${directory}:/usr/bin:/bin` }
  const { code, stdout } = await runProgram(process.execPath, ['infra/day-two.ts', 'redrive', '--stack=S'], { env })
  expect(stdout).toContain('the relay still cannot pass on 1')
  expect(stdout).toContain('0 changes were passed on')
  expect(readFileSync(join(directory, 'asked'), 'utf8')).not.toContain('delete-message')
  expect(code).toBe(1)
})
