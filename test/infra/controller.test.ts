import { Match, Template } from 'aws-cdk-lib/assertions'
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2'
import { Stack } from 'aws-cdk-lib'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ControlPlane } from '../../infra/constructs/control-plane.ts'
import { Controller } from '../../infra/constructs/controller.ts'
import {
  deployed,
  expectProperties,
  fixtures,
  resourcesOf,
  templateOf,
  unbundledApp,
  type Deployed,
} from './synthesized.ts'
import { permissionsOf } from './policies.ts'
import { resolve as resolveText } from './lambda/synthesized-code.ts'
import { longOnly } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

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

  it('hides it for whole seconds, where a run may take a part of one', () => {
    const short = new Stack(unbundledApp(), 'Short')
    const reconcilers = 'test/infra/fixtures/short.ts'
    const plane = new ControlPlane(short, 'ControlPlane', { reconcilers, adminPrincipals: [] })
    new Controller(short, 'Shelves', { controlPlane: plane, reconciler: 'shelf', isolated: true })
    // Of 1.5 s and 15 s more: no longer than those reckon with who let a key change its queue.
    const made = templateOf(short)
    expectProperties(made, 'AWS::Lambda::Function', { Timeout: 16, Description: 'Runs the reconciler shelf' })
    expectProperties(made, 'AWS::SQS::Queue', { VisibilityTimeout: 6 * 16 })
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

  it('runs in a VPC if it is to', longOnly, () => {
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

it("what is a controller's own says so to the bill: its queues, its function, its log and its role", () => {
  const tagged = Object.values(synthesized.toJSON().Resources as Record<string, Tagged>).filter(({ Properties }) =>
    Properties?.Tags?.some(({ Key, Value }) => Key === 'setpoint:controller' && Value === 'shelf'),
  )
  expect(tagged.map(({ Type }) => Type).toSorted()).toEqual([
    'AWS::IAM::Role',
    'AWS::Lambda::EventSourceMapping',
    'AWS::Lambda::Function',
    'AWS::Logs::LogGroup',
    'AWS::SQS::Queue',
  ])
})

interface Tagged {
  readonly Type: string
  readonly Properties?: { readonly Tags?: readonly { readonly Key: string; readonly Value: string }[] }
}

interface FedMapping {
  readonly FunctionName: { readonly Ref?: string }
  readonly BatchSize: number
  readonly ScalingConfig: { readonly MaximumConcurrency: number }
}

it('a reconciler called system cannot be isolated: the queue of the control plane has this name for the functions', () => {
  const place = new Stack(unbundledApp(), 'System')
  const reconcilers = 'test/infra/fixtures/system.ts'
  const plane = new ControlPlane(place, 'ControlPlane', { reconcilers, adminPrincipals: [] })
  const make = (isolated: boolean): Controller =>
    new Controller(place, `Isolated${isolated}`, { controlPlane: plane, reconciler: 'system', isolated })
  expect(() => make(true)).toThrow('a reconciler called system cannot be isolated')
  expect(() => make(false)).not.toThrow()
})

describe('a Controller with several queues', () => {
  it('runs no more objects at once than its reconciler lets', () => {
    // That of the shelves is 40.
    const atOnce = (queues: number): number => {
      const one = deployed({}, { queues })
      const id = one.stack.getLogicalId(one.controllers.shelf.function.node.defaultChild as never)
      const mappings = Object.values(resourcesOf(one.template(), 'AWS::Lambda::EventSourceMapping'))
      return mappings
        .map(({ Properties }) => Properties as unknown as FedMapping)
        .filter(({ FunctionName }) => FunctionName.Ref === id)
        .reduce((sum, { BatchSize, ScalingConfig }) => sum + BatchSize * ScalingConfig.MaximumConcurrency, 0)
    }
    for (const queues of [1, 3, 7, 16]) expect([queues, atOnce(queues) <= 40]).toEqual([queues, true])
  })

  it('is refused where they would run more, since Lambda runs two of each at least', () => {
    const few = new Stack(unbundledApp(), 'Few')
    const plane = new ControlPlane(few, 'ControlPlane', {
      reconcilers: 'test/infra/fixtures/usual.ts',
      adminPrincipals: [],
    })
    const { name: reconciler = '' } = plane.reconcilers[0] ?? {}
    const make = (queues: number): Controller =>
      new Controller(few, `With${queues}`, { controlPlane: plane, reconciler, isolated: true, queues })
    expect(() => make(6)).toThrow('run 12 objects at once at least, and its reconciler lets 10')
    expect(() => make(5)).not.toThrow()
  })

  const four = deployed({}, { queues: 4, queuesUsed: 3 })
  const ids = four.controllers.shelf.queues.map(({ queue: own }) =>
    four.stack.getLogicalId(own.node.defaultChild as never),
  )

  it('keeps the only queue it had, and has the others beside it', () => {
    expect(ids).toHaveLength(4)
    expect(ids[0]).toBe(logicalId(controllers.shelf, 'queue'))
    expect(resourcesOf(four.template(), 'AWS::SQS::Queue')).toMatchObject(Object.fromEntries(ids.map((id) => [id, {}])))
  })

  it('has a mapping for each, which share what may run at once', () => {
    const mappings = Object.values(resourcesOf(four.template(), 'AWS::Lambda::EventSourceMapping'))
      .map(({ Properties }) => Properties)
      .filter(({ EventSourceArn }) => ids.some((id) => JSON.stringify(EventSourceArn).includes(`"${id}"`)))
    expect(mappings).toHaveLength(4)
    for (const mapping of mappings)
      expect(mapping).toMatchObject({ BatchSize: 5, ScalingConfig: { MaximumConcurrency: 2 } })
  })

  it('has a function that may send on into each, as that of a single queue may after a rollback', () => {
    const sentOn = (one: Deployed) => permissionsOf(one, 'shelf').filter((text) => text.startsWith('sqs:SendMessage '))
    expect(sentOn(four)).toEqual(
      ['sqs:SendMessage shelf', ...ids.slice(1).map((id) => `sqs:SendMessage ${id}.Arn`)].sort(),
    )
    expect(sentOn(deployed())).toEqual(['sqs:SendMessage shelf'])
  })

  it('is known by all of them to those who send, and the tick is told how many are used', () => {
    expectProperties(four.template(), 'AWS::Lambda::Function', {
      Description: 'The tick of each minute: timers that are due, and the resync',
      Environment: {
        Variables: Match.objectLike({
          SETPOINT_QUEUES_USED: '{"shelf":3}',
          SETPOINT_QUEUES: {
            'Fn::Join': ['', Match.arrayWith(['{"shelf":["', { Ref: ids[0] }, '","', { Ref: ids[1] }])],
          },
        }),
      },
    })
  })

  it.each([
    [{ queues: 17 }, '1 to 16'],
    [{ queues: 1.5 }, '1 to 16'],
    [{ queues: 2, queuesUsed: 3 }, '1 to its 2 queues'],
  ])('%j is refused', (props, reason) => {
    expect(() => deployed({}, props)).toThrow(reason)
  })
})

describe('a Controller that is not isolated', () => {
  const shared = (props: object = {}, plane: object = {}) => {
    const other = new Stack(unbundledApp(), 'Test')
    const one = new ControlPlane(other, 'ControlPlane', {
      reconcilers: 'test/infra/fixtures/shelves.ts',
      adminPrincipals: [],
      ...plane,
    })
    const controller = new Controller(other, 'Shelves', { controlPlane: one, reconciler: 'shelf', ...props })
    return { controller, one, made: Template.fromStack(other) }
  }

  it('has the queue and the function of the control plane, and adds no resource', () => {
    const { controller, one, made } = shared({ environment: { SHELF_SIZE: '7' } })
    expect(controller.function).toBe(one.functions.system)
    expect(controller.queue).toBe(one.systemQueue)
    expect(Object.keys(made.findResources('AWS::SQS::Queue', { Properties: { FifoQueue: true } }))).toHaveLength(2)
    expectProperties(made, 'AWS::Lambda::Function', {
      Description: Match.stringLikeRegexp('not isolated'),
      Environment: { Variables: Match.objectLike({ SHELF_SIZE: '7', SETPOINT_SHARED: 'shelf' }) },
    })
  })

  it('runs as many objects at once as all of them may', () => {
    const scaling = (plane: object) =>
      Object.values(shared({}, plane).made.findResources('AWS::Lambda::EventSourceMapping')).map(({ Properties }) => {
        const { BatchSize, ScalingConfig } = Properties as Record<string, unknown>
        return { BatchSize, ScalingConfig }
      })
    expect(scaling({})).toContainEqual({ BatchSize: 5, ScalingConfig: { MaximumConcurrency: 2 } })
    const more = { BatchSize: 10, ScalingConfig: { MaximumConcurrency: 4 } }
    expect(scaling({ sharedConcurrency: 40 })).toContainEqual(more)
  })

  it('is refused what the shared function cannot give', () => {
    expect(() => shared({}, { sharedConcurrency: 50 })).toThrow('it lets 40 objects run at once, and in there 50 do')
    expect(() => shared({ memorySize: 1_024 })).toThrow('memorySize is given')
    const slow = { reconcilers: 'test/infra/fixtures/slow.ts' }
    expect(() => shared({}, slow)).toThrow('a run of it may take 120000 ms, and in there 60000')
  })

  it('takes the concurrency of the shared function if it says nothing of its own', () => {
    const usual = { reconcilers: 'test/infra/fixtures/usual.ts', sharedConcurrency: 50 }
    expect(shared({}, usual).controller.isIsolated).toBe(false)
  })

  it('shares its variables, of which none has two values', () => {
    const { one } = shared()
    one.addSharedVariable('SIZE', '1')
    one.addSharedVariable('SIZE', '1')
    expect(() => one.addSharedVariable('SIZE', '2')).toThrow('two values of SIZE')
  })
})

describe('how many Controllers there may be', () => {
  const directory = temporaryDirectory('many')
  afterAll(() => directory[Symbol.dispose]())
  const withMany = (count: number, isolated: boolean) => {
    const reconcilers = join(directory.path, `${count}.ts`)
    const fixture = JSON.stringify(resolve('test/infra/fixtures/many.ts'))
    writeFileSync(
      reconcilers,
      `import { makeReconcilers } from ${fixture}\nexport const reconcilers = makeReconcilers(${count})\n`,
    )
    const other = new Stack(unbundledApp(), 'Test')
    const one = new ControlPlane(other, 'ControlPlane', { reconcilers, adminPrincipals: [], retryBudget: 'none' })
    for (const { name } of one.reconcilers)
      new Controller(other, name, { controlPlane: one, reconciler: name, isolated })
    return { other, refused: one.node.validate() }
  }
  /** Of the fullest function, as Lambda measures them: the JSON of all, with each queue's URL as long as one may be. */
  const bytesOf = (other: Stack): number => {
    const url = `https://sqs.ap-southeast-1.amazonaws.com/123456789012/${'x'.repeat(80)}`
    const made = templateOf(other)
    const urls = new Map(Object.keys(resourcesOf(made, 'AWS::SQS::Queue')).map((id) => [id, url]))
    const sizes = Object.values(resourcesOf(made, 'AWS::Lambda::Function')).map(({ Properties: { Environment } }) => {
      const { Variables: all } = Environment as { readonly Variables: Readonly<Record<string, unknown>> }
      return JSON.stringify(
        Object.fromEntries(Object.entries(all).map(([name, one]) => [name, resolveText(one, urls)])),
      ).length
    })
    return Math.max(...sizes)
  }

  it.each([
    { count: 150, isolated: false },
    { count: 20, isolated: true },
  ])('$count, isolated: $isolated: the variables of every function hold what it has to know', longOnly, (row) => {
    const { refused, other } = withMany(row.count, row.isolated)
    expect(refused).toEqual([])
    expect(bytesOf(other)).toBeLessThan(4_096)
  })

  it('is less where many people are named: a stack that Lambda would refuse is not synthesized', () => {
    const adminPrincipals = Array.from(
      { length: 70 },
      (_, i) => `arn:aws:iam::123456789012:role/Team-${1_000 + i}-Admin`,
    )
    const { controlPlane: one } = deployed({ adminPrincipals })
    expect(one.node.validate()).toEqual([expect.stringContaining('70 principals: let people in by bindings')])
  })

  it('is less where the shared function has many variables of its own', () => {
    const { controlPlane: one } = deployed()
    one.addSharedVariable('CERTIFICATES', 'x'.repeat(4_000))
    expect(one.node.validate()).toEqual([expect.stringContaining('the variables of the function SystemFunction')])
  })

  it.each([
    { count: 220, isolated: false },
    { count: 30, isolated: true },
  ])('$count, isolated: $isolated: are refused, with what to do', longOnly, ({ count, isolated }) => {
    expect(withMany(count, isolated).refused).toEqual([expect.stringContaining('let more of them share a queue')])
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
    expect(() => new Controller(stack, 'Again', { controlPlane, reconciler: 'shelf' })).toThrow('two Controllers')
  })

  it('stands in the stack of its control plane', () => {
    const { stack: first, controlPlane: plane } = deployed()
    const elsewhere = new Stack(first.node.root, 'Elsewhere')
    expect(() => new Controller(elsewhere, 'Shelves', { controlPlane: plane, reconciler: 'shelf' })).toThrow(
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

describe('the roles that a Controller assumes', () => {
  const tenant = 'arn:aws:iam::210987654321:role/tenants/Shop'

  it('are named one by one in the policy of its function, and in no other', () => {
    const assuming = deployed({}, { assumes: [tenant] }).template()
    const policies = Object.values(resourcesOf(assuming, 'AWS::IAM::Policy')).map(({ Properties }) => Properties)
    const allowing = policies.filter((policy) => JSON.stringify(policy).includes('sts:AssumeRole'))
    expect(allowing).toEqual([
      expect.objectContaining({
        PolicyDocument: expect.objectContaining({
          Statement: expect.arrayContaining([
            { Effect: 'Allow', Action: ['sts:AssumeRole', 'sts:TagSession'], Resource: tenant },
          ]),
        }),
        Roles: [{ Ref: expect.stringContaining('ShelvesFunctionRole') }],
      }),
    ])
  })

  it.each(['*', 'arn:aws:iam::210987654321:role/*', 'arn:aws:iam::*:role/Tenant', 'arn:aws:iam::210987654321:user/me'])(
    'are not %s',
    (arn) => {
      expect(() => deployed({}, { assumes: [arn] })).toThrow(/must be ARNs of IAM roles, without wildcards/)
    },
  )
})
