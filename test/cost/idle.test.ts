import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { idleBill, idleTable, shippedIdleBill, type Resource } from './idle.ts'
import { longOnly } from '../support/strength.ts'

const tick = { readUnits: 10, writeUnits: 1, queueRequests: 1, logBytes: 500, series: 0 }
const queue: Resource = { Type: 'AWS::SQS::Queue', Properties: { RedrivePolicy: {} } }

function mapping(properties: object): Resource {
  return {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: { EventSourceArn: { 'Fn::GetAtt': ['Queue', 'Arn'] }, ...properties },
  }
}

describe('the bill at rest', () => {
  it('has no resource without a price', () => {
    expect(() => idleBill({ Gateway: { Type: 'AWS::EC2::NatGateway' } }, tick)).toThrow(
      'AWS::EC2::NatGateway has no price at rest',
    )
    const provisioned = mapping({ ProvisionedPollerConfig: { MinimumPollers: 2 } })
    expect(() => idleBill({ Queue: queue, Mapping: provisioned }, tick)).toThrow('provisioned pollers have no price')
    const stage = { Type: 'AWS::ApiGateway::Stage', Properties: { MethodSettings: [{ MetricsEnabled: true }] } }
    expect(() => idleBill({ Stage: stage }, tick)).toThrow('metrics of single methods')
  })

  it('counts five pollers of a queue whose function has a limit, and two of another', () => {
    const polls = (one: Resource): number | undefined => idleBill({ Queue: queue, Mapping: one }, tick).lines[0]?.amount
    expect(polls(mapping({ ScalingConfig: { MaximumConcurrency: 2 } }))).toBe(15 * 43_800)
    expect(polls(mapping({}))).toBe(6 * 43_800)
  })

  it('counts each metric that an alarm looks at', () => {
    const Metrics = [{ Expression: 'a + b' }, { MetricStat: {} }, { MetricStat: {} }]
    const resources = {
      One: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Errors' } },
      Two: { Type: 'AWS::CloudWatch::Alarm', Properties: { Metrics } },
    }
    expect(idleBill(resources, tick).lines).toEqual([expect.objectContaining({ amount: 3, usd: expect.closeTo(0.3) })])
  })

  // What a tick asks for is counted in real time: on a loaded machine one may ask for something again.
  it(
    'of the stack of the project is under a dollar, with everything on, and stands in docs/aws.md',
    { ...longOnly, retry: 3 },
    async () => {
      const bill = await shippedIdleBill()
      expect(bill.usdWithFreeTier).toBeLessThan(1)
      expect(readFileSync('docs/aws.md', 'utf8')).toContain(idleTable(bill))
    },
  )
})
