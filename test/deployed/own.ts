import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { packages } from '../../infra/packaging/packages.ts'
import { root } from '../support/control-plane-process.ts'
import { mustRun } from '../wire/cache.ts'
import { runProgram } from '../support/program.ts'
import { aws, type Account } from './account.ts'
import { adaptAssembly } from './assembly.ts'
import { connect, deploy, destroy, isGone, remove, statusOf, tryDeploy, untilTrue, type Plane } from './plane.ts'
import { keepSecrets } from './secrets.ts'
import { expect, step, until } from './steps.ts'

/** An app that has the packed packages and nothing else of ours, and its stack. */
interface OwnApp {
  readonly app: string
  readonly outputs: Plane['outputs']
}

/** While the stack of the project is used: packing takes the processor, and a new stack its first minute. */
export async function deployOwn(account: Account, directory: string): Promise<OwnApp> {
  const top = join(directory, 'own')
  // As deep as in the tree: its reconcilers import the example from where it is.
  const app = join(top, 'test', 'deployed', 'app')
  await step('own app: packs the packages and puts them into an app', () => install(directory, top))
  const both = await step('own app: synthesizes two Controllers', () => synthesize(account, app, 'both'))
  const outputs = await step('own app: cdk deploy', () => deploy(account, both))
  return { app, outputs }
}

export async function runOwn(account: Account, directory: string, { app, outputs }: OwnApp): Promise<void> {
  console.log('The stack of an app with the packed packages')
  const plane = await connect(account, { stack: 'Own', outputs }, directory)
  await use(plane)
  await step('answers kubectl setpoint, from the packed package', () => askPlugin(plane, app))
  await takeRoles(account, plane)
  await keepSecrets(account, plane)

  const one = await synthesize(account, app, 'one')
  await step('refuses to take a Controller away that an object needs, and goes on', async () => {
    const { refused = 'it did not' } = await tryDeploy(account, one)
    expect(refused.includes('its finalizer'), refused)
    expect(refused.includes('default/first'), refused)
    const status = await statusOf(account, plane.stack)
    expect(status === 'UPDATE_ROLLBACK_COMPLETE', status)
    await countTo(plane, 3)
  })
  await step('takes it away when the object is gone', async () => {
    await remove(plane, 'counters --all')
    await deploy(account, one)
    await greets(plane, 'after')
  })
  await step('cdk destroy', () => destroy(account, one))
  await step('nothing is left of it', () => isGone(account, plane.stack))
}

/**
 * Our packages as they are packed. What they depend on is taken from the tree, in the versions that their manifests
 * name.
 */
async function install(directory: string, top: string): Promise<void> {
  const dist = join(directory, 'dist')
  const modules = join(top, 'node_modules')
  await mustRun(process.execPath, [join(root, 'infra/packaging/build.ts'), dist])
  mkdirSync(modules, { recursive: true })
  for (const { name } of packages) {
    await mustRun('npm', ['pack', '--silent', join(dist, name), '--pack-destination', directory])
    const [tarball = ''] = readdirSync(directory).filter((file) => file.endsWith('.tgz'))
    mkdirSync(join(modules, name))
    const file = join(directory, tarball)
    await mustRun('tar', ['-xzf', file, '-C', join(modules, name), '--strip-components=1'])
    rmSync(file)
  }
  const ours = new Set<string>(packages.map(({ name }) => name))
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!ours.has(name)) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  for (const one of ['test/deployed/app', 'examples/greeting'])
    cpSync(join(root, one), join(top, one), { recursive: true })
  writeFileSync(join(top, 'package.json'), JSON.stringify({ name: 'own', private: true, type: 'module' }))
}

async function synthesize(account: Account, app: string, list: string): Promise<string> {
  const outdir = join(app, `out-${list}`)
  const context = JSON.stringify({ list: `${list}.ts`, admin: account.adminArn, tenant: tenantArn(account) })
  const env = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: context, AWS_REGION: account.region }
  const { code, stderr } = await runProgram(process.execPath, ['app.ts'], { cwd: app, env })
  expect(code === 0, stderr)
  return adaptAssembly(account, [outdir, `${outdir}-adapted`])
}

async function use(plane: Plane): Promise<void> {
  const { kubectl } = plane
  await step('has its kinds after the first tick', () =>
    until(
      () => kubectl.run('api-resources --api-group=example.dev -o name'),
      ({ stdout }) => stdout.includes('counters') && stdout.includes('greetings'),
    ),
  )
  await step('runs both reconcilers', async () => {
    await greets(plane, 'world')
    await countTo(plane, 2)
  })
  await step('restores a child that somebody deletes', async () => {
    await kubectl.ok('delete configmap world')
    await until(
      () => kubectl.run('get configmap world'),
      ({ code }) => code === 0,
    )
  })
}

/** The command as kubectl finds it: a program of this name in PATH. */
async function askPlugin({ kubeconfig }: Plane, app: string): Promise<void> {
  const bin = join(app, 'bin')
  const home = join(app, '..', '..', '..', 'node_modules', 'setpoint')
  const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { readonly bin: PluginBin }
  mkdirSync(bin)
  symlinkSync(join(home, manifest.bin['kubectl-setpoint']), join(bin, 'kubectl-setpoint'))
  chmodSync(join(bin, 'kubectl-setpoint'), 0o755)
  const env = { KUBECONFIG: kubeconfig, PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter) }
  const answers = [
    ['explain greeting/world', /Ready/],
    ['runs counter/first', /done|again/],
    ['get-queue', /^NAME +WAITING +OLDEST +OF\n.+\.fifo +\d+/],
    ['get-timers', /^NAMESPACE +NAME +OBJECT +DUE|no object waits/],
    ['get-budgets', /^retries +Retries +10\/s, 100 at once +counted in the table$/m],
    ['doctor', /least privilege/],
    ['reconcile --all Greeting', /annotated/],
  ] as const
  for (const [line, expected] of answers) {
    await until(
      () => runProgram('kubectl', ['setpoint', ...line.split(' ')], { env, cwd: bin }),
      ({ code, stdout }) => code === 0 && expected.test(stdout),
    )
  }
}

interface PluginBin {
  readonly 'kubectl-setpoint': string
}

/** Whose trust policy wants to be told the namespace. */
export const tenantName = 'SetpointDeployedTenant'

function tenantArn({ id }: Account): string {
  return `arn:aws:iam::${id}:role/${tenantName}`
}

async function takeRoles(account: Account, { kubectl }: Plane): Promise<void> {
  const trust = {
    Effect: 'Allow',
    Principal: { AWS: `arn:aws:iam::${account.id}:root` },
    Action: ['sts:AssumeRole', 'sts:TagSession'],
    Condition: { StringEquals: { 'sts:ExternalId': 'setpoint:default' } },
  }
  const document = `--assume-role-policy-document=${JSON.stringify({ Version: '2012-10-17', Statement: [trust] })}`
  await aws(account, ['iam', 'create-role', `--role-name=${tenantName}`, document])
  const count = (namespace: string): Promise<unknown> => {
    const metadata = { name: 'by-role', namespace }
    const spec = { to: 1, byRole: true }
    return kubectl.apply(JSON.stringify({ apiVersion: 'example.dev/v1', kind: 'Counter', metadata, spec }))
  }
  const reads = (namespace: string) => () => kubectl.json(`get counter by-role --namespace=${namespace}`)
  const annotate = (namespace: string) =>
    kubectl.ok(`annotate namespace ${namespace} setpoint.dev/role-arn=${tenantArn(account)}`)
  await step('takes the role that a namespace names', async () => {
    await annotate('default')
    await count('default')
    await until(reads('default'), ({ status }) => String(status?.keyId).startsWith('ASIA'))
  })
  await step('does not take it for another namespace, though that one names it', async () => {
    await kubectl.ok('create namespace other')
    await annotate('other')
    await count('other')
    const seen = await until(reads('other'), ({ status }) =>
      JSON.stringify(status ?? {}).includes('may not be assumed'),
    )
    expect(seen.status?.keyId === undefined, 'it was taken')
    // To wait is a watch, which MiniStack answers when it ends.
    await kubectl.ok('delete namespace other --wait=false')
  })
}

async function greets(plane: Plane, name: string): Promise<void> {
  const { kubectl } = plane
  const spec = { name }
  await kubectl.apply(JSON.stringify({ apiVersion: 'example.dev/v1', kind: 'Greeting', metadata: { name }, spec }))
  await untilTrue(plane, 'Ready', `greeting/${name}`)
  const made = await kubectl.ok(`get configmap ${name} -o jsonpath={.data.text}`)
  expect(made === `Hello, ${name}!`, made)
}

async function countTo({ kubectl }: Plane, to: number): Promise<void> {
  const metadata = { name: 'first' }
  await kubectl.apply(JSON.stringify({ apiVersion: 'example.dev/v1', kind: 'Counter', metadata, spec: { to } }))
  await until(
    () => kubectl.json('get counter first'),
    ({ status }) => status?.counted === to,
  )
}
