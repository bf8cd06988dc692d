import { Stack } from 'aws-cdk-lib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainClient } from './lambda/runtime-clients.ts'
import { everything } from './lambda/script.ts'
import { openStage, type Stage } from './lambda/stage.ts'
import { functionNames, type FunctionName } from './lambda/synthesized-code.ts'
import { permissionsOf } from './policies.ts'
import { deployed, unbundledApp, type Deployed } from './synthesized.ts'

/**
 * Each function may do what it does, and nothing else. What it does is what its bundle was seen to ask of DynamoDB, SQS
 * and EventBridge in a day that has everything in it; what it may is what stands in its policies.
 */
let all: Deployed
const workers: readonly FunctionName[] = ['system', 'shelf', 'lamp']

/** What Lambda does in a function's name, so that no request of the function itself shows it. */
const doneByLambda = {
  logs: ['logs:CreateLogStream own log', 'logs:PutLogEvents own log'],
  traces: ['xray:PutTelemetryRecords *', 'xray:PutTraceSegments *'],
  stream: [
    'dynamodb:DescribeStream stream',
    'dynamodb:GetRecords stream',
    'dynamodb:GetShardIterator stream',
    'dynamodb:ListStreams *',
    'sqs:SendMessage relay failures',
  ],
  queue: (name: string) => ['DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage'].map((one) => `sqs:${one} ${name}`),
}

let stage: Stage
beforeAll(async () => {
  all = deployed({}, {}, new Stack(unbundledApp(), 'Test'))
  stage = await openStage(plainClient)
  await everything(stage)
})
afterAll(async () => stage[Symbol.asyncDispose]())

function asked(...names: readonly FunctionName[]): readonly string[] {
  return names.flatMap((name) => stage.calls(name).map(({ action, on }) => `${action} ${on}`))
}

const sorted = (...permissions: readonly string[]): readonly string[] => [...new Set(permissions)].sort()
const both = [...doneByLambda.logs, ...doneByLambda.traces]

describe('what a function may do is what it does', () => {
  it.each(['authorizer', 'removal'] as const)('%s', (name) => {
    expect(permissionsOf(all, name)).toEqual(sorted(...asked(name), ...both))
  })

  it('resync', () => {
    // It takes back what it noted of an object that the relay noted in the same moment.
    expect(permissionsOf(all, 'resync')).toEqual(sorted(...asked('resync'), 'dynamodb:DeleteItem ', ...both))
  })

  it('api', () => {
    // It wakes objects that refer to no others; those of this day all might. test/aws/frugal sees it do so.
    // And it tells how long they are.
    const everyQueue = ['system', 'shelf', 'lamp'].flatMap((queue) => [
      `sqs:SendMessage ${queue}`,
      `sqs:GetQueueAttributes ${queue}`,
    ])
    expect(permissionsOf(all, 'api')).toEqual(sorted(...asked('api'), ...everyQueue, ...both))
  })

  it('relay', () => {
    const everyQueue = ['system', 'shelf', 'lamp'].flatMap((queue) => [
      `sqs:SendMessage ${queue}`,
      // Of the queues of reconcilers one was seen to be woken, and all are the same to it.
      `sqs:ChangeMessageVisibility ${queue}`,
    ])
    expect(permissionsOf(all, 'relay')).toEqual(
      sorted(...asked('relay'), ...everyQueue, ...both, ...doneByLambda.stream),
    )
    expect(asked('relay')).toContain('sqs:ChangeMessageVisibility lamp')
  })

  it('deadLetters', () => {
    const polled = doneByLambda.queue('dead letters')
    expect(permissionsOf(all, 'deadLetters')).toEqual(sorted(...asked('deadLetters'), ...both, ...polled))
  })

  it.each(workers)('%s, a worker: what one of them does, any may do in its own queue', (name) => {
    const ofWorkers = asked(...workers).map((permission) => permission.replace(/^(sqs:\w+) .*/, `$1 ${name}`))
    // Of a controller that was isolated a message may be left in the queue that it shared before.
    // One with a queue of its own sends into it what is left in others of its own.
    const sentOn = name === 'system' ? ['sqs:SendMessage shelf', 'sqs:SendMessage lamp'] : [`sqs:SendMessage ${name}`]
    expect(permissionsOf(all, name)).toEqual(sorted(...ofWorkers, ...sentOn, ...both, ...doneByLambda.queue(name)))
  })
})

it('sees every function at work', () => {
  expect(functionNames.filter((name) => stage.calls(name).length === 0)).toEqual([])
})

it('sees nobody ask for more than one queue of a controller', () => {
  for (const name of workers)
    expect(asked(name).filter((call) => call.startsWith('sqs:') && !call.endsWith(` ${name}`))).toEqual([])
})
