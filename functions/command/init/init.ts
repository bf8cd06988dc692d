import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { OperatingError } from '../../../shared/index.ts'
import { readNames, UsageError, type Names } from '../../reconcilers/new/names.ts'
import { completeManifest, filesOfApp, type AppManifest } from './templates.ts'

/**
 * `setpoint init [group/version/Kind]`: writes a repository into the working directory. A package.json that is there
 * gets what it lacks; nothing else that is there is written over: the command refuses before it has written anything.
 */
export async function runInit([named = 'example.dev/v1/Greeting', ...more]: readonly string[]): Promise<void> {
  const names = readKind([named, ...more])
  const files = filesOfApp(names)
  const present = Object.keys(files).find((path) => existsSync(path)) ?? findFile(Object.keys(files).map(dirname))
  if (present !== undefined) throw new OperatingError('BAD_REQUEST', `${present} is there already: nothing was written`)
  const manifest = completeManifest(readManifest(), basename(resolve('.')))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text, { flag: 'wx' })
    }
    writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
  } catch (cause) {
    throw new OperatingError('UNAVAILABLE', `cannot write here: ${(cause as Error).message}`, { cause })
  }
  process.stdout.write(tellNext(names, Object.keys(files)))
}

function readKind(args: readonly string[]): Names {
  try {
    return readNames(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const [why] = error.message.split('\nusage:')
    const hint = why?.startsWith('usage') === true ? '' : `${why}: `
    throw new OperatingError('BAD_REQUEST', `${hint}type setpoint init example.dev/v1/DnsRecord`)
  }
}

/** A file where a directory is to be. */
function findFile(directories: readonly string[]): string | undefined {
  return directories.find((path) => existsSync(path) && !statSync(path).isDirectory())
}

function readManifest(): AppManifest {
  if (!existsSync('package.json')) return {}
  const manifest = parseManifest(readFileSync('package.json', 'utf8'))
  if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) return manifest
  throw new OperatingError('BAD_REQUEST', 'package.json holds no JSON object: nothing was written')
}

function parseManifest(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function tellNext({ file, kind }: Names, paths: readonly string[]): string {
  return `wrote
${paths.map((path) => `  ${path}\n`).join('')}  package.json

Next:

  npm run dev                          # a control plane with your reconciler, at https://127.0.0.1:8443

and in a second terminal:

  export KUBECONFIG=$PWD/.setpoint/kubeconfig
  kubectl apply -f ${file}/example.yaml
  kubectl wait --for=condition=Ready ${kind.toLowerCase()}/example

and for the test, the types and AWS:

  npm install
  npm test
`
}
