import { readdirSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { runProgram, startProgram, type Ended, type Program } from './program.ts'

/** A kubectl on this machine. */
export interface KubectlBinary {
  readonly file: string
  /** Of version 1. */
  readonly minor: number
}

/** Where the Google Cloud SDK keeps kubectl in several versions, beside what stands on PATH. */
const knownDirectories = ['/usr/lib/google-cloud-sdk/bin', '/opt/google-cloud-sdk/bin']

/** One kubectl for each minor version found, newest first; those from before 1.28 are not promised anything. */
export async function findKubectls(): Promise<readonly KubectlBinary[]> {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), ...knownDirectories]
  const files = new Set(directories.flatMap(kubectlsIn))
  const found = await Promise.all([...files].map(async (file) => ({ file, minor: await minorOf(file) })))
  const byMinor = new Map(found.filter(({ minor }) => minor >= 28).map((binary) => [binary.minor, binary]))
  return [...byMinor.values()].sort((a, b) => b.minor - a.minor)
}

export const noKubectl = 'no kubectl from 1.28 on PATH or in the Google Cloud SDK'

/** A version in its name goes last: of one minor version, such a file is preferred to a launcher of several. */
function kubectlsIn(directory: string): readonly string[] {
  try {
    const names = readdirSync(directory).filter((name) => /^kubectl(\.1\.\d+)?$/.test(name))
    return names.sort().map((name) => realpathSync(join(directory, name)))
  } catch {
    return []
  }
}

async function minorOf(file: string): Promise<number> {
  const named = /\.1\.(\d+)$/.exec(file)?.[1]
  if (named !== undefined) return Number(named)
  const { stdout } = await runProgram(file, ['version', '--client', '--output=json'])
  return Number(/"gitVersion": "v1\.(\d+)/.exec(stdout)?.[1] ?? 0)
}

export interface KubectlOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** kubectl as a person would call it: one line, with words in single quotes where they hold spaces. */
export interface Kubectl {
  run(line: string, options?: KubectlOptions): Promise<Ended>
  /** What it printed. Throws unless it ends with 0. */
  ok(line: string, options?: KubectlOptions): Promise<string>
  /** What it complained of. Throws unless it ends with 1. */
  fails(line: string, options?: KubectlOptions): Promise<string>
  /** `apply -f -`, as `ok`. */
  apply(manifest: string): Promise<string>
  /** `get -o json`, parsed. */
  json(line: string): Promise<Json>
  /** For commands that do not end by themselves. */
  start(line: string): Promise<Program>
}

// oxlint-disable-next-line typescript/no-explicit-any -- kubectl's output is only compared
type Json = any

/** The same kubectl for one server. What it caches goes into the directory. */
export function createKubectl(
  { file }: KubectlBinary,
  { kubeconfig, cacheDirectory }: { readonly kubeconfig: string; readonly cacheDirectory: string },
): Kubectl {
  const common = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${cacheDirectory}`]
  const argsOf = (line: string): readonly string[] => [...common, ...words(line)]
  // A kubectl that ends in a moment need not collect its memory.
  const lean = { GOGC: 'off', GOMEMLIMIT: '1GiB', GOMAXPROCS: '1' }
  const env = { KUBECONFIG: undefined, KUBERNETES_SERVICE_HOST: undefined, ...lean }

  const run: Kubectl['run'] = (line, options = {}) =>
    runProgram(file, argsOf(line), { ...options, env: { ...env, ...options.env } })

  const ending = async (code: number, line: string, options?: KubectlOptions): Promise<Ended> => {
    const ended = await run(line, options)
    if (ended.code === code) return ended
    throw new Error(`kubectl ${line}: exit code ${ended.code}, not ${code}\n${ended.stdout}${ended.stderr}`)
  }
  const ok: Kubectl['ok'] = async (line, options) => (await ending(0, line, options)).stdout

  return {
    run,
    ok,
    fails: async (line, options) => (await ending(1, line, options)).stderr,
    apply: (manifest) => ok('apply -f -', { input: manifest }),
    json: async (line) => JSON.parse(await ok(`${line} -o json`)),
    start: (line) => startProgram(file, argsOf(line), { env }),
  }
}

/** As a shell splits it, as far as single quotes go. */
function words(line: string): readonly string[] {
  return (line.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''))
}
