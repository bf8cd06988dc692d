import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { cached, fetchOnce } from '../wire/cache.ts'
import type { Client } from './client.ts'
import { runCommands } from './commands.ts'
import { goEnvironment, goProgram } from './go.ts'

const version = '3.22.0'
const home = `clients-helm-${version}`
const chart = join(root, 'test/clients/helm/chart')

/** Helm, built from its module: a chart with a definition, a ServiceAccount, a Role and hooks. */
export const helm: Client = {
  name: 'helm',
  version,
  fetch: () =>
    fetchOnce(home, async (directory) => {
      mkdirSync(directory, { recursive: true })
      const { code, stdout, stderr } = await runProgram(
        'nice',
        [goProgram, 'install', `helm.sh/helm/v3/cmd/helm@v${version}`],
        { env: { ...goEnvironment, GOBIN: directory } },
      )
      if (code !== 0) throw new Error(`go install ended with ${code}: ${(stdout + stderr).slice(-500)}`)
    }),
  run: (kubeconfig, directory) =>
    runCommands(
      join(cached(home), 'helm'),
      [
        `install shop ${chart} --wait --timeout 60s --namespace shops --create-namespace`,
        'status shop --namespace shops',
        `upgrade shop ${chart} --set color=blue --wait --timeout 60s --namespace shops`,
        'rollback shop 1 --wait --timeout 60s --namespace shops',
        'history shop --namespace shops',
        'get manifest shop --namespace shops',
        'uninstall shop --wait --timeout 60s --namespace shops',
      ].map((line) => ({ line, verbose: '--debug' })),
      {
        env: {
          KUBECONFIG: kubeconfig,
          HELM_CACHE_HOME: directory,
          HELM_CONFIG_HOME: directory,
          HELM_DATA_HOME: directory,
        },
      },
    ),
}
