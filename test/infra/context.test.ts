import { describe, expect, it } from 'vitest'
import { propsFrom, stageFrom, unreadAdvice, unreadNames } from '../../infra/context.ts'

const of = (values: Readonly<Record<string, unknown>>) => propsFrom((name) => values[name])

describe('the context of the app', () => {
  it('is the same in the texts of -c and in the values of cdk.json', () => {
    const admins = ['arn:aws:iam::123456789012:role/A', 'arn:aws:iam::123456789012:role/B']
    const typed = {
      disposable: 'true',
      reserve: 'false',
      sharedConcurrency: '40',
      admins: admins.join(),
      subnets: 'subnet-a,subnet-b',
    }
    const ofFile = {
      disposable: true,
      reserve: false,
      sharedConcurrency: 40,
      admins,
      subnets: ['subnet-a', 'subnet-b'],
    }
    expect(of(ofFile)).toEqual(of(typed))
    expect(of(ofFile)).toMatchObject({ disposable: true, reserveConcurrency: false, adminPrincipals: admins })
  })

  it('may say nothing', () => {
    expect(stageFrom(() => {})).toBe('dev')
    const usual = { adminPrincipals: [], issuers: [], disposable: false, reserveConcurrency: false, databases: {} }
    expect(of({})).toEqual(usual)
  })

  it.each([
    [{ disposable: 'yes' }, '-c disposable=… can be true or false, not yes'],
    [{ reserve: '1' }, '-c reserve=… can be true or false, not 1'],
    [{ keepIndex: 'feed' }, '-c keepIndex=… can be changes only'],
    [{ alarmEmail: 'me' }, '-c alarmEmail=… is like me@example.com, not "me"'],
    [{ vpc: 'subnet-1' }, '-c vpc=… is like vpc-0a1b2c3d, not "subnet-1"'],
    [
      { subnets: 'subnet-1, subnet-2' },
      '-c subnets=… is like subnet-0a1b2c3d,subnet-4e5f6a7b, not "subnet-1, subnet-2"',
    ],
    [{ rdsSecurityGroups: [] }, '-c rdsSecurityGroups=… is like sg-0a1b2c3d,sg-4e5f6a7b, not ""'],
    [{ rdsSubnetGroup: '' }, '-c rdsSubnetGroup=… is like private-subnets, not ""'],
  ])('%j is refused: it would not be what it looks like', (values, why) => {
    expect(() => of(values)).toThrow(why)
  })

  it('refuses a stage that no stack may be called by', () => {
    expect(() => stageFrom(() => 'my stage')).toThrow('-c stage=… is like dev, not "my stage"')
  })

  it('knows which of the given names nothing reads, but for those of CDK', () => {
    const given = ['admins', 'admin', 'aws:cdk:bundling-stacks', '@aws-cdk/core:checkSecretUsage', 'vpc']
    expect(unreadNames(given)).toEqual(['admin'])
    expect(unreadAdvice('admin')).toMatch(/^nothing reads -c admin=…: there are admins, alarmEmail, /)
  })
})
