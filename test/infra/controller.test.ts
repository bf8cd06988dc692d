import { Match, type Template } from 'aws-cdk-lib/assertions'
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2'
import { Stack } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { Controller } from '../../infra/constructs/controller.ts'
import { deployed, expectProperties, fixtures, resourcesOf, unbundledApp } from './synthesized.ts'

const { template, controllers, controlPlane, stack } = deployed()
const synthesized = template()
const logicalId = (construct: Controller, name: 'queue' | 'deadLetterQueue'): string =>
  stack.getLogicalId(construct.queue[name].node.defaultChild as never)

function queue(construct: Controller, name: 'queue' | 'deadLetterQueue'): Readonly<Record<string, unknown>> {
  return resourcesOf(synthesized, 'AWS::SQS::Queue')[logicalId(construct, name)]?.Properties ?? {}
}

/** Of a controller's own mapping. */
function mappingOf(one: Template, construct: Controller): Readonly<Record<string, unknown>> | undefined {
  const source = { 'Fn::GetAtt': [logicalId(construct, 'queue'), 'Arn'] }
  const found = one.findResources('AWS::Lambda::EventSourceMapping', { Properties: { EventSourceArn: source } })
  return Object.values(found)[0]?.['Properties'] as Record<string, unknown> | undefined
}

describe('the queue of a controller', () => {
  it('is a high-throughput FIFO that drops nothing as equal', () => {
    for (const name of ['queue', 'deadLetterQueue'] as const)
      expect(queue(controllers.shelf, name)).toMatchObject({
        FifoQueue: true,
        DeduplicationScope: 'messageGroup',
        FifoThroughputLimit: 'perMessageGroupId',
        ContentBasedDeduplication: false,
        SqsManagedSseEnabled: true,
      })
  })

  it('hides a message six times as long as its function may take', () => {
    // A run of a shelf takes 20 s at most, and the function 15 s more; one of a lamp a minute.
    expect(queue(controllers.shelf, 'queue')).toMatchObject({ VisibilityTimeout: 6 * 35 })
    expect(queue(controllers.lamp, 'queue')).toMatchObject({ VisibilityTimeout: 6 * 75 })
    expectProperties(synthesized, 'AWS::Lambda::Function', {
      Timeout: 35,
      Description: 'Runs the reconciler shelf',
    })
  })

  it('gives a message up after ten receives', () => {
    expect(queue(controllers.lamp, 'queue')['RedrivePolicy']).toEqual({
      deadLetterTargetArn: { 'Fn::GetAtt': [logicalId(controllers.lamp, 'deadLetterQueue'), 'Arn'] },
      maxReceiveCount: 10,
    })
  })

  it('is read by as many as the reconciler lets run at once, and parts of a batch may fail', () => {
    expect(mappingOf(synthesized, controllers.shelf)).toMatchObject({
      BatchSize: 10,
      ScalingConfig: { MaximumConcurrency: 4 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    })
    expect(mappingOf(synthesized, controllers.lamp)).toMatchObject({
      BatchSize: 1,
      ScalingConfig: { MaximumConcurrency: 2 },
    })
  })

  it('is known by the name of its loop to the functions that send', () => {
    const url = (one: Controller) => ({ Ref: logicalId(one, 'queue') })
    expectProperties(synthesized, 'AWS::Lambda::Function', {
      Description: 'Wakes who cares about a change',
      Environment: {
        Variables: Match.objectLike({
          SETPOINT_QUEUES: {
            'Fn::Join': [
              '',
              [
                '{"shelf":"',
                url(controllers.shelf),
                '","lamp":"',
                url(controllers.lamp),
                '","system":"',
                Match.anyValue(),
                '"}',
              ],
            ],
          },
        }),
      },
    })
  })
})

describe('the function of a controller', () => {
  it('reaches its own queue, and no other but those it wakes', () => {
    const role = stack.getLogicalId(controllers.shelf.function.role?.node.defaultChild as never)
    const policies = synthesized.findResources('AWS::IAM::Policy', { Properties: { Roles: [{ Ref: role }] } })
    const text = JSON.stringify(policies)
    expect(text).toContain(logicalId(controllers.shelf, 'queue'))
    expect(text).not.toContain(logicalId(controllers.lamp, 'queue'))
    expect(text).not.toContain('sqs:*')
  })

  it('runs in a VPC if it is to', () => {
    const other = new Stack(unbundledApp(), 'Test')
    // CDK's own class misses its interface by a property that may be undefined.
    const vpc = new Vpc(other, 'Vpc') as IVpc
    const inVpc = deployed({}, { vpc }, other).template()
    expectProperties(inVpc, 'AWS::Lambda::Function', {
      Description: 'Runs the reconciler shelf',
      VpcConfig: { SubnetIds: Match.anyValue(), SecurityGroupIds: Match.anyValue() },
    })
    expectProperties(inVpc, 'AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ Action: Match.arrayWith(['ec2:CreateNetworkInterface']) })]),
      },
    })
  })

  it('has variables for its reconciler', () => {
    expectProperties(deployed({}, { environment: { SHELF_SIZE: '7' } }).template(), 'AWS::Lambda::Function', {
      Environment: { Variables: Match.objectLike({ SHELF_SIZE: '7' }) },
    })
  })
})

describe('a Controller', () => {
  it('is for a reconciler of the list', () => {
    expect(() => new Controller(stack, 'Other', { controlPlane, reconciler: 'sofa' })).toThrow(
      'has no reconciler sofa; it has shelf, lamp',
    )
  })

  it('takes a module of its own, which must have that reconciler', () => {
    const entry = 'test/infra/fixtures/shelves.ts'
    expect(deployed({}, { entry }).controllers.shelf.reconciler.exportedAs).toBe('shelves')
    expect(() => new Controller(stack, 'Third', { controlPlane, reconciler: 'lamp', entry })).toThrow(
      'exports no reconciler lamp, only shelf',
    )
  })

  it('is the only one for its reconciler', () => {
    expect(() => new Controller(stack, 'Again', { controlPlane, reconciler: 'lamp' })).toThrow('two Controllers')
  })

  it('stands in the stack of its control plane', () => {
    const { stack: first, controlPlane: plane } = deployed()
    const elsewhere = new Stack(first.node.root, 'Elsewhere')
    expect(() => new Controller(elsewhere, 'Lamps', { controlPlane: plane, reconciler: 'lamp' })).toThrow(
      'must be in the stack',
    )
  })

  it('says what it measures', () => {
    const { lamp } = controllers
    const dimensions = { controller: 'lamp' }
    expect(lamp.metricTimeToConverge()).toMatchObject({ dimensions, statistic: 'p99' })
    expect(lamp.metricOldestUnconverged()).toMatchObject({ dimensions, statistic: 'Maximum' })
    expect(lamp.metricReconcileErrors()).toMatchObject({ dimensions, namespace: 'Setpoint/Test' })
    expect(lamp.metricReconciles('requeue').dimensions).toEqual({ ...dimensions, result: 'requeue' })
    expect(lamp.metricQueueAge().metricName).toBe('ApproximateAgeOfOldestMessage')
  })
})

describe('a reconciler module', () => {
  it('that cannot be loaded is refused when it is synthesized', () => {
    expect(() => deployed({ reconcilers: 'test/infra/fixtures/broken.ts' })).toThrow('no shelf to stand on')
  })

  it('without reconcilers is refused', () => {
    expect(() => deployed({ reconcilers: 'shared/model/time.ts' })).toThrow('exports no reconciler')
  })

  it('says itself how it is to be deployed', () => {
    expect(controlPlane.reconcilers).toEqual([
      {
        name: 'shelf',
        group: 'example.dev',
        kind: 'Shelf',
        timeoutMs: 20_000,
        concurrency: 40,
        finalizer: 'example.dev/shelf',
        exportedAs: 'reconcilers',
        inList: true,
      },
      expect.objectContaining({ name: 'lamp', timeoutMs: 60_000, concurrency: 1 }),
    ])
    expect(controlPlane.reconcilersEntry).toBe(fixtures)
  })
})
