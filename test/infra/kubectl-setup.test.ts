import { CfnOutput } from 'aws-cdk-lib'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
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

describe.skipIf(kubectl === undefined)('a token', { meta: { skipped: noKubectl } }, () => {
  let known: Promise<Kubeconfig> | undefined

  /** Signs in as kubectl does; how often the AWS command line was started by then. */
  async function openHome() {
    const { users } = await (known ??= kubeconfigOf(setup([])))
    const { command = '', args = [] } = users[0]?.user.exec ?? {}
    const directory = temporaryDirectory('home')
    const home = directory.path
    const bin = join(home, 'bin')
    mkdirSync(bin)
    const configured = join(home, '.aws')
    mkdirSync(configured)
    const log = join(home, 'log')
    const aws = `#!/bin/sh\n[ "$AWS_PROFILE" = nobody ] && exit 3\necho "$*" >>'${log}'\necho "token of $AWS_PROFILE"\n`
    writeFileSync(join(bin, 'aws'), aws, { mode: 0o700 })
    const cache = join(home, '.kube/cache/setpoint')
    return {
      cache,
      aws: configured,
      signIn: (AWS_PROFILE: string, HOME = home) =>
        runProgram(command, [...args], { env: { HOME, AWS_PROFILE, PATH: `${bin}:${process.env['PATH'] ?? ''}` } }),
      starts: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0),
      files: () => (existsSync(cache) ? readdirSync(cache) : []),
      [Symbol.dispose]: () => directory[Symbol.dispose](),
    }
  }

  it('is kept, so that the AWS command line is started once for a session', async () => {
    using home = await openHome()
    for (let i = 0; i < 3; i++) expect(await home.signIn('a')).toMatchObject({ code: 0, stdout: 'token of a' })
    expect(home.starts()).toBe(1)
  })

  it('is kept where nobody else can read it, and no part of one is', async () => {
    using home = await openHome()
    await home.signIn('a')
    const [file = ''] = home.files()
    expect(home.files()).toHaveLength(1)
    expect(statSync(join(home.cache, file)).mode & 0o777).toBe(0o600)
    expect(statSync(home.cache).mode & 0o777).toBe(0o700)
  })

  it('is that of the profile', async () => {
    using home = await openHome()
    await home.signIn('a')
    expect(await home.signIn('b')).toMatchObject({ stdout: 'token of b' })
    expect(await home.signIn('a')).toMatchObject({ stdout: 'token of a' })
    expect(home.starts()).toBe(2)
  })

  it('is asked for again after ten minutes', async () => {
    using home = await openHome()
    await home.signIn('a')
    const [file = ''] = home.files()
    const atSeconds = Date.now() / 1_000 - 11 * 60
    utimesSync(join(home.cache, file), atSeconds, atSeconds)
    await home.signIn('a')
    await home.signIn('a')
    expect(home.starts()).toBe(2)
  })

  it.each(['credentials', 'config'])('is asked for again when the file %s of AWS has changed', async (name) => {
    using home = await openHome()
    const file = join(home.aws, name)
    writeFileSync(file, '')
    const beforeSeconds = Date.now() / 1_000 - 60
    utimesSync(file, beforeSeconds, beforeSeconds)
    await home.signIn('a')
    await home.signIn('a')
    expect(home.starts()).toBe(1)
    const afterSeconds = Date.now() / 1_000 + 2
    utimesSync(file, afterSeconds, afterSeconds)
    expect(await home.signIn('a')).toMatchObject({ code: 0, stdout: 'token of a' })
    expect(home.starts()).toBe(2)
  })

  it('that there is none of is none, and the reason is that of the AWS command line', async () => {
    using home = await openHome()
    expect(await home.signIn('nobody')).toMatchObject({ code: 3, stdout: '' })
    expect(home.files()).toEqual([])
  })

  it('is told where none can be kept', async () => {
    using home = await openHome()
    expect(await home.signIn('a', '/dev/null')).toMatchObject({ code: 0, stdout: 'token of a' })
  })
})

describe.skipIf(kubectl === undefined)('the commands that set kubectl up', { meta: { skipped: noKubectl } }, () => {
  it('sign in by a presigned request, which needs no preparations, in a context that no stack elsewhere has', async () => {
    const { clusters, users, 'current-context': current } = await kubeconfigOf(setup([]))
    expect(clusters[0]?.cluster.server).toBe('https://abc123.execute-api.eu-west-1.amazonaws.com/v1/')
    expect(users[0]?.user.exec).toMatchObject({
      command: 'sh',
    })
    expect(users[0]?.user.exec.args.slice(2)).toEqual([
      'aws',
      'eks',
      'get-token',
      '--cluster-name=Test.eu-west-1.123456789012',
      '--region=eu-west-1',
      '--output=json',
    ])
    expect(current).toBe('Test.eu-west-1.123456789012')
  })

  it('sign in by a token of STS where the account issues them, which the AWS command line says as kubectl wants it', async () => {
    const { users } = await kubeconfigOf(setup([{ issuer, audience: 'setpoint' }]))
    const { args } = users[0]?.user.exec ?? { args: [] }
    expect(args.slice(2, 6)).toEqual(['aws', 'sts', 'get-web-identity-token', '--audience=setpoint'])
    expect(args.at(-1)).toMatch(
      /^--query=\{apiVersion:`"client\.authentication\.k8s\.io\/v1"`,kind:.*,status:\{token:WebIdentityToken/,
    )
  })
})
