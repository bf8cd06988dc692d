import { Stack } from 'aws-cdk-lib'
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { allowRds } from '../../infra/constructs/rds-access.ts'
import { SetpointStack, type DatabasePlace } from '../../infra/setpoint-stack.ts'
import { deployed, unbundledApp } from './synthesized.ts'
import { longOnly } from '../support/strength.ts'

interface Statement {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Condition?: unknown
}

type Handlers = Readonly<Record<'create' | 'read' | 'update' | 'delete', { readonly permissions: readonly string[] }>>

const [ofInstances, ofGroups] = ['db-instance', 'db-parameter-group'].map(
  (name) =>
    (
      JSON.parse(readFileSync(`test/reconcilers/postgres/rds/${name}-schema.json`, 'utf8')) as {
        readonly handlers: Handlers
      }
    ).handlers,
) as [Handlers, Handlers]

/** What a function may do more once it may keep databases. */
function granted(): readonly Statement[] {
  return (grantedOnce ??= grant())
}

let grantedOnce: readonly Statement[] | undefined

function grant(): readonly Statement[] {
  const before = statements(deployed().template())
  const { controllers, template } = deployed()
  allowRds(controllers.shelf.function)
  return statements(template()).slice(before.length)
}

/** Of the function that runs shelves. */
function statements(template: Template): readonly Statement[] {
  const policies = Object.entries(template.findResources('AWS::IAM::Policy'))
  const [, policy] = policies.find(([id]) => id.startsWith('Shelves')) as [string, { readonly Properties: unknown }]
  return (policy.Properties as { readonly PolicyDocument: { readonly Statement: readonly Statement[] } }).PolicyDocument
    .Statement
}

const actionsOf = (some: readonly Statement[]): readonly string[] => some.flatMap(({ Action }) => Action)

describe('a function that keeps databases', () => {
  it('may do nothing but requests of Cloud Control and what the handlers of the type do', () => {
    const handlers = [ofInstances, ofGroups].flatMap(Object.values<Handlers['read']>).flatMap((one) => one.permissions)
    const own = actionsOf(granted())
    expect(own.length).toBeGreaterThan(20)
    expect(own.filter((action) => !action.startsWith('cloudformation:') && !handlers.includes(action))).toEqual([])
    expect(own.filter((action) => action.startsWith('cloudformation:')).toSorted()).toEqual(
      ['Create', 'Delete', 'Get', 'Update']
        .map((verb) => `cloudformation:${verb}Resource`)
        .concat('cloudformation:GetResourceRequestStatus', 'cloudformation:ListResourceRequests')
        .toSorted(),
    )
  })

  it('may do all that reading and deleting take, and all that groups do', () => {
    expect(actionsOf(granted())).toEqual(
      expect.arrayContaining(
        [ofInstances, ofGroups].flatMap((one) => [...one.read.permissions, ...one.delete.permissions]),
      ),
    )
  })

  it('may change groups by the names of ours only', () => {
    const [changing] = granted().filter(({ Action }) => Action.includes('rds:ModifyDBParameterGroup'))
    expect(JSON.stringify(changing?.Resource)).toContain(':pg:sp-*')
  })

  it('may change instances by the names of ours only', () => {
    const [changing] = granted().filter(({ Action }) => Action.includes('rds:DeleteDBInstance'))
    const resources = JSON.stringify(changing?.Resource)
    expect(resources).toContain(':db:sp-*')
    expect(resources).not.toContain(':db:*')
  })
})

it('the stack lets the reconciler of PostgresClusters do that, and says where they are', longOnly, () => {
  const app = unbundledApp()
  const databases = {
    subnetGroup: 'private',
    securityGroups: ['sg-0123456789abcdef0', 'sg-0123456789abcdef1'],
    vpcId: 'vpc-1',
    subnetIds: ['subnet-1', 'subnet-2'],
  }
  const stack = new SetpointStack(app, 'Test', { adminPrincipals: [], issuers: [], disposable: false, databases })
  const template = Template.fromStack(Stack.of(stack))
  const inVpc = {
    VpcConfig: {
      SubnetIds: ['subnet-1', 'subnet-2'],
      SecurityGroupIds: ['sg-0123456789abcdef0', 'sg-0123456789abcdef1'],
    },
  }
  const reaching = Object.keys(template.findResources('AWS::Lambda::Function', { Properties: inVpc }))
  expect(reaching.map((id) => id.replace(/Function.*/, ''))).toEqual(['Postgresdatabase', 'Job'])
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: { RDS_SUBNET_GROUP: 'private', RDS_SECURITY_GROUPS: 'sg-0123456789abcdef0,sg-0123456789abcdef1' },
    },
  })
  const functions = Object.entries(template.findResources('AWS::Lambda::Function'))
  const knowing = functions.filter(([, worker]) => JSON.stringify(worker).includes('/var/runtime/ca-cert.pem'))
  expect(knowing.map(([id]) => id.replace(/Function.*/, ''))).toEqual(['Postgresdatabase', 'Job'])
  const allowed = Object.entries(template.findResources('AWS::IAM::Policy'))
    .filter(([, policy]) => JSON.stringify(policy).includes('rds:CreateDBInstance'))
    .map(([id]) => id)
  // It shares the function of the control plane.
  expect(allowed).toEqual([expect.stringMatching(/^ControlPlaneSystemFunction/)])
})

describe('the network of databases', () => {
  const open = (databases: DatabasePlace): SetpointStack =>
    new SetpointStack(unbundledApp(), 'Test', { adminPrincipals: [], issuers: [], disposable: true, databases })

  it.each([
    { vpcId: 'vpc-1' },
    { vpcId: 'vpc-1', subnetIds: ['subnet-1'] },
    { subnetIds: ['subnet-1'], securityGroups: ['sg-1'] },
    { subnetGroup: 'private', securityGroups: ['sg-1'] },
  ])('is said whole or not at all: %o', (databases) => {
    expect(() => open(databases)).toThrow('need all of -c vpc=…, -c subnets=… and -c rdsSecurityGroups=…')
  })

  it('is missed where it is not said', () => {
    const said = Annotations.fromStack(open({})).findWarning('*', Match.stringLikeRegexp('databases cannot be reached'))
    expect(said.map(({ entry }) => String(entry.data))).toEqual([expect.stringContaining('-c vpc=')])
  })
})
