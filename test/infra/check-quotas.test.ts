import { describe, expect, it } from 'vitest'
import { checkQuotas, fedAtOnce, neededBy, type SynthesizedTemplate } from '../../infra/check-quotas.ts'
import { SetpointStack } from '../../infra/setpoint-stack.ts'
import { Template } from 'aws-cdk-lib/assertions'
import { deployed, unbundledApp } from './synthesized.ts'

const templateOf = (props: Parameters<typeof deployed>[0]) => deployed(props).template().toJSON() as SynthesizedTemplate

/** An account whose functions may so many times run at once. */
const account =
  (ConcurrentExecutions: number, UnreservedConcurrentExecutions = ConcurrentExecutions) =>
  (args: readonly string[]) => {
    expect(args).toEqual(['lambda', 'get-account-settings'])
    return { AccountLimit: { ConcurrentExecutions, UnreservedConcurrentExecutions } }
  }

describe('the functions that a template has fed at once', () => {
  // Two for all shared controllers, two for dead letters, one for each of four shards, the tick.
  it('are within the ten of a new account for the stack of the project, but for the Job that is isolated', () => {
    const stack = new SetpointStack(unbundledApp(), 'Setpoint', { adminPrincipals: [], issuers: [], disposable: true })
    const template = Template.fromStack(stack).toJSON() as SynthesizedTemplate
    expect(fedAtOnce(template)).toBeGreaterThanOrEqual(9)
    expect(fedAtOnce(template)).toBeLessThanOrEqual(11)
  })

  it('are more with each relay of a shard and each tick', () => {
    const least = fedAtOnce(templateOf({}))
    expect(fedAtOnce(templateOf({ relaysPerShard: 3 }))).toBe(least + 8)
    expect(fedAtOnce(templateOf({ ticksAtOnce: 8 }))).toBe(least + 7)
    expect(fedAtOnce(templateOf({ sharedConcurrency: 100 }))).toBe(least + 8)
  })
})

describe('rules that other stacks of an app may have', () => {
  const ruleTo = (...Targets: readonly object[]): SynthesizedTemplate => ({
    Resources: {
      Rule: { Type: 'AWS::Events::Rule', Properties: { Targets } },
      Worker: { Type: 'AWS::Lambda::Function' },
      Topic: { Type: 'AWS::SNS::Topic' },
    },
  })

  it('feed no function without targets, or with others', () => {
    expect(fedAtOnce({ Resources: { Rule: { Type: 'AWS::Events::Rule', Properties: {} } } })).toBe(0)
    expect(fedAtOnce(ruleTo({ Arn: { Ref: 'Topic' } }, { Arn: 'arn:aws:sqs:eu-west-1:123456789012:a' }))).toBe(0)
    expect(fedAtOnce(ruleTo({ Arn: { 'Fn::GetAtt': ['Worker', 'Arn'] } }, { Arn: { Ref: 'Topic' } }))).toBe(1)
  })
})

it('where functions reserve theirs, Lambda wants a hundred left over for the others', () => {
  const [usual, reserving] = [templateOf({}), templateOf({ reserveConcurrency: true })]
  expect(neededBy([usual, usual])).toBe(2 * fedAtOnce(usual))
  expect(neededBy([reserving, reserving])).toBe(2 * fedAtOnce(usual) + 100)
})

describe('the check of an account', () => {
  it('is content with one that lets as many run', () => {
    expect(checkQuotas(9, account(10))).toEqual({
      isEnough: true,
      said: '9 functions may run at once, and the account lets 10',
    })
  })

  it('says what to ask for, and what else can be done', () => {
    const { isEnough, said } = checkQuotas(20, account(10))
    expect(isEnough).toBe(false)
    expect(said).toContain('request-service-quota-increase --service-code=lambda --quota-code=L-B99A9384')
    expect(said).not.toContain('reserved')
  })

  it('counts what is reserved for others', () => {
    expect(checkQuotas(20, account(1_000, 10)).said).toContain('990 of its 1000 are reserved for other functions')
  })
})
