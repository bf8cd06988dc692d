import { Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { InterfaceVpcEndpoint } from 'aws-cdk-lib/aws-ec2'
import { Key } from 'aws-cdk-lib/aws-kms'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { ControlPlaneProps } from '../../infra/constructs/control-plane.ts'
import { SetpointStack, type SetpointStackProps } from '../../infra/setpoint-stack.ts'
import { admin, deployed, unbundledApp } from '../infra/synthesized.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { onPeer } from './endpoints.ts'
import { cfnLint } from './moto.ts'

const { endpoint: python, ...options } = onPeer(cfnLint)
const directory = temporaryDirectory('templates')
afterAll(() => directory[Symbol.dispose]())

/** What is not looked at. */
const ignored = {
  // The CDK says what waits for what where a reference says so already. It does no harm.
  W3005: 'dependency already enforced',
}

interface Finding {
  readonly Rule: { readonly Id: string }
  readonly Location: { readonly Path: readonly (string | number)[] | null }
  readonly Message: string
}

/** Errors and warnings about a template, each with its place. */
async function findings(template: object): Promise<readonly string[]> {
  const file = join(directory.path, 'template.json')
  writeFileSync(file, JSON.stringify(template))
  const main = 'import sys; from cfnlint.runner import main; sys.exit(main())'
  const flags = ['--format', 'json', '--ignore-checks', ...Object.keys(ignored), '--regions', 'us-east-1']
  const { stdout, stderr } = await runProgram(python, ['-c', main, ...flags, '--template', file])
  if (!stdout.startsWith('[')) throw new Error(`cfn-lint says: ${stdout}${stderr}`)
  return (JSON.parse(stdout) as readonly Finding[]).map(
    ({ Rule, Location, Message }) => `${Rule.Id} ${(Location.Path ?? []).join('.')}: ${Message}`,
  )
}

function ofProject(props: Partial<SetpointStackProps>): Stack {
  const usual = { adminPrincipals: [admin], issuers: [], disposable: false }
  return new SetpointStack(unbundledApp(), 'Setpoint-dev', { ...usual, ...props })
}

function ofApp(propsIn: (stack: Stack) => Partial<ControlPlaneProps>): Stack {
  const stack = new Stack(unbundledApp(), 'Test')
  return deployed(propsIn(stack), { queues: 2, assumes: [admin] }, stack).stack
}

const arn = (service: string, rest: string): string => `arn:aws:${service}:eu-west-1:123456789012:${rest}`
const id = '11111111-2222-3333-4444-555555555555'

const stacks: Readonly<Record<string, () => Stack>> = {
  'the stack of the project': () => ofProject({}),

  'the stack of the project with all that -c can say': () =>
    ofProject({
      disposable: true,
      alarmEmail: 'me@example.com',
      sharedConcurrency: 40,
      reserveConcurrency: true,
      relaysPerShard: 2,
      releases: 'Canary10Percent5Minutes',
      keepIndex: 'changes',
      issuers: [{ issuer: 'https://a.tokens.sts.global.api.aws', audience: 'setpoint' }],
      databases: {
        subnetGroup: 'databases',
        securityGroups: ['sg-12345678'],
        vpcId: 'vpc-12345678',
        subnetIds: ['subnet-12345678', 'subnet-23456789'],
      },
    }),

  'an app with a key and a name of its own': () =>
    ofApp((stack) => ({
      encryptionKey: new Key(stack, 'Key'),
      domainName: 'api.example.com',
      certificate: Certificate.fromCertificateArn(stack, 'Certificate', arn('acm', `certificate/${id}`)),
      webAclArn: arn('wafv2', `regional/webacl/a/${id}`),
      deletionProtection: true,
      ticksAtOnce: 8,
      releases: 'Linear10PercentEvery1Minute',
      traces: { adot: {} },
      tracing: false,
      audit: 'on',
    })),

  'an app whose API is private': () =>
    ofApp((stack) => {
      const endpoint = { vpcEndpointId: 'vpce-12345678', port: 443 }
      return {
        vpcEndpoints: [InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(stack, 'Endpoint', endpoint)],
        cloudWatchRole: false,
        alarms: false,
      }
    }),
}

describe('cfn-lint finds nothing in', options, () => {
  it.each(Object.keys(stacks))('%s', async (name) => {
    expect(await findings(Template.fromStack((stacks[name] as () => Stack)()).toJSON())).toEqual([])
  })

  it('these, and looks: a queue that hides messages for too long is found', async () => {
    const queue = { Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout: 43_201 } }
    expect(await findings({ Resources: { Queue: queue } })).toEqual([
      expect.stringMatching(/^E3034 Resources.Queue.Properties.VisibilityTimeout: /),
    ])
  })
})
