import { App, Tags } from 'aws-cdk-lib'
import { SetpointStack } from './setpoint-stack.ts'

/** `cdk deploy`: the reconcilers that come with the project. What may be said with `-c` stands in docs/aws.md. */
const app = new App()
const said = (name: string): string | undefined => app.node.tryGetContext(name) as string | undefined

const stage = said('stage') ?? 'dev'
const issuer = said('issuer')
const alarmEmail = said('alarmEmail')
const subnetGroup = said('rdsSubnetGroup')
const securityGroups = said('rdsSecurityGroups')?.split(',')
const stack = new SetpointStack(app, `Setpoint-${stage}`, {
  adminPrincipals: (said('admins') ?? '').split(',').filter((principal) => principal !== ''),
  issuers: issuer === undefined ? [] : [{ issuer, audience: said('audience') ?? 'setpoint' }],
  disposable: said('disposable') === 'true',
  frugal: said('frugal') === 'true',
  ...(alarmEmail !== undefined && { alarmEmail }),
  databases: { ...(subnetGroup !== undefined && { subnetGroup }), ...(securityGroups && { securityGroups }) },
  description: 'Setpoint: a Kubernetes-style control plane without a cluster',
})
Tags.of(stack).add('project', 'setpoint')
Tags.of(stack).add('stage', stage)
