import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { cached, fetchOnce, mustRun } from '../wire/cache.ts'
import type { Client } from './client.ts'

/** Go as it is installed, or where its own archive puts it. */
export const goProgram = existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : 'go'

/** One builder at a time, and behind everything else: a build takes minutes of a small machine. */
export const goEnvironment = { GOMAXPROCS: '1', GOFLAGS: '-p=1', GOTOOLCHAIN: 'local' }

/** Where the source of `PATH@VERSION` is, once it is here. */
export async function downloadModule(module: string): Promise<string> {
  const args = ['mod', 'download', '-json', module]
  const { code, stdout, stderr } = await runProgram(goProgram, args, { env: goEnvironment })
  if (code !== 0) throw new Error(`go mod download ${module} ended with ${code}: ${(stdout + stderr).slice(-500)}`)
  const { Dir } = JSON.parse(stdout) as { readonly Dir: string }
  return Dir
}

export interface ModuleBuild {
  /** `PATH@VERSION`. */
  readonly module: string
  /** What the program is to be called. */
  readonly name: string
}

/** From the module as it is, as `go install` wants the list of all its versions, which the proxy may not have. */
export async function buildModule(home: string, { module, name }: ModuleBuild): Promise<void> {
  await fetchOnce(home, async (directory) => {
    const source = `${directory}.source`
    try {
      cpSync(await downloadModule(module), source, { recursive: true })
      await mustRun('chmod', ['-R', 'u+w', source])
      mkdirSync(directory, { recursive: true })
      const how = { cwd: source, env: { ...goEnvironment, CGO_ENABLED: '0' } }
      const args = [goProgram, 'build', '-mod=mod', '-o', join(directory, name), '.']
      const { code, stdout, stderr } = await runProgram('nice', args, how)
      if (code !== 0) throw new Error(`go build ended with ${code}: ${(stdout + stderr).slice(-500)}`)
    } finally {
      rmSync(source, { recursive: true, force: true })
    }
  })
}

/** A program of a module of its own, below this directory. */
interface GoProgram {
  readonly name: string
  readonly version: string
  readonly module: string
}

function filesOf(source: string): readonly string[] {
  return readdirSync(source).filter((name) => /\.(go|mod|sum|yaml)$/.test(name))
}

/** Another source is another program. */
function homeOf(module: string, source: string): string {
  const hash = createHash('sha256')
  for (const name of filesOf(source)) hash.update(readFileSync(join(source, name)))
  return `clients-${module}-${hash.digest('hex').slice(0, 12)}`
}

/** The program of a package that the module names, by default of the module itself. */
async function build(home: string, source: string, program = '.'): Promise<void> {
  await fetchOnce(home, async (directory) => {
    mkdirSync(directory, { recursive: true })
    for (const name of filesOf(source)) copyFileSync(join(source, name), join(directory, name))
    const { code, stdout, stderr } = await runProgram('nice', [goProgram, 'build', '-o', 'clients', program], {
      cwd: directory,
      env: goEnvironment,
    })
    if (code !== 0) throw new Error(`go build ended with ${code}: ${(stdout + stderr).slice(-500)}`)
  })
}

interface Controller {
  readonly file: string
  /** Builds it into the cache, once. */
  fetch(): Promise<void>
}

/** A program that others made, in the versions of `go.mod` in a directory of this one. */
export function createController(directory: string, program: string): Controller {
  const source = join(root, 'test/clients', directory)
  const home = homeOf(directory, source)
  return { file: join(cached(home), 'clients'), fetch: () => build(home, source, program) }
}

function goClient({ name, version, module }: GoProgram): Client {
  const source = join(root, 'test/clients', module)
  const home = homeOf(module, source)
  return {
    name,
    version,
    fetch: () => build(home, source),
    run: (kubeconfig, directory) =>
      runProgram(join(cached(home), 'clients'), [name], { cwd: directory, env: { KUBECONFIG: kubeconfig } }),
  }
}

export const clientGo = goClient({ name: 'client-go', version: '0.37.2', module: 'go' })
export const controllerRuntime = goClient({ name: 'controller-runtime', version: '0.25.2', module: 'go' })
export const flux = goClient({ name: 'flux', version: 'fluxcd/pkg/ssa 0.76.0', module: 'flux' })
export const argo = goClient({ name: 'argo', version: 'gitops-engine of 2026-09-14', module: 'argo' })
