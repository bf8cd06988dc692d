import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAuthority } from '../support/client-certificate.ts'
import { root, startControlPlane } from '../support/control-plane-process.ts'
import { findKubectls, noKubectl } from '../support/kubectl.ts'
import { startProgram, type Ended } from '../support/program.ts'
import { cached, fetchOnce, mustRun } from '../wire/cache.ts'
import type { Client } from './client.ts'
import { runCommands, type Command } from './commands.ts'

const version = '9.13.3'
const home = `clients-oidc-provider-${version}`

/**
 * A provider of OpenID Connect that others made, and a control plane of its own that trusts it: kubectl with a token of
 * the provider may do what a binding says, and nobody else gets in.
 */
export const oidc: Client = {
  name: 'oidc',
  version: `oidc-provider ${version}`,
  fetch: async () => {
    if ((await findKubectls()).length === 0) throw new Error(noKubectl)
    await fetchOnce(home, async (directory) => {
      mkdirSync(directory, { recursive: true })
      const quietly = ['--no-audit', '--no-fund', '--ignore-scripts']
      await mustRun('npm', ['install', '--prefix', directory, ...quietly, `oidc-provider@${version}`])
    })
  },
  run: async (_kubeconfig, directory) => {
    const authority = createAuthority('provider authority')
    const { key, cert } = authority.issueServer()
    const files = { key: join(directory, 'key.pem'), cert: join(directory, 'cert.pem'), ca: join(directory, 'ca.pem') }
    for (const [name, text] of Object.entries({ key, cert, ca: authority.pem }))
      writeFileSync(files[name as keyof typeof files], text)
    const script = join(cached(home), 'oidc-provider.mjs')
    await mustRun('cp', [join(root, 'test/clients/node/oidc-provider.mjs'), script])
    await using provider = await startProgram(process.execPath, [script, files.key, files.cert, 'setpoint'])
    const [, issuer = '', token = ''] = await provider.says(/issuer (\S+) token (\S+) \./)
    const flags = ['--oidc-issuer-url', issuer, '--oidc-client-id', 'setpoint', '--oidc-ca-file', files.ca]
    await using plane = await startControlPlane({
      flags: [...flags, '--oidc-groups-claim', 'groups', '--oidc-username-prefix', 'oidc:'],
    })
    return await tryTokens(plane.kubeconfig, token, directory)
  },
}

async function tryTokens(kubeconfig: string, token: string, directory: string): Promise<Ended> {
  const kubectl = (await findKubectls()).at(-1)?.file ?? 'kubectl'
  const own = join(directory, 'oidc.kubeconfig')
  await mustRun('cp', [kubeconfig, own])
  const config = (file: string): readonly string[] => [
    `--kubeconfig=${file}`,
    `--cache-dir=${join(directory, 'cache')}`,
  ]
  await mustRun(kubectl, [`--kubeconfig=${own}`, 'config', 'set-credentials', 'setpoint', `--token=${token}`])
  const bound = await runCommands(kubectl, administrators, { env: {}, args: config(kubeconfig) })
  if (bound.code !== 0) return bound
  const allowed = await runCommands(kubectl, users, { env: {}, args: config(own) })
  if (allowed.code !== 0) return allowed
  const stdout = bound.stdout + allowed.stdout
  const beyond = await runCommands(kubectl, [{ line: 'get clusterroles' }], { env: {}, args: config(own) })
  const forged = `${token.slice(0, -8)}${token.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA'}`
  await mustRun(kubectl, [`--kubeconfig=${own}`, 'config', 'set-credentials', 'setpoint', `--token=${forged}`])
  const unknown = await runCommands(kubectl, [{ line: 'get configmaps' }], { env: {}, args: config(own) })
  const isRefused = beyond.stderr.includes('User "oidc:robot" cannot list resource "clusterroles"')
  const isUnknown = /must be logged in|Unauthorized/.test(unknown.stderr)
  const line = `${isRefused && isUnknown ? 'refused' : 'failed'}: what no binding allows, and a token with another signature\n`
  return {
    code: isRefused && isUnknown ? 0 : 1,
    signal: null,
    stdout: stdout + line,
    stderr: beyond.stderr + unknown.stderr,
  }
}

const administrators: readonly Command[] = [
  { line: 'create rolebinding robots --clusterrole=edit --group=robots -n default' },
]
const users: readonly Command[] = [
  { line: 'auth whoami' },
  { line: 'create configmap made --from-literal=a=1' },
  { line: 'get configmaps' },
  { line: 'delete configmap made' },
]
