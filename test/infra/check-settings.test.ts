import { CfnParameter, Stack, Token } from 'aws-cdk-lib'
import { AccountRootPrincipal, AnyPrincipal } from 'aws-cdk-lib/aws-iam'
import { describe, expect, it } from 'vitest'
import {
  checkMemory,
  checkNames,
  checkSettings,
  settingWords,
  type Settings,
} from '../../infra/constructs/check-settings.ts'
import { ControlPlane } from '../../infra/constructs/control-plane.ts'
import { logLevels } from '../../shared/adapters/node/json-logger.ts'
import { auditScopes } from '../../shared/ports/audit.ts'
import {
  auditOf,
  issuersOf,
  keptRunsOf,
  logLevelOf,
  sharedConcurrencyOf,
} from '../../shared/runtime/aws/environment.ts'
import { parseRetryBudget } from '../../shared/runtime/retry-setting.ts'
import { deployed, fixtures, resourcesOf, unbundledApp } from './synthesized.ts'

const issuer = 'https://issuer.example'

/** What the functions of a control plane are told, all together. */
function toldBy(settings: Settings): Readonly<Record<string, string>> {
  const functions = Object.values(resourcesOf(deployed(settings as object).template(), 'AWS::Lambda::Function'))
  const told = functions.map(({ Properties }) => Properties['Environment'] as { readonly Variables?: object })
  return Object.assign({}, ...told.map((one) => one?.Variables)) as Readonly<Record<string, string>>
}

describe('the name of a reconciler', () => {
  it.each(['shelf', 'shelf-2', 'my_shelf.v1', 'Shelf'])('may be %s', (name) => {
    expect(() => checkNames([{ name }])).not.toThrow()
  })

  it.each(['my shelf', 'a"b', 'a,b', "shelf's", ''])(
    'cannot be %j: variables, tags and searches have it in them',
    (name) => {
      expect(() => checkNames([{ name: 'shelf' }, { name }])).toThrow(`cannot be called ${JSON.stringify(name)}`)
    },
  )
})

describe('the memory of a function', () => {
  it.each([undefined, 128, 129, 10_240, Token.asNumber({ Ref: 'Size' })])('may be %j', (memorySize) => {
    expect(() => checkMemory('shelf', memorySize)).not.toThrow()
  })

  it.each([1, 127, 10_241, 128.5, NaN])('cannot be %j', (memorySize) => {
    expect(() => checkMemory('shelf', memorySize)).toThrow(
      `memorySize of shelf must be a whole number from 128 to 10240, not ${memorySize}`,
    )
  })

  it('is looked at when its stack is made', () => {
    expect(() => deployed({}, { memorySize: 1 })).toThrow('memorySize of shelf')
  })
})

describe('a setting that the functions would fail by', () => {
  it.each<[Settings, string]>([
    [{ sharedConcurrency: NaN }, 'a whole number from 2 to 10000, not NaN'],
    [{ sharedConcurrency: 0 }, 'from 2'],
    [{ sharedConcurrency: 2.5 }, 'not 2.5'],
    [{ sharedConcurrency: 10_001 }, 'not 10001'],
    [{ relaysPerShard: NaN }, 'relaysPerShard must be a whole number from 1 to 10, not NaN'],
    [{ relaysPerShard: 0 }, 'from 1'],
    [{ relaysPerShard: 1.5 }, 'not 1.5'],
    [{ relaysPerShard: 11 }, 'not 11'],
    [{ logLevel: 'INFO' }, 'logLevel must be one of debug, info, warn, error, not "INFO"'],
    [{ logLevel: '' }, 'logLevel'],
    [{ audit: 'yes' }, 'audit must be one of off, writes, on'],
    [{ runHistory: 'some' }, 'runHistory must be one of all, failures, none'],
    [{ retryBudget: { perSecond: 0, burst: 1 } }, 'retryBudget must be'],
    [{ retryBudget: { perSecond: 1, burst: 0.5 } }, 'retryBudget must be'],
    [{ retryBudget: { perSecond: NaN, burst: 1 } }, 'retryBudget must be'],
    [{ issuers: [{ issuer: 'http://issuer.example', audience: 'a' }] }, 'begins with https://'],
    [{ issuers: [{ issuer, audience: '' }] }, 'must have an audience'],
  ])('%j is refused by the synthesis', (settings, why) => {
    expect(() => checkSettings(settings)).toThrow(why)
    expect(() => deployed(settings as object)).toThrow(why)
  })

  it.each<Settings>([
    { sharedConcurrency: 2, logLevel: 'debug', audit: 'writes', runHistory: 'all', retryBudget: 'none' },
    {
      sharedConcurrency: 10_000,
      logLevel: 'error',
      audit: 'on',
      runHistory: 'none',
      issuers: [{ issuer, audience: 'a' }],
    },
    { retryBudget: { perSecond: 1 / 3, burst: 1 } },
    { retryBudget: { perSecond: 99_999, burst: 999_999 } },
  ])('%j is none: they take it', (settings) => {
    const told = toldBy(settings)
    expect(() => {
      sharedConcurrencyOf(told)
      logLevelOf(told)
      auditOf(told)
      keptRunsOf(told)
      issuersOf(told)
      parseRetryBudget(told['SETPOINT_RETRY_BUDGET'])
    }).not.toThrow()
  })

  it('has the words that the functions know', () => {
    expect([settingWords.logLevel, settingWords.audit]).toEqual([logLevels, auditScopes])
    for (const word of settingWords.runHistory) expect(keptRunsOf({ SETPOINT_RUNS: word })).toBe(word)
  })

  it('may be told to CloudFormation only', () => {
    const stack = new Stack(unbundledApp(), 'Test')
    const told = (name: string): string => new CfnParameter(stack, name).valueAsString
    const settings = { logLevel: told('Level'), issuers: [{ issuer: told('Issuer'), audience: 'a' }] }
    expect(() => deployed(settings, {}, stack)).not.toThrow()
  })
})

describe('an administrator under whose name nobody signs in', () => {
  it.each([
    ['arn:aws:sts::123456789012:assumed-role/Admin/me', 'give that of the role itself'],
    ['Admin', 'the ARN of an IAM role or user'],
    ['*', 'the ARN of an IAM role or user'],
    ['arn:aws:iam::123456789012:role/*', 'the ARN of an IAM role or user'],
    ['arn:aws:iam::123456789012:group/admins', 'the ARN of an IAM role or user'],
    ['https://other.example#me', 'issuer#subject of one of the issuers'],
  ])('%s is refused by the synthesis', (name, why) => {
    const issuers = [{ issuer, audience: 'a' }]
    expect(() => deployed({ adminPrincipals: [name], issuers })).toThrow(why)
  })

  it.each([
    'arn:aws:iam::123456789012:role/path/of/Admin',
    'arn:aws-us-gov:iam::123456789012:user/me@example.com',
    'arn:aws-cn:iam::123456789012:root',
    'arn:aws:sts::123456789012:federated-user/me',
    `${issuer}#me`,
  ])('%s is none', (name) => {
    expect(() => deployed({ adminPrincipals: [name], issuers: [{ issuer, audience: 'a' }] })).not.toThrow()
  })

  it('is granted nothing: an account and everybody are no role and no user', () => {
    const { controlPlane } = deployed()
    expect(() => controlPlane.grantApply(new AccountRootPrincipal())).toThrow('only a role or a user')
    expect(() => controlPlane.grantRead(new AnyPrincipal())).toThrow('the ARN of an IAM role or user')
  })

  it('is not hidden in a list that CloudFormation fills in', () => {
    const [stack, other] = [new Stack(unbundledApp(), 'Test'), new Stack(unbundledApp(), 'Test')]
    const adminPrincipals = new CfnParameter(stack, 'Admins', { type: 'CommaDelimitedList' }).valueAsList
    expect(() => deployed({ adminPrincipals }, {}, stack)).toThrow('one by one')
    const one = new CfnParameter(other, 'Admin').valueAsString
    expect(() => deployed({ adminPrincipals: [one] }, {}, other)).not.toThrow()
  })
})

it('a Controller has no variable of the control plane', () => {
  expect(() => deployed({}, { environment: { SETPOINT_TABLE: 'mine' } })).toThrow('SETPOINT_… are taken')
})

it('a stack has one control plane: two would have one name for tokens, metrics and dashboards', () => {
  const { stack, controlPlane } = deployed()
  const other = new ControlPlane(stack, 'Other', { reconcilers: fixtures, adminPrincipals: [] })
  expect(other.node.validate()).toContain(
    'the stack has another control plane, Test/ControlPlane: each needs a stack of its own',
  )
  expect(controlPlane.node.validate()).toHaveLength(1)
})
