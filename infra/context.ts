import type { ReleasePace } from './constructs/gradual-releases.ts'
import type { DatabasePlace, SetpointStackProps } from './setpoint-stack.ts'

/** What may be said with `-c` stands in docs/aws.md. There all values are texts; in cdk.json they may be others. */
export type Context = (name: string) => unknown

/** The text of a value, and of a list its texts with commas between. */
function textOf(context: Context, name: Name): string | undefined {
  const value = context(name)
  if (value === undefined) return undefined
  const text = String(value)
  const shape = shapes[name]
  if (shape === undefined || shape.pattern.test(text)) return text
  throw new Error(`-c ${name}=… is like ${shape.example}, not ${JSON.stringify(text)}`)
}

/** What AWS would refuse in the middle of a deployment, which is then taken back. */
const shapes: Partial<Record<Name, { readonly pattern: RegExp; readonly example: string }>> = {
  alarmEmail: { pattern: /^[^\s@]+@[^\s@]+$/, example: 'me@example.com' },
  stage: { pattern: /^[A-Za-z0-9-]{1,100}$/, example: 'dev' },
  vpc: { pattern: /^vpc-\w+$/, example: 'vpc-0a1b2c3d' },
  subnets: { pattern: /^subnet-\w+(?:,subnet-\w+)*$/, example: 'subnet-0a1b2c3d,subnet-4e5f6a7b' },
  rdsSecurityGroups: { pattern: /^sg-\w+(?:,sg-\w+)*$/, example: 'sg-0a1b2c3d,sg-4e5f6a7b' },
  rdsSubnetGroup: { pattern: /^[\w .-]+$/, example: 'private-subnets' },
}

/** The names that the app reads. */
const names = [
  'admins',
  'alarmEmail',
  'audience',
  'disposable',
  'issuer',
  'keepIndex',
  'rdsSecurityGroups',
  'rdsSubnetGroup',
  'relaysPerShard',
  'releases',
  'reserve',
  'sharedConcurrency',
  'stage',
  'subnets',
  'vpc',
] as const
type Name = (typeof names)[number]

/** Of what is given: the names that nothing reads. Those of CDK itself have a colon or an at sign. */
export function unreadNames(given: readonly string[]): readonly string[] {
  return given.filter((name) => !/[:@]/.test(name) && !names.some((known) => known === name))
}

export const unreadAdvice = (name: string): string => `nothing reads -c ${name}=…: there are ${names.join(', ')}`

export function stageFrom(context: Context): string {
  return textOf(context, 'stage') ?? 'dev'
}

/** Throws for a value that would not be what it looks like. */
export function propsFrom(context: Context): SetpointStackProps {
  const text = (name: Name): string | undefined => textOf(context, name)
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

function isTrue(context: Context, name: Name): boolean {
  const given = textOf(context, name) ?? 'false'
  if (given !== 'true' && given !== 'false') throw new Error(`-c ${name}=… can be true or false, not ${given}`)
  return given === 'true'
}
