import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { cached, fetchOnce } from '../wire/cache.ts'
import type { Client } from './client.ts'

const source = join(root, 'test/clients/go')

/** Go as it is installed, or where its own archive puts it. */
export const goProgram = existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : 'go'

/** One builder at a time, and behind everything else: a build takes minutes of a small machine. */
export const goEnvironment = { GOMAXPROCS: '1', GOFLAGS: '-p=1', GOTOOLCHAIN: 'local' }

function files(): readonly string[] {
  return readdirSync(source).filter((name) => /\.(go|mod|sum)$/.test(name))
}

/** Another source is another program. */
function home(): string {
  const hash = createHash('sha256')
  for (const name of files()) hash.update(readFileSync(join(source, name)))
  return `clients-go-${hash.digest('hex').slice(0, 12)}`
}

async function build(): Promise<void> {
  await fetchOnce(home(), async (directory) => {
    mkdirSync(directory, { recursive: true })
    for (const name of files()) copyFileSync(join(source, name), join(directory, name))
    const { code, stdout, stderr } = await runProgram('nice', [goProgram, 'build', '-o', 'clients', '.'], {
      cwd: directory,
      env: goEnvironment,
    })
    if (code !== 0) throw new Error(`go build ended with ${code}: ${(stdout + stderr).slice(-500)}`)
  })
}

function goClient(name: string, version: string): Client {
  return {
    name,
    version,
    fetch: build,
    run: (kubeconfig, directory) =>
      runProgram(join(cached(home()), 'clients'), [name], { cwd: directory, env: { KUBECONFIG: kubeconfig } }),
  }
}

export const clientGo = goClient('client-go', '0.37.2')
export const controllerRuntime = goClient('controller-runtime', '0.25.2')
