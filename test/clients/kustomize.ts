import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { eventually } from '../support/eventually.ts'
import { createKubectl, findKubectls, noKubectl, type Kubectl } from '../support/kubectl.ts'
import { startProgram } from '../support/program.ts'
import { mustRun } from '../wire/cache.ts'
import type { Client } from './client.ts'
import { createController, downloadModule } from './go.ts'
import { tellSteps } from './steps.ts'

const version = '1.9.6'
const controller = `github.com/fluxcd/kustomize-controller@v${version}`
/** The one that the controller is built with. */
const sources = 'github.com/fluxcd/source-controller@v1.9.0'
const files = join(root, 'test/clients/kustomize')
const built = createController('kustomize', 'github.com/fluxcd/kustomize-controller')

/**
 * Flux's controller itself, as it is deployed: a process with the token of its own ServiceAccount and the rights that
 * it brings. It applies in the name of another ServiceAccount what a source holds. The source is an object whose status
 * names an archive, which is served here as source-controller serves it.
 */
export const kustomize: Client = {
  name: 'kustomize',
  version: `kustomize-controller ${version}`,
  fetch: async () => {
    if ((await findKubectls()).length === 0) throw new Error(noKubectl)
    for (const module of [controller, sources]) await downloadModule(module)
    await built.fetch()
  },
  run: async (kubeconfig, directory) => {
    const [binary] = await findKubectls()
    if (binary === undefined) throw new Error(noKubectl)
    const kubectl = createKubectl(binary, { kubeconfig, cacheDirectory: join(directory, 'cache') })
    await using archives = await serveArchives(directory)
    const own = await prepareController(kubectl, binary.file, { kubeconfig, directory })
    const env = { KUBECONFIG: own, RUNTIME_NAMESPACE: 'flux-system', TMPDIR: directory }
    await using process = await startProgram(built.file, flags, { cwd: directory, env })
    const shop: Shop = { kubectl, publish: (number, edits) => publish(kubectl, archives, { number, edits }) }
    return await tellSteps(steps, shop, () => `${process.stderr}${process.stdout}`)
  },
}

const flags = ['--watch-all-namespaces', '--metrics-addr=0', '--health-addr=0', '--log-encoding=console']

interface Access {
  readonly kubeconfig: string
  readonly directory: string
}

/** Applies what the controller needs. Resolves with the kubeconfig of its own ServiceAccount. */
async function prepareController(kubectl: Kubectl, file: string, { kubeconfig, directory }: Access): Promise<string> {
  for (const module of [controller, sources])
    await kubectl.ok(`apply --server-side -f '${join(await downloadModule(module), 'config/crd/bases')}'`)
  await kubectl.ok('wait --for=condition=Established crd --all --timeout=60s')
  await kubectl.ok(`apply -f '${join(await downloadModule(controller), 'config/rbac/role.yaml')}'`)
  for (const name of ['controller.yaml', 'shop.yaml']) await kubectl.ok(`apply -f '${join(files, 'manifests', name)}'`)
  const token = await kubectl.ok('create token kustomize-controller -n flux-system')
  const own = join(directory, 'controller.kubeconfig')
  cpSync(kubeconfig, own)
  await mustRun(file, [`--kubeconfig=${own}`, 'config', 'set-credentials', 'setpoint', `--token=${token.trim()}`])
  return own
}

interface Archives extends AsyncDisposable {
  readonly url: string
  readonly directory: string
}

/** What is in a directory, by its name. */
async function serveArchives(home: string): Promise<Archives> {
  const directory = join(home, 'archives')
  mkdirSync(directory)
  const server = createServer((request, response) => {
    try {
      response.end(readFileSync(join(directory, new URL(request.url ?? '', 'http://archives').pathname)))
    } catch {
      response.writeHead(404).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    directory,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Files of the shop, as a revision has them in place of what is in the tree. */
type Edits = Readonly<Record<string, (text: string) => string>>

interface Shop {
  readonly kubectl: Kubectl
  /** Makes an archive of the tree with these edits, and names it in the status of the source. */
  publish(number: number, edits: Edits): Promise<void>
}

async function publish(
  kubectl: Kubectl,
  { url, directory }: Archives,
  { number, edits }: { readonly number: number; readonly edits: Edits },
): Promise<void> {
  const tree = join(directory, String(number))
  cpSync(join(files, 'shop'), join(tree, 'shop'), { recursive: true })
  for (const [name, edit] of Object.entries(edits)) {
    const file = join(tree, 'shop', name)
    writeFileSync(file, edit(readFileSync(file, 'utf8')))
  }
  const archive = `${number}.tar.gz`
  await mustRun('tar', ['-C', tree, '-czf', join(directory, archive), 'shop'])
  const digest = createHash('sha256')
    .update(readFileSync(join(directory, archive)))
    .digest('hex')
  const artifact = {
    path: archive,
    url: `${url}/${archive}`,
    revision: revision(number),
    digest: `sha256:${digest}`,
    lastUpdateTime: '2026-01-01T00:00:00Z',
  }
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Succeeded',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const status = JSON.stringify({ status: { artifact, conditions: [ready] } })
  await kubectl.ok(`patch gitrepository shop -n flux-system --subresource=status --type=merge -p '${status}'`)
}

function revision(number: number): string {
  return `main@sha1:${String(number).repeat(40)}`
}

const steps = {
  'applies a revision in the name of a ServiceAccount, and is Ready': async ({ kubectl, publish: tell }: Shop) => {
    await tell(1, {})
    await untilApplied(kubectl, 1)
    await expectShop(kubectl, ['configmap/settings-', 'secret/keys', 'stand.clients.setpoint.dev/corner'])
    await expectColor(kubectl, 'red')
    const applied = await kubectl.json('get stand corner -n kustomize-shop --show-managed-fields')
    const managers = applied.metadata.managedFields.map((entry: { readonly manager: string }) => entry.manager)
    expectEqual(managers, ['kustomize-controller'])
    const { status } = await kubectl.json(shop)
    expectEqual(status.inventory.entries.length, 5)
  },
  'mends drift: what was changed, and what was deleted': async ({ kubectl }: Shop) => {
    await kubectl.ok(`patch stand corner -n kustomize-shop --type=merge -p '{"spec":{"color":"blue"}}'`)
    await kubectl.ok('delete secret keys -n kustomize-shop')
    await eventually(async () => {
      await expectColor(kubectl, 'red')
      await kubectl.ok('get secret keys -n kustomize-shop')
    })
  },
  'waits for the health of what it applies': async ({ kubectl, publish: tell }: Shop) => {
    await report(kubectl, 'False')
    await tell(2, { 'stand.yaml': (text) => `${text}---\n${second}` })
    await eventually(() => kubectl.ok('get stand second -n kustomize-shop'))
    const { status } = await kubectl.json(shop)
    expectEqual([status.lastAttemptedRevision, status.lastAppliedRevision], [revision(2), revision(1)])
    await report(kubectl, 'True')
    await untilApplied(kubectl, 2)
  },
  'prunes what is not in the source any more': async ({ kubectl, publish: tell }: Shop) => {
    const blue = (text: string): string => text.replace(', keys.yaml', '').replace('color=red', 'color=blue')
    const [before = ''] = await namesIn(kubectl, 'configmap')
    await tell(3, { 'kustomization.yaml': blue })
    await untilApplied(kubectl, 3)
    await expectShop(kubectl, ['configmap/settings-', 'stand.clients.setpoint.dev/corner'])
    await expectNot(kubectl, [before, 'secret/keys', 'stand.clients.setpoint.dev/second'])
  },
  'is refused what its ServiceAccount may not do, and says so': async ({ kubectl, publish: tell }: Shop) => {
    await tell(4, { 'namespace.yaml': (text) => `${text}---\n${takeover}` })
    await kubectl.ok(`wait ${object} --for=condition=Ready=False --timeout=60s`)
    const { status } = await kubectl.json(shop)
    const { message } = status.conditions.find(({ type }: { readonly type: string }) => type === 'Ready')
    if (!/deployer.*cannot (patch|create).*clusterrolebindings/.test(message)) throw new Error(`it says ${message}`)
    await tell(5, {})
    await untilApplied(kubectl, 5)
    const events = await kubectl.ok(`events --for ${object.replace(' -n', ' --namespace')}`)
    if (!/ReconciliationSucceeded/.test(events)) throw new Error(`its events are ${events}`)
  },
  'takes all with it when it is deleted, by its finalizer': async ({ kubectl }: Shop) => {
    const { metadata } = await kubectl.json(shop)
    expectEqual(metadata.finalizers, ['finalizers.fluxcd.io'])
    await kubectl.ok(`delete ${object} --timeout=60s`)
    await kubectl.ok('wait --for=delete namespace/kustomize-shop --timeout=60s')
    await kubectl.fails('get crd stands.clients.setpoint.dev')
  },
}

const object = 'kustomization/shop -n flux-system'
const shop = `get ${object}`

const second = `apiVersion: clients.setpoint.dev/v1
kind: Stand
metadata: { name: second }
spec: { color: red }
`

const takeover = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: takeover }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin }
subjects: [{ kind: ServiceAccount, name: deployer, namespace: flux-system }]
`

/** Longer than the controller waits before it tries again. */
async function untilApplied(kubectl: Kubectl, number: number): Promise<void> {
  await eventually(async () => {
    const { status } = await kubectl.json(shop)
    expectEqual(status?.lastAppliedRevision, revision(number))
  }, 120_000)
  await kubectl.ok(`wait ${object} --for=condition=Ready --timeout=60s`)
}

async function report(kubectl: Kubectl, ready: 'True' | 'False'): Promise<void> {
  const condition = {
    type: 'Ready',
    status: ready,
    reason: 'Told',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }
  const status = JSON.stringify({ status: { conditions: [condition] } })
  await kubectl.ok(`patch stand corner -n kustomize-shop --subresource=status --type=merge -p '${status}'`)
}

async function namesIn(kubectl: Kubectl, kinds: string): Promise<readonly string[]> {
  const told = await kubectl.ok(`get ${kinds} -n kustomize-shop -l kustomize.toolkit.fluxcd.io/name=shop -o name`)
  return told.split('\n').filter((name) => name !== '')
}

async function expectShop(kubectl: Kubectl, wanted: readonly string[]): Promise<void> {
  const found = await namesIn(kubectl, 'configmaps,secrets,stands')
  const missing = wanted.filter((start) => !found.some((name) => name.startsWith(start)))
  if (missing.length > 0) throw new Error(`${missing.join(', ')} is not there, but ${found.join(', ')}`)
}

async function expectNot(kubectl: Kubectl, unwanted: readonly string[]): Promise<void> {
  const found = await namesIn(kubectl, 'configmaps,secrets,stands')
  const left = unwanted.filter((name) => found.includes(name))
  if (left.length > 0) throw new Error(`${left.join(', ')} is still there`)
}

async function expectColor(kubectl: Kubectl, color: string): Promise<void> {
  const { spec } = await kubectl.json('get stand corner -n kustomize-shop')
  expectEqual(spec.color, color)
}

function expectEqual(found: unknown, wanted: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (a !== b) throw new Error(`${a} was found where ${b} was to be`)
}
