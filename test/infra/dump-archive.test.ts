import { App, Stack, Validations } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { AwsSolutionsChecks } from 'cdk-nag'
import { describe, expect, it } from 'vitest'
import { DumpArchive } from '../../infra/constructs/dump-archive.ts'
import { SetpointStack } from '../../infra/setpoint-stack.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { deployed, expectProperties, expectResource, resourcesOf, unbundledApp } from './synthesized.ts'
import { longOnly } from '../support/strength.ts'

interface Statement {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
}

function synthesized(): SetpointStack {
  const app = unbundledApp()
  return new SetpointStack(app, 'Test', { adminPrincipals: [], issuers: [], disposable: true })
}

/** What of S3 each function may do, by the beginning of its policy's name. */
function allowed(template: Template): Readonly<Record<string, readonly string[]>> {
  const policies = Object.entries(resourcesOf(template, 'AWS::IAM::Policy')).map(([id, { Properties }]) => {
    const { Statement } = Properties['PolicyDocument'] as { readonly Statement: readonly Statement[] }
    const actions = Statement.flatMap(({ Action }) => Action).filter((action) => action.startsWith('s3:'))
    return [/^[A-Z][a-z]+/.exec(id)?.[0] ?? id, actions.toSorted()] as const
  })
  return Object.fromEntries(policies.filter(([, actions]) => actions.length > 0))
}

describe('the bucket for dumps', () => {
  it('outlives the stack, is nobody else’s, and clears away uploads that nobody ends', longOnly, () => {
    const template = Template.fromStack(synthesized())
    // But for a first deployment that fails.
    expectResource(template, 'AWS::S3::Bucket', {
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    })
    expectProperties(template, 'AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
      LifecycleConfiguration: { Rules: [{ AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }] },
    })
  })

  it('is stored into by Jobs and cleared by policies, which know its name; nobody reads it', () => {
    const template = Template.fromStack(synthesized())
    expect(allowed(template)).toEqual({
      // That of policies shares the function of the control plane.
      Control: ['s3:DeleteObject', 's3:ListBucket'],
      Job: ['s3:AbortMultipartUpload', 's3:PutObject'],
    })
    const functions = JSON.stringify(resourcesOf(template, 'AWS::Lambda::Function'))
    expect(functions.match(/"BACKUP_ARCHIVE"/g)).toHaveLength(2)
  })

  it('keeps the rules of cdk-nag', longOnly, () => {
    using directory = temporaryDirectory('nag')
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, outdir: directory.path })
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
    const { stack, controllers } = deployed({}, {}, new Stack(app, 'Test'))
    const dumps = new DumpArchive(stack, 'Dumps')
    dumps.allowStoring(controllers.shelf.function)
    dumps.allowRemoving(controllers.lamp.function)
    expect(() => app.synth()).not.toThrow()
  })
})
