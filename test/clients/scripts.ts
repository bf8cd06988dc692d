import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { cached, fetchOnce, mustRun } from '../wire/cache.ts'
import { fetchPython, pythonOf } from '../wire/python.ts'
import type { Client } from './client.ts'

/** Clients of languages that need no build: packages of a registry, and a script over them. */

interface PythonPackages {
  readonly home: string
  readonly packages: readonly string[]
}

const newest: PythonPackages = {
  home: 'clients-python-37.0.2-1.45.2',
  packages: ['kubernetes==37.0.2', 'kopf==1.45.2'],
}
/** One that many programs still have. */
const older: PythonPackages = { home: 'clients-python-31.0.0', packages: ['kubernetes==31.0.0'] }

function pythonClient(name: string, version: string, script: string, { home, packages } = newest): Client {
  return {
    name,
    version,
    fetch: () => fetchPython(home, packages),
    run: (kubeconfig, directory) =>
      runProgram(pythonOf(home), [join(root, 'test/clients/python', script)], {
        cwd: directory,
        env: { KUBECONFIG: kubeconfig },
      }),
  }
}

export const pythonKubernetes = pythonClient('python', '37.0.2', 'kubernetes_client.py')
export const olderPython = pythonClient('python-31', '31.0.0', 'kubernetes_client.py', older)
export const kopf = pythonClient('kopf', '1.45.2', 'kopf_peers.py')

const nodePackage = '@kubernetes/client-node@2.0.1'
const nodeHome = 'clients-node-2.0.1'

/** Packages are looked for from where the script is. */
function nodeClient(name: string, version: string, script: string, args: readonly string[] = []): Client {
  return {
    name,
    version,
    fetch: () =>
      fetchOnce(nodeHome, async (directory) => {
        mkdirSync(directory, { recursive: true })
        const quietly = ['--no-audit', '--no-fund', '--ignore-scripts']
        await mustRun('npm', ['install', '--prefix', directory, ...quietly, nodePackage])
      }),
    run: async (kubeconfig) => {
      const copy = join(cached(nodeHome), script)
      await mustRun('cp', [join(root, 'test/clients/node', script), copy])
      return runProgram(process.execPath, [copy, ...args], { env: { KUBECONFIG: kubeconfig } })
    },
  }
}

export const clientNode = nodeClient('node', '2.0.1', 'client-node.mjs')

/** The matrix of `test/vectors`, of a control plane that runs. */
export const rbac = nodeClient('rbac', 'Kubernetes 1.32.3 as recorded', 'rbac.mjs', [
  join(root, 'test/vectors/rbac-oracle/policy.json'),
  join(root, 'test/vectors/rbac-vectors.jsonl.gz'),
])
