import { App, Stack, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { deployed } from './synthesized.ts'

interface Report {
  readonly pluginReports: readonly {
    readonly violations: readonly {
      readonly ruleName: string
      readonly violatingConstructs: readonly { readonly constructPath: string }[]
    }[]
  }[]
}

/** What cdk-nag's AwsSolutions pack, and CloudFormation's own checks, find in a stack. */
function findings(prepare: (stack: Stack) => void): readonly string[] {
  using directory = temporaryDirectory('nag')
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] }, outdir: directory.path })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  prepare(new Stack(app, 'Test'))
  try {
    app.synth()
  } catch (error) {
    // It is thrown for findings, which are in the report, too.
    if (!String(error).startsWith('ValidationFailed')) throw error
  }
  const report = join(directory.path, 'validation-report.json')
  if (!existsSync(report)) return []
  const { pluginReports } = JSON.parse(readFileSync(report, 'utf8')) as Report
  return pluginReports.flatMap(({ violations }) =>
    violations.flatMap(({ ruleName, violatingConstructs }) =>
      violatingConstructs.map(({ constructPath }) => `${ruleName} ${constructPath}`),
    ),
  )
}

it('cdk-nag finds nothing that is not argued where it stands', () => {
  expect(findings((stack) => deployed({ releases: 'Canary10Percent5Minutes' }, {}, stack))).toEqual([])
})

it('cdk-nag looks: a queue without TLS is found', () => {
  const found = findings((stack) => {
    const { controlPlane } = deployed({}, {}, stack)
    // Its policy is what makes it refuse plain HTTP.
    controlPlane.relay.failures.node.tryRemoveChild('Policy')
  })
  expect(found).toEqual(['AwsSolutions-SQS4 Test/ControlPlane/Relay/Failures/Resource'])
})
