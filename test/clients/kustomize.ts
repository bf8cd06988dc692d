import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { startProgram, type Ended } from '../support/program.ts'
import { cached, fetchOnce, mustRun } from '../wire/cache.ts'
import type { Client } from './client.ts'
import { runCommands, type Command } from './commands.ts'
import { buildModule, downloadModule } from './go.ts'

const version = '1.9.6'
const sourceVersion = '1.9.0'
const path = 'github.com/fluxcd/kustomize-controller'
const home = `clients-kustomize-controller-${version}`
const definitionsHome = `clients-kustomize-definitions-${version}-${sourceVersion}`

/**
 * Flux's kustomize-controller itself, with its leader election: it fetches an artifact, builds it, applies it, waits by
 * kstatus, makes anew what was deleted, and prunes. What Flux's source-controller would say of the artifact, kubectl
 * says.
 */
export const kustomize: Client = {
  name: 'kustomize-controller',
  version,
  fetch: async () => {
    if ((await findKubectls()).length === 0) throw new Error(noKubectl)
    await fetchOnce(definitionsHome, async (directory) => {
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, 'definitions.yaml'), (await definitions()).join('\n---\n'))
    })
    const module = `${path}@v${version}`
    await buildModule(home, { module, name: 'kustomize-controller', unreplaced: `${path}/api` })
  },
  run: async (kubeconfig, directory) => {
    const kubectl = (await findKubectls()).at(-1)?.file ?? 'kubectl'
    const args = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(directory, 'kubectl')}`]
    const archive = await pack(directory)
    await using server = await serve(archive)
    const prepared = await runCommands(kubectl, preparing(server.url, archive), { env: {}, args })
    if (prepared.code !== 0) return prepared
    await using controller = await startProgram(join(cached(home), 'kustomize-controller'), flags, {
      cwd: directory,
      env: { KUBECONFIG: kubeconfig, RUNTIME_NAMESPACE: 'flux-system', TMPDIR: directory },
    })
    const worked = await runCommands(kubectl, working, { env: {}, args })
    const stdout = prepared.stdout + worked.stdout
    if (worked.code !== 0) return { ...worked, stdout, stderr: `${worked.stderr}${controller.stderr.slice(-2_000)}` }
    return { ...worked, stdout } satisfies Ended
  },
}

const flags = ['--watch-all-namespaces', '--enable-leader-election', '--metrics-addr=:0', '--health-addr=127.0.0.1:0']

async function definitions(): Promise<readonly string[]> {
  const own = await downloadModule(`${path}@v${version}`)
  const sources = await downloadModule(`github.com/fluxcd/source-controller@v${sourceVersion}`)
  const read = (module: string, name: string): string =>
    readFileSync(join(module, 'config/crd/bases', `${name}.yaml`), 'utf8')
  const names = ['buckets', 'externalartifacts', 'gitrepositories', 'ocirepositories']
  return [
    read(own, 'kustomize.toolkit.fluxcd.io_kustomizations'),
    ...names.map((name) => read(sources, `source.toolkit.fluxcd.io_${name}`)),
  ]
}

const shop = {
  'kustomization.yaml': 'resources: [shop.yaml]\nconfigMapGenerator: [{name: prices, literals: [apple=1]}]\n',
  'shop.yaml': [
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: opening}\ndata: {days: "6"}',
    'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: clerk}',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: safe}\nstringData: {code: "1234"}',
  ].join('\n---\n'),
}

/** The artifact as source-controller would pack it. */
async function pack(directory: string): Promise<Buffer> {
  const source = join(directory, 'shop')
  mkdirSync(source)
  for (const [name, text] of Object.entries(shop)) writeFileSync(join(source, name), text)
  const file = join(directory, 'shop.tar.gz')
  await mustRun('tar', ['-czf', file, '-C', source, '.'])
  return readFileSync(file)
}

async function serve(bytes: Buffer): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_, response) => response.end(bytes))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop.tar.gz`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const verbose = '-v=8'
const place = '-n flux-system'

function preparing(url: string, archive: Buffer): readonly Command[] {
  const digest = `sha256:${createHash('sha256').update(archive).digest('hex')}`
  const revision = `main@sha1:${createHash('sha1').update(archive).digest('hex')}`
  const [lastUpdateTime, size] = ['2026-01-01T00:00:00Z', archive.length]
  const artifact = { url, path: 'shop.tar.gz', revision, digest, size, lastUpdateTime }
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Succeeded',
    message: 'stored',
    lastTransitionTime: lastUpdateTime,
  }
  const status = JSON.stringify({ status: { observedGeneration: 1, artifact, conditions: [ready] } })
  return [
    { line: `apply --server-side -f ${join(cached(definitionsHome), 'definitions.yaml')}`, verbose },
    { line: 'wait --for=condition=Established crd --all --timeout=60s', verbose },
    { line: 'create namespace flux-system', verbose },
    { line: 'create namespace shop', verbose },
    { line: 'apply -f -', input: source, verbose },
    { line: `patch gitrepository shop ${place} --subresource=status --type=merge -p '${status}'`, verbose },
    { line: 'apply -f -', input: kustomization, verbose },
  ]
}

const source = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: shop, namespace: flux-system}
spec: {interval: 1h, url: https://example.com/shop}
`

const kustomization = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec:
  interval: 1h
  path: ./
  prune: true
  wait: true
  timeout: 1m
  targetNamespace: shop
  sourceRef: {kind: GitRepository, name: shop}
`

const working: readonly Command[] = [
  { line: `wait --for=condition=Ready kustomization/shop ${place} --timeout=120s`, verbose },
  { line: 'get -n shop configmap/opening serviceaccount/clerk secret/safe', verbose },
  { line: `get lease ${place} kustomize-controller-leader-election`, verbose },
  { line: 'delete -n shop configmap opening', verbose },
  { line: `annotate kustomization shop ${place} reconcile.fluxcd.io/requestedAt=now`, verbose },
  {
    line: `wait --for=jsonpath='{.status.lastHandledReconcileAt}'=now kustomization/shop ${place} --timeout=120s`,
    verbose,
  },
  { line: 'get -n shop configmap/opening', verbose },
  { line: `get events ${place} --field-selector involvedObject.name=shop`, verbose },
  { line: `delete kustomization shop ${place} --timeout=120s`, verbose },
  { line: 'wait --for=delete -n shop configmap/opening secret/safe --timeout=60s', verbose },
]
