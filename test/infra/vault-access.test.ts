import { Stack } from 'aws-cdk-lib'
import { Key } from 'aws-cdk-lib/aws-kms'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeBundle } from '../../infra/bundling/bundle.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { bundledText } from './bundled-text.ts'
import { deployed, resourcesOf, unbundledApp, type Deployed } from './synthesized.ts'
import { longOnly } from '../support/strength.ts'

const reconcilers = 'test/infra/fixtures/vault.ts'

interface Statement {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
  readonly Condition?: object
}

/** The statements about secrets, by the role that has them. */
function statementsOf({ template }: Deployed): Readonly<Record<string, readonly Statement[]>> {
  const policies = Object.values(resourcesOf(template(), 'AWS::IAM::Policy')).map(({ Properties }) => Properties)
  const found = policies.map((policy) => {
    const { PolicyDocument: document, Roles: roles } = policy as {
      readonly PolicyDocument: { readonly Statement: readonly Statement[] }
      readonly Roles: readonly [{ readonly Ref: string }]
    }
    const about = document.Statement.filter(({ Action }) =>
      [Action].flat().some((one) => /^(secretsm|ssm|kms)/.test(one)),
    )
    return [roles[0].Ref.replace(/Role.*/, ''), about] as const
  })
  return Object.fromEntries(found.filter(([, about]) => about.length > 0))
}

const arn = (service: string, rest: string): object => ({
  'Fn::Join': [
    '',
    ['arn:', { Ref: 'AWS::Partition' }, `:${service}:`, { Ref: 'AWS::Region' }, ':', { Ref: 'AWS::AccountId' }, rest],
  ],
})
const made = arn('secretsmanager', ':secret:made/*/*')
const madeParameter = arn('ssm', ':parameter/made/*/*')

describe('a reconciler that declares secrets of AWS', () => {
  it('has the permissions for these names, and no other function has any', () => {
    const all = statementsOf(deployed({ reconcilers }))
    expect(all).toEqual({
      ShelvesFunction: [
        {
          Effect: 'Allow',
          Action: 'secretsmanager:GetSecretValue',
          Resource: [arn('secretsmanager', ':secret:shop/*/*'), made],
        },
        { Effect: 'Allow', Action: 'ssm:GetParameter', Resource: [arn('ssm', ':parameter/shop/*'), madeParameter] },
        { Effect: 'Allow', Action: 'secretsmanager:DescribeSecret', Resource: made },
        {
          Effect: 'Allow',
          Action: ['secretsmanager:CreateSecret', 'secretsmanager:TagResource'],
          Resource: made,
          Condition: { StringEquals: { 'aws:RequestTag/setpoint:controller': 'shelf' } },
        },
        {
          Effect: 'Allow',
          Action: ['secretsmanager:PutSecretValue', 'secretsmanager:DeleteSecret'],
          Resource: made,
          Condition: { StringEquals: { 'aws:ResourceTag/setpoint:controller': 'shelf' } },
        },
        {
          Effect: 'Allow',
          Action: [
            'ssm:PutParameter',
            'ssm:AddTagsToResource',
            'ssm:ListTagsForResource',
            'ssm:GetParameterHistory',
            'ssm:DeleteParameter',
          ],
          Resource: madeParameter,
        },
      ],
    })
  })

  it('may use the keys that are given, through these services alone', () => {
    const stack = new Stack(unbundledApp(), 'Test')
    const key = new Key(stack, 'Key')
    const { ShelvesFunction: all = [] } = statementsOf(deployed({ reconcilers }, { vaultKeys: [key] }, stack))
    expect(all.at(-1)).toMatchObject({
      Action: ['kms:Decrypt', 'kms:Encrypt', 'kms:GenerateDataKey'],
      Condition: { StringEquals: { 'kms:ViaService': [expect.anything(), expect.anything()] } },
    })
  })
})

describe('a reconciler that declares none', () => {
  it('has no permission, and no use for keys', () => {
    expect(statementsOf(deployed())).toEqual({})
    const stack = new Stack(unbundledApp(), 'Test')
    expect(() => deployed({}, { vaultKeys: [new Key(stack, 'Key')] }, stack)).toThrow(/declares no vault/)
  })

  it('has nothing of the clients in its bundle', longOnly, () => {
    using directory = temporaryDirectory('bundle-vault')
    const root = resolve(import.meta.dirname, '../..')
    const write = (vault?: string): string => {
      const out = join(directory.path, vault === undefined ? 'without' : 'with')
      mkdirSync(out)
      writeBundle(join(root, 'functions/reconcile.ts'), 'export const reconcilers = []\n', out, { vault })
      return bundledText(out)
    }
    expect(write()).not.toMatch(/GetSecretValue|GetParameter\b/)
    expect(write(join(root, 'shared/runtime/aws/vault.ts'))).toMatch(
      /GetSecretValue[^]*GetParameter|GetParameter[^]*GetSecretValue/,
    )
  })
})
