import { CfnOutput } from 'aws-cdk-lib'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { kubectlSetup } from '../../infra/constructs/kubectl-setup.ts'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { resolve } from './lambda/synthesized-code.ts'
import { deployed } from './synthesized.ts'

/** What the output says once CloudFormation has filled it in. */
function setup(issuers: readonly { readonly issuer: string; readonly audience: string }[]): string {
  const { stack, controlPlane, template } = deployed({ issuers })
  new CfnOutput(stack, 'KubectlSetup', { value: kubectlSetup(controlPlane) })
  const pseudo = [
    ['AWS::Region', 'eu-west-1'],
    ['AWS::AccountId', '123456789012'],
    ['AWS::URLSuffix', 'amazonaws.com'],
  ] as const
  const restApi = stack.getLogicalId(controlPlane.api.restApi.node.defaultChild as never)
  const stage = stack.getLogicalId(controlPlane.api.restApi.deploymentStage.node.defaultChild as never)
  const refs = new Map<string, string>([...pseudo, [restApi, 'abc123'], [stage, 'v1']])
  return resolve(template().findOutputs('KubectlSetup')['KubectlSetup']?.['Value'], refs)
}

interface Kubeconfig {
  readonly clusters: readonly { readonly cluster: { readonly server: string } }[]
  readonly users: readonly {
    readonly user: { readonly exec: { readonly command: string; readonly args: readonly string[] } }
  }[]
  readonly 'current-context': string
}

const [kubectl] = await findKubectls()

/** What kubectl makes of the commands, run in a shell as they are. */
async function kubeconfigOf(commands: string): Promise<Kubeconfig> {
  using directory = temporaryDirectory('kubeconfig')
  const KUBECONFIG = join(directory.path, 'config')
  const script = `kubectl() { '${kubectl?.file ?? ''}' "$@"; }\n${commands}`
  const { code, stderr } = await runProgram('sh', ['-c', script], { env: { KUBECONFIG } })
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return parse(readFileSync(KUBECONFIG, 'utf8')) as Kubeconfig
}

const issuer = 'https://0123.tokens.sts.global.api.aws'

describe.skipIf(kubectl === undefined)('the commands that set kubectl up', { meta: { skipped: noKubectl } }, () => {
  it('sign in by a presigned request, which needs no preparations', async () => {
    const { clusters, users, 'current-context': current } = await kubeconfigOf(setup([]))
    expect(clusters[0]?.cluster.server).toBe('https://abc123.execute-api.eu-west-1.amazonaws.com/v1/')
    expect(users[0]?.user.exec).toMatchObject({
      command: 'aws',
      args: ['eks', 'get-token', '--cluster-name=Test.eu-west-1.123456789012', '--region=eu-west-1', '--output=json'],
    })
    expect(current).toBe('Test')
  })

  it('sign in by a token of STS where the account issues them, which the AWS command line says as kubectl wants it', async () => {
    const { users } = await kubeconfigOf(setup([{ issuer, audience: 'setpoint' }]))
    const { args } = users[0]?.user.exec ?? { args: [] }
    expect(args.slice(0, 3)).toEqual(['sts', 'get-web-identity-token', '--audience=setpoint'])
    expect(args.at(-1)).toMatch(
      /^--query=\{apiVersion:`"client\.authentication\.k8s\.io\/v1"`,kind:.*,status:\{token:WebIdentityToken/,
    )
  })
})
