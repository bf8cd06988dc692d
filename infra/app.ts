import { App, Tags } from 'aws-cdk-lib'
import type { ReleasePace } from './constructs/gradual-releases.ts'
import { SetpointStack } from './setpoint-stack.ts'

/** `cdk deploy`: the reconcilers that come with the project. What may be said with `-c` stands in docs/aws.md. */
const app = new App()
const readContext = (name: string): string | undefined => app.node.tryGetContext(name) as string | undefined

const stage = readContext('stage') ?? 'dev'
const issuer = readContext('issuer')
const alarmEmail = readContext('alarmEmail')
const subnetGroup = readContext('rdsSubnetGroup')
const securityGroups = readContext('rdsSecurityGroups')?.split(',')
const sharedConcurrency = readContext('sharedConcurrency')
const relaysPerShard = readContext('relaysPerShard')
const keepIndex = readContext('keepIndex')
if (keepIndex !== undefined && keepIndex !== 'changes') throw new Error('-c keepIndex=… can be changes only')
const releases = readContext('releases') as ReleasePace | undefined
const vpcId = readContext('vpc')
const subnetIds = readContext('subnets')?.split(',')
const stack = new SetpointStack(app, `Setpoint-${stage}`, {
  adminPrincipals: (readContext('admins') ?? '').split(',').filter((principal) => principal !== ''),
  issuers: issuer === undefined ? [] : [{ issuer, audience: readContext('audience') ?? 'setpoint' }],
  disposable: readContext('disposable') === 'true',
  ...(sharedConcurrency !== undefined && { sharedConcurrency: Number(sharedConcurrency) }),
  reserveConcurrency: readContext('reserve') === 'true',
  ...(relaysPerShard !== undefined && { relaysPerShard: Number(relaysPerShard) }),
  ...(releases !== undefined && { releases }),
  ...(keepIndex !== undefined && { keepIndex }),
  ...(alarmEmail !== undefined && { alarmEmail }),
  databases: {
    ...(subnetGroup !== undefined && { subnetGroup }),
    ...(securityGroups && { securityGroups }),
    ...(vpcId !== undefined && { vpcId }),
    ...(subnetIds && { subnetIds }),
  },
  description: 'Setpoint: a Kubernetes-style control plane without a cluster',
})
Tags.of(stack).add('project', 'setpoint')
Tags.of(stack).add('stage', stage)
