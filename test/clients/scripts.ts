import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { cached, fetchOnce, mustRun } from '../wire/cache.ts'
import { fetchPython, pythonOf } from '../wire/python.ts'
import type { Client } from './client.ts'

/** Clients of languages that need no build: packages of a registry, and a script over them. */

const pythonPackages = ['kubernetes==37.0.2', 'kopf==1.45.2']
const pythonHome = 'clients-python-37.0.2-1.45.2'

function pythonClient(name: string, version: string, script: string): Client {
  return {
    name,
    version,
    fetch: () => fetchPython(pythonHome, pythonPackages),
    run: (kubeconfig, directory) =>
      runProgram(pythonOf(pythonHome), [join(root, 'test/clients/python', script)], {
        cwd: directory,
        env: { KUBECONFIG: kubeconfig },
      }),
  }
}

export const pythonKubernetes = pythonClient('python', '37.0.2', 'kubernetes_client.py')
export const kopf = pythonClient('kopf', '1.45.2', 'kopf_peers.py')

const nodePackage = '@kubernetes/client-node@2.0.1'
const nodeHome = 'clients-node-2.0.1'

export const clientNode: Client = {
  name: 'node',
  version: '2.0.1',
  fetch: () =>
    fetchOnce(nodeHome, async (directory) => {
      mkdirSync(directory, { recursive: true })
      await mustRun('npm', [
        'install',
        '--prefix',
        directory,
        '--no-audit',
        '--no-fund',
        '--ignore-scripts',
        nodePackage,
      ])
    }),
  // Packages are looked for from where the script is.
  run: async (kubeconfig) => {
    const script = join(cached(nodeHome), 'client-node.mjs')
    await mustRun('cp', [join(root, 'test/clients/node/client-node.mjs'), script])
    return runProgram(process.execPath, [script], { env: { KUBECONFIG: kubeconfig } })
  },
}
