import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKubectl, findKubectls, noKubectl, type Kubectl } from '../support/kubectl.ts'
import { runProgram } from '../support/program.ts'
import { aws, runCdk, type Account, type Person } from './account.ts'
import { patientKubectl } from './patient-kubectl.ts'
import { expect, until } from './steps.ts'

/** A stack, deployed. */
export interface Plane {
  readonly stack: string
  readonly outputs: Readonly<Record<string, string>>
  /** As the administrator, by what the output `KubectlSetup` says. */
  readonly kubectl: Kubectl
  /** Of the same. */
  readonly kubeconfig: string
}

export async function bootstrap(account: Account, directory: string): Promise<void> {
  const { code, stdout, stderr } = await runCdk(
    account,
    ['bootstrap', `aws://${account.id}/${account.region}`],
    directory,
  )
  expect(code === 0, stdout + stderr)
}

/** `cdk deploy` of an assembly. What it said, if it refuses. */
export async function tryDeploy(
  account: Account,
  assembly: string,
): Promise<{ readonly refused?: string; readonly outputs: Plane['outputs'] }> {
  const file = join(assembly, 'outputs.json')
  const options = ['--method=direct', '--require-approval=never', `--outputs-file=${file}`, `--app=${assembly}`]
  const { code, stdout, stderr } = await runCdk(account, ['deploy', ...options], assembly)
  if (code !== 0) return { refused: reasonsIn(stdout + stderr), outputs: {} }
  const [outputs = {}] = Object.values(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Plane['outputs']>)
  return { outputs }
}

/** Of all that it prints, what failed. */
function reasonsIn(said: string): string {
  const [, reasons = said.slice(-2_000)] = /(Failed resources:.*|❌.*)/s.exec(said) ?? []
  return reasons
}

export async function deploy(account: Account, assembly: string): Promise<Plane['outputs']> {
  const { refused, outputs } = await tryDeploy(account, assembly)
  expect(refused === undefined, refused ?? '')
  return outputs
}

export async function destroy(account: Account, assembly: string): Promise<void> {
  const { code, stdout, stderr } = await runCdk(account, ['destroy', '--force', `--app=${assembly}`], assembly)
  expect(code === 0, stdout + stderr)
}

export async function statusOf(account: Account, stack: string): Promise<string> {
  const { Stacks } = (await aws(account, ['cloudformation', 'describe-stacks', `--stack-name=${stack}`])) as {
    readonly Stacks: readonly { readonly StackStatus: string }[]
  }
  return Stacks[0]?.StackStatus ?? ''
}

export interface Deployed {
  readonly LogicalResourceId: string
  readonly PhysicalResourceId: string
  readonly ResourceType: string
}

export async function resourcesOf(account: Account, stack: string): Promise<readonly Deployed[]> {
  const listing = ['cloudformation', 'list-stack-resources', `--stack-name=${stack}`]
  return ((await aws(account, listing)) as { readonly StackResourceSummaries: readonly Deployed[] })
    .StackResourceSummaries
}

/**
 * Runs the output `KubectlSetup` in a shell, as a person does. Then the addresses are the emulator's, if there is one,
 * because that of the output is AWS's, and the credentials stand in the kubeconfig, because two people use it.
 */
export async function connect(
  account: Account,
  { stack, outputs }: Pick<Plane, 'stack' | 'outputs'>,
  directory: string,
): Promise<Plane> {
  const [binary] = await findKubectls()
  if (binary === undefined) throw new Error(noKubectl)
  const kubeconfig = join(directory, `${stack}.kubeconfig`)
  const cacheDirectory = join(directory, `${stack}.cache`)
  mkdirSync(cacheDirectory)
  const setup = outputs['KubectlSetup'] ?? ''
  const { code, stderr } = await runProgram('sh', ['-c', setup], { env: { KUBECONFIG: kubeconfig } })
  expect(code === 0, stderr)
  const kubectl = createKubectl(binary, { kubeconfig, cacheDirectory })
  const context = (await kubectl.ok('config current-context')).trim()
  await kubectl.ok(`config set-credentials ${context} ${variables(account.admin, directory)}`)
  const asStranger = setup.replace(`set-credentials ${context} `, 'set-credentials stranger ')
  await runProgram('sh', ['-c', asStranger], { env: { KUBECONFIG: kubeconfig } })
  if (account.ministack !== undefined) {
    const [, api = ''] = /https:\/\/([^.]+)\.execute-api\./.exec(setup) ?? []
    const { endpoint, authorityFile } = account.ministack
    const place = `--server=${endpoint}/_aws/execute-api/${api}/v1 --certificate-authority=${authorityFile}`
    await kubectl.ok(`config set-cluster ${context} ${place}`)
  }
  await kubectl.ok(`config set-credentials stranger ${variables(account.stranger, directory)}`)
  return { stack, outputs, kubectl: patientKubectl(kubectl), kubeconfig }
}

/** In the emulator tokens are kept in the directory of the run: those of an earlier one are of other keys. */
function variables(person: Person, home: string): string {
  const isOurs = person.AWS_ACCESS_KEY_ID === undefined
  const all: Readonly<Record<string, string>> = isOurs ? {} : { ...person, HOME: home }
  return Object.entries(all)
    .map(([name, value]) => `--exec-env=${name}=${value}`)
    .join(' ')
}

/** That of a stack nothing is left that costs or acts. */
export async function isGone(account: Account, stack: string): Promise<void> {
  const lists = [
    ['lambda', 'list-functions'],
    ['sqs', 'list-queues'],
    ['dynamodb', 'list-tables'],
    ['logs', 'describe-log-groups'],
    ['lambda', 'list-event-source-mappings'],
  ]
  for (const args of lists)
    await until(
      async () => JSON.stringify((await aws(account, args)) ?? {}),
      (left) => !left.includes(`${stack}-`),
      120,
    )
}

/** A watch, as `kubectl wait` opens one, would give its answer when it ends: MiniStack streams nothing. */
export async function untilTrue({ kubectl }: Plane, condition: string, name: string): Promise<void> {
  const path = `{.status.conditions[?(@.type=="${condition}")].status}`
  await until(
    () => kubectl.run(`get ${name} -o 'jsonpath=${path}'`),
    ({ stdout }) => stdout === 'True',
  )
}

/** Deletes, and looks until it is gone, for the same reason. */
export async function remove({ kubectl }: Plane, what: string): Promise<void> {
  await kubectl.ok(`delete ${what} --wait=false`)
  await until(
    () => kubectl.ok(`get ${what.replace(' --all', '')} -o name --ignore-not-found`),
    (left) => left === '',
  )
}
