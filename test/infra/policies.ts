import type { Construct } from 'constructs'
import { tokenTables } from '../support/token-tables.ts'
import type { FunctionName } from './lambda/synthesized-code.ts'
import { functionOf, ownTable, queueOf, queueNames } from './lambda/synthesized-code.ts'
import { resourcesOf, type Deployed } from './synthesized.ts'

interface Statement {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Condition?: unknown
}

/**
 * What a function's role may do, as `action resource`, with the resources called what they are: `shelf` for its queue,
 * `index/due`.
 */
export function permissionsOf(deployed: Deployed, name: FunctionName): readonly string[] {
  const template = deployed.template()
  const worker = functionOf(deployed, name)
  const roleId = idOf(deployed, worker.role as unknown as Construct)
  const names = namesOf(deployed, worker)
  const policies = Object.values(resourcesOf(template, 'AWS::IAM::Policy'))
    .map(
      ({ Properties }) =>
        Properties as unknown as {
          readonly Roles: readonly { Ref: string }[]
          readonly PolicyDocument: { readonly Statement: readonly Statement[] }
        },
    )
    .filter(({ Roles }) => Roles.some(({ Ref: ref }) => ref === roleId))
  const permissions = policies.flatMap(({ PolicyDocument }) =>
    PolicyDocument.Statement.flatMap(({ Action, Resource }) =>
      [Action].flat().flatMap((action) => [Resource].flat().map((one) => `${action} ${named(one, names)}`)),
    ),
  )
  return [...new Set(permissions)].sort()
}

/** What stands for a resource in a policy. */
function named(resource: unknown, names: ReadonlyMap<string, string>): string {
  if (typeof resource === 'string') return resource
  const {
    Ref: ref = '',
    'Fn::GetAtt': attribute,
    'Fn::Join': joined,
  } = resource as {
    readonly Ref?: string
    readonly 'Fn::GetAtt'?: readonly [string, string]
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]]
  }
  if (attribute !== undefined) return names.get(attribute.join('.')) ?? attribute.join('.')
  if (joined === undefined) return names.get(ref) ?? ref.replace(/^AWS::.*/, '')
  const parts = joined[1].map((part) => (typeof part === 'string' ? part : named(part, names)))
  return parts
    .join('')
    .replace(/^arn::dynamodb:::table\/(?=\/|$)/, '')
    .replace(/^\//, '')
}

function namesOf(deployed: Deployed, worker: Construct): ReadonlyMap<string, string> {
  const { controlPlane } = deployed
  const arn = (construct: Construct): string => `${idOf(deployed, construct)}.Arn`
  const table = idOf(deployed, ownTable(deployed))
  const queues = queueNames.map((name) => [arn(queueOf(deployed, name)), name] as const)
  return new Map([
    [table, ''],
    [`${table}.StreamArn`, 'stream'],
    [arn(controlPlane.tokenKeys.signing), tokenTables.signingTable],
    [arn(controlPlane.tokenKeys.shown), tokenTables.table],
    [arn(controlPlane.eventBus), ''],
    [arn(controlPlane.relay.failures), 'relay failures'],
    [arn(logsOf(worker)), 'own log'],
    ...queues,
    [arn(controlPlane.systemQueue.deadLetterQueue), 'dead letters'],
  ])
}

function logsOf({ node }: Construct): Construct {
  return node.scope?.node.findChild(`${node.id}Logs`) as Construct
}

function idOf({ stack }: Deployed, { node }: Construct): string {
  return stack.getLogicalId(node.defaultChild as never)
}
