import type { ReleasePace } from './constructs/gradual-releases.ts'
import type { DatabasePlace, SetpointStackProps } from './setpoint-stack.ts'

/** What may be said with `-c` stands in docs/aws.md. There all values are texts; in cdk.json they may be others. */
export type Context = (name: string) => unknown

/** The text of a value, and of a list its texts with commas between. */
function textOf(context: Context, name: string): string | undefined {
  const value = context(name)
  return value === undefined ? undefined : String(value)
}

export function stageFrom(context: Context): string {
  return textOf(context, 'stage') ?? 'dev'
}

/** Throws for a value that would not be what it looks like. */
export function propsFrom(context: Context): SetpointStackProps {
  const text = (name: string): string | undefined => textOf(context, name)
  const issuer = text('issuer')
  const alarmEmail = text('alarmEmail')
  const sharedConcurrency = text('sharedConcurrency')
  const relaysPerShard = text('relaysPerShard')
  const releases = text('releases') as ReleasePace | undefined
  const keepIndex = text('keepIndex')
  if (keepIndex !== undefined && keepIndex !== 'changes') throw new Error('-c keepIndex=… can be changes only')
  return {
    adminPrincipals: (text('admins') ?? '').split(',').filter((principal) => principal !== ''),
    issuers: issuer === undefined ? [] : [{ issuer, audience: text('audience') ?? 'setpoint' }],
    disposable: isTrue(context, 'disposable'),
    ...(sharedConcurrency !== undefined && { sharedConcurrency: Number(sharedConcurrency) }),
    reserveConcurrency: isTrue(context, 'reserve'),
    ...(relaysPerShard !== undefined && { relaysPerShard: Number(relaysPerShard) }),
    ...(releases !== undefined && { releases }),
    ...(keepIndex !== undefined && { keepIndex }),
    ...(alarmEmail !== undefined && { alarmEmail }),
    databases: databasesFrom(context),
  }
}

function databasesFrom(context: Context): DatabasePlace {
  const subnetGroup = textOf(context, 'rdsSubnetGroup')
  const securityGroups = textOf(context, 'rdsSecurityGroups')?.split(',')
  const vpcId = textOf(context, 'vpc')
  const subnetIds = textOf(context, 'subnets')?.split(',')
  return {
    ...(subnetGroup !== undefined && { subnetGroup }),
    ...(securityGroups && { securityGroups }),
    ...(vpcId !== undefined && { vpcId }),
    ...(subnetIds && { subnetIds }),
  }
}

function isTrue(context: Context, name: string): boolean {
  const given = textOf(context, name) ?? 'false'
  if (given !== 'true' && given !== 'false') throw new Error(`-c ${name}=… can be true or false, not ${given}`)
  return given === 'true'
}
