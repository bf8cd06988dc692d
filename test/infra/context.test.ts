import { describe, expect, it } from 'vitest'
import { propsFrom, stageFrom } from '../../infra/context.ts'

const of = (values: Readonly<Record<string, unknown>>) => propsFrom((name) => values[name])

describe('the context of the app', () => {
  it('is the same in the texts of -c and in the values of cdk.json', () => {
    const admins = ['arn:aws:iam::123456789012:role/A', 'arn:aws:iam::123456789012:role/B']
    const typed = {
      disposable: 'true',
      reserve: 'false',
      sharedConcurrency: '40',
      admins: admins.join(),
      subnets: 'a,b',
    }
    const ofFile = { disposable: true, reserve: false, sharedConcurrency: 40, admins, subnets: ['a', 'b'] }
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
  ])('%j is refused: it would not be what it looks like', (values, why) => {
    expect(() => of(values)).toThrow(why)
  })
})
