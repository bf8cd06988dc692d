import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import type { ReleasePace } from '../../infra/constructs/gradual-releases.ts'
import { deployed, resourcesOf } from './synthesized.ts'

const [gradual, atOnce] = [deployed({ releases: 'Canary10Percent5Minutes' }).template(), deployed().template()]
const groups = Object.entries(resourcesOf(gradual, 'AWS::CodeDeploy::DeploymentGroup'))
const aliases = Object.entries(resourcesOf(gradual, 'AWS::Lambda::Alias'))
const alarms = resourcesOf(gradual, 'AWS::CloudWatch::Alarm')

interface Policy {
  readonly Properties: {
    readonly PolicyDocument: {
      readonly Statement: readonly { readonly Action: string | readonly string[]; readonly Resource: unknown }[]
    }
  }
}

describe('releases that are gradual', () => {
  it('are those of every function that runs reconcilers, of no other, and are left out by default', () => {
    expect(aliases.map(([, { Properties }]) => JSON.stringify(Properties['FunctionName']))).toEqual([
      expect.stringContaining('SystemFunction'),
      expect.stringContaining('ShelvesFunction'),
      expect.stringContaining('LampsFunction'),
    ])
    expect(groups).toHaveLength(3)
    for (const type of ['AWS::CodeDeploy::Application', 'AWS::Lambda::Alias', 'AWS::Lambda::Version'])
      expect(resourcesOf(atOnce, type)).toEqual({})
  })

  it('are made by CodeDeploy, at the pace that is asked for', () => {
    for (const [, alias] of aliases)
      expect(alias).toMatchObject({
        UpdatePolicy: {
          CodeDeployLambdaAliasUpdate: {
            ApplicationName: { Ref: expect.stringContaining('Application') },
            DeploymentGroupName: { Ref: expect.stringContaining('Releases') },
          },
        },
      })
    for (const [, { Properties }] of groups)
      expect(Properties).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) },
      })
  })

  it('reach the queues of reconcilers: each is handed to the version that is live', () => {
    const mappings = Object.values(resourcesOf(gradual, 'AWS::Lambda::EventSourceMapping'))
    const targets = mappings.map(({ Properties }) => JSON.stringify(Properties['FunctionName']))
    expect(targets.filter((target) => target.includes('Live'))).toHaveLength(3)
    expect(targets.filter((target) => !target.includes('Live'))).toEqual([
      expect.stringContaining('DeadLetters'),
      expect.stringContaining('RelayFunction'),
    ])
  })

  it('go back when an alarm goes on, of the ten at most that CodeDeploy looks at: one on failures of the function itself', () => {
    for (const [, { Properties }] of groups) {
      const { Alarms: watched = [] } = Properties['AlarmConfiguration'] as {
        readonly Alarms?: readonly { readonly Name: { readonly Ref: string } }[]
      }
      expect(watched).toHaveLength(8)
      const metrics = watched.map(({ Name: { Ref: id } }) => alarms[id]?.Properties['MetricName'])
      expect(metrics[0]).toBe('Errors')
      expect(metrics).toContain('controller_runtime_terminal_reconcile_errors_total')
      // An object that has long been wrong would forbid every release.
      expect(metrics).not.toContain('setpoint_oldest_unconverged_seconds')
    }
  })

  it('let CodeDeploy move these aliases and no other', () => {
    const policies = Object.values(resourcesOf(gradual, 'AWS::IAM::Policy')) as unknown as readonly Policy[]
    const statements = policies.flatMap(({ Properties: { PolicyDocument: document } }) => document.Statement)
    const moving = statements.filter(({ Action }) => Action.includes('lambda:UpdateAlias'))
    expect(moving).toHaveLength(3)
    expect(JSON.stringify(moving)).not.toContain('"*"')
    expect(JSON.stringify(moving)).not.toContain(':*')
  })

  it('let CodeDeploy ask of the alias and of each version what runs for it beforehand: IAM knows that of nothing else', () => {
    const policies = Object.values(resourcesOf(gradual, 'AWS::IAM::Policy')) as unknown as readonly Policy[]
    const statements = policies.flatMap(({ Properties: { PolicyDocument: document } }) => document.Statement)
    const asking = statements.filter(({ Action }) => Action.includes('lambda:GetProvisionedConcurrencyConfig'))
    const qualified = (id: string) => ({ 'Fn::Join': ['', [{ 'Fn::GetAtt': [id, 'Arn'] }, ':*']] })
    const functions = aliases.map(([, { Properties }]) => (Properties['FunctionName'] as { readonly Ref: string }).Ref)
    expect(asking.map(({ Resource }) => Resource)).toEqual(functions.map(qualified))
  })

  it('are of one table: another one has versions and aliases of its own, to which queues go at once', () => {
    // A version keeps the variables of its time: by its description CloudFormation makes another one.
    const { stack } = deployed({ releases: 'Canary10Percent5Minutes' })
    const used = { 'Fn::If': [expect.any(String), { Ref: 'ControlPlaneRestoredTable' }, { Ref: expect.any(String) }] }
    const versions = Object.values(resourcesOf(Template.fromStack(stack), 'AWS::Lambda::Version'))
    expect(versions.map(({ Properties }) => Properties['Description'])).toEqual([used, used, used])
    // CodeDeploy moves an alias that is there, batch by batch. It has no part in one that is new.
    const ofTheStream = { 'Fn::Join': ['', ['live-', { Ref: expect.stringContaining('RelayMapping') }]] }
    expect(aliases.map(([, { Properties }]) => Properties['Name'])).toEqual([ofTheStream, ofTheStream, ofTheStream])
  })

  it('are a template that CloudFormation takes: nothing waits for itself, by an UpdatePolicy neither', () => {
    expect(waitingForItself(gradual.toJSON() as Synthesized)).toEqual([])
  })

  it('have a pace that CodeDeploy knows', () => {
    expect(() => deployed({ releases: 'Quickly' as ReleasePace })).toThrow(
      /releases are one of Canary10Percent5Minutes/,
    )
  })
})

interface Synthesized {
  readonly Resources: Readonly<Record<string, SynthesizedResource>>
}

interface SynthesizedResource {
  readonly DependsOn?: string | readonly string[]
  readonly Properties?: unknown
  readonly UpdatePolicy?: unknown
}

/** What cannot be made, because it has to be there first. */
function waitingForItself({ Resources: resources }: Synthesized): readonly string[] {
  const left = new Map(Object.entries(resources).map(([id, resource]) => [id, new Set(neededBy(resource))]))
  for (let count = left.size + 1; left.size < count;) {
    count = left.size
    for (const [id, needed] of left) if (![...needed].some((one) => left.has(one))) left.delete(id)
  }
  return [...left.keys()]
}

function neededBy({ DependsOn = [], Properties, UpdatePolicy }: SynthesizedResource): readonly string[] {
  return [...[DependsOn].flat(), ...namedIn([Properties, UpdatePolicy])]
}

function namedIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const { Ref: ref, 'Fn::GetAtt': attribute } = value as {
    readonly Ref?: string
    readonly 'Fn::GetAtt'?: readonly string[]
  }
  return [
    ...(ref === undefined ? [] : [ref]),
    ...(attribute ?? []).slice(0, 1),
    ...Object.values(value).flatMap(namedIn),
  ]
}
