import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { runProgram } from '../support/program.ts'
import { cached, fetchOnce } from '../wire/cache.ts'
import type { Client } from './client.ts'
import { runCommands, type Command } from './commands.ts'
import { downloadModule } from './go.ts'

/** Modules with definitions, and where these stand in them. */
const modules = [
  ['sigs.k8s.io/gateway-api@v1.3.0', 'config/crd/standard'],
  ['github.com/cert-manager/cert-manager@v1.17.0', 'deploy/crds'],
  ['github.com/crossplane/crossplane@v1.20.0', 'cluster/crds'],
] as const
const home = 'clients-crds-1.3.0-1.17.0-1.20.0'

/** Definitions that others wrote, with their rules in CEL: taken in whole, and held against objects. */
export const crds: Client = {
  name: 'crds',
  version: 'gateway-api 1.3.0, cert-manager 1.17.0, crossplane 1.20.0',
  fetch: async () => {
    if ((await findKubectls()).length === 0) throw new Error(noKubectl)
    await fetchOnce(home, async (directory) => {
      mkdirSync(directory, { recursive: true })
      for (const [module, folder] of modules)
        writeFileSync(join(directory, nameOf(module)), await definitionsIn(module, folder))
    })
  },
  run: async (kubeconfig) => {
    const kubectl = (await findKubectls()).at(-1)?.file ?? 'kubectl'
    const args = [`--kubeconfig=${kubeconfig}`]
    const taken = await runCommands(kubectl, commands(), { env: {}, args })
    if (taken.code !== 0) return taken
    const refused = await runProgram(kubectl, [...args, 'apply', '--server-side', '-f', '-'], { input: brokenRoute })
    const isTold = refused.code !== 0 && messages.every((message) => refused.stderr.includes(message))
    const line = `${isTold ? 'refused' : 'failed'}: a route that breaks three rules in CEL\n`
    return { ...refused, code: isTold ? 0 : 1, stdout: taken.stdout + line }
  },
}

function nameOf(module: string): string {
  return `${module.replaceAll(/[^a-z\d.]+/g, '-')}.yaml`
}

/** All files as one; lines of a chart's template are left out. */
async function definitionsIn(module: string, folder: string): Promise<string> {
  const source = await downloadModule(module)
  const files = readdirSync(join(source, folder)).filter((name) => name.endsWith('.yaml'))
  const texts = files.map((name) => readFileSync(join(source, folder, name), 'utf8'))
  return texts
    .map((text) =>
      text
        .split('\n')
        .filter((line) => !line.includes('{{'))
        .join('\n'),
    )
    .join('\n---\n')
}

function commands(): readonly Command[] {
  const verbose = '-v=8'
  return [
    ...modules.map(([module]) => ({ line: `apply --server-side -f ${join(cached(home), nameOf(module))}`, verbose })),
    { line: 'wait --for=condition=Established crd --all --timeout=60s', verbose },
    { line: 'apply --server-side -f -', input: objects, verbose },
    { line: 'get httproutes,providers,issuers', verbose },
    { line: 'explain httproute.spec.rules.matches.path', verbose },
    { line: 'delete -f - --timeout=60s', input: objects, verbose },
  ]
}

const objects = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: default}
spec:
  parentRefs: [{name: front}]
  rules:
    - matches: [{path: {type: PathPrefix, value: /shop}}]
      backendRefs: [{name: shop, port: 80}]
---
apiVersion: pkg.crossplane.io/v1
kind: Provider
metadata: {name: sql}
spec: {package: registry.example.com/provider-sql:v1}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: own, namespace: default}
spec: {selfSigned: {}}
`

const brokenRoute = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: broken, namespace: default}
spec:
  rules:
    - matches: [{path: {type: PathPrefix, value: a//b}}]
      filters:
        - {type: RequestRedirect, requestRedirect: {scheme: https}}
        - {type: URLRewrite, urlRewrite: {hostname: example.com}}
`

const messages: readonly string[] = [
  "value must be an absolute path and start with '/' when type one of ['Exact', 'PathPrefix']",
  "must not contain '//' when type one of ['Exact', 'PathPrefix']",
  'May specify either httpRouteFilterRequestRedirect or httpRouteFilterRequestRewrite, but not both',
]
