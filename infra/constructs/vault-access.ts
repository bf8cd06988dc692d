import { ArnFormat, Stack } from 'aws-cdk-lib'
import * as iam from 'aws-cdk-lib/aws-iam'
import type * as kms from 'aws-cdk-lib/aws-kms'
import type { ReconcilerDescription, SecretPrefix } from '../bundling/reconciler-modules.ts'
import type { ControlFunction } from './control-function.ts'

interface VaultUse {
  readonly reconciler: Pick<ReconcilerDescription, 'name' | 'vault'>
  readonly keys: readonly kms.IKey[]
}

/**
 * Lets a function read and write the secrets and parameters that its reconciler declares, in this account and Region.
 * What it overwrites or removes in Secrets Manager must have the reconciler's tag.
 */
export function allowVault(worker: ControlFunction, { reconciler: { name, vault = {} }, keys }: VaultUse): void {
  const { reads = [], writes = [] } = vault
  const all = [...reads, ...writes]
  if (keys.length > 0 && all.length === 0)
    throw new Error(`vaultKeys of ${name} are of no use: its reconciler declares no vault`)
  const arns = (some: readonly SecretPrefix[], service: Service): string[] => [
    ...new Set(some.flatMap((prefix) => arnsOf(prefix, service, Stack.of(worker)))),
  ]
  const allow = (actions: readonly string[], resources: string[], conditions?: iam.Conditions): void => {
    if (resources.length === 0) return
    worker.addToRolePolicy(
      new iam.PolicyStatement({ actions: [...actions], resources, ...(conditions && { conditions }) }),
    )
  }
  allow(['secretsmanager:GetSecretValue'], arns(all, 'secretsmanager'))
  allow(['ssm:GetParameter'], arns(all, 'ssm'))
  const secrets = arns(writes, 'secretsmanager')
  allow(['secretsmanager:DescribeSecret'], secrets)
  allow(['secretsmanager:CreateSecret', 'secretsmanager:TagResource'], secrets, {
    StringEquals: { 'aws:RequestTag/setpoint:controller': name },
  })
  allow(['secretsmanager:PutSecretValue', 'secretsmanager:DeleteSecret'], secrets, {
    StringEquals: { 'aws:ResourceTag/setpoint:controller': name },
  })
  allow(
    [
      'ssm:PutParameter',
      'ssm:AddTagsToResource',
      'ssm:ListTagsForResource',
      // It tells the key of a parameter.
      'ssm:GetParameterHistory',
      'ssm:DeleteParameter',
    ],
    arns(writes, 'ssm'),
  )
  allowKeys(worker, keys, writes.length > 0)
}

type Service = 'secretsmanager' | 'ssm'

/** Whatever the namespace. */
function arnsOf(prefix: SecretPrefix, service: Service, stack: Stack): readonly string[] {
  const name = 'parameter' in prefix ? prefix.parameter : prefix.secretsManager
  if (('parameter' in prefix ? 'ssm' : 'secretsmanager') !== service) return []
  const resourceName = `${name.replaceAll('{namespace}', '*')}*`
  const where =
    service === 'ssm'
      ? { resource: 'parameter', arnFormat: ArnFormat.SLASH_RESOURCE_NAME }
      : { resource: 'secret', arnFormat: ArnFormat.COLON_RESOURCE_NAME }
  return [stack.formatArn({ service, resourceName, ...where })]
}

/** The services use the keys in the function's name, and only they may. */
function allowKeys(worker: ControlFunction, keys: readonly kms.IKey[], isWriter: boolean): void {
  if (keys.length === 0) return
  const { region } = Stack.of(worker)
  worker.addToRolePolicy(
    new iam.PolicyStatement({
      actions: ['kms:Decrypt', ...(isWriter ? ['kms:Encrypt', 'kms:GenerateDataKey'] : [])],
      resources: keys.map(({ keyArn }) => keyArn),
      conditions: {
        StringEquals: {
          'kms:ViaService': [`secretsmanager.${region}.amazonaws.com`, `ssm.${region}.amazonaws.com`],
        },
      },
    }),
  )
}
