import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { OperatingError } from '../../../shared/index.ts'
import { readNames, UsageError, type Names } from '../../reconcilers/new/names.ts'
import { completeManifest, filesOfApp, type AppManifest } from './templates.ts'

/**
 * `setpoint init [group/version/Kind]`: writes a repository into the working directory, or into one that is there the
 * folder of another kind. A package.json that is there gets what it lacks, and becomes one of ES modules; nothing else
 * that is there is written over: the command refuses before it has written anything.
 */
export async function runInit(args: readonly string[]): Promise<void> {
  const [named = 'example.dev/v1/Greeting', ...more] = args
  const names = readKind([named, ...more])
  const isThere = existsSync(listPath)
  if (isThere && args.length === 0) throw new OperatingError('BAD_REQUEST', `${listPath} is there already: ${oneMore}`)
  const files = Object.entries(filesOfApp(names)).filter(([path]) => !isThere || path.startsWith(`${names.file}/`))
  const paths = files.map(([path]) => path)
  const present = paths.find((path) => existsSync(path)) ?? findFile(paths.map(dirname))
  if (present !== undefined) throw new OperatingError('BAD_REQUEST', `${present} is there already: nothing was written`)
  const found = isThere ? {} : readManifest()
  const manifest = isThere ? undefined : completeManifest(found, basename(resolve('.')))
  try {
    for (const [path, text] of files) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text, { flag: 'wx' })
    }
    if (manifest !== undefined) writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`)
  } catch (cause) {
    throw new OperatingError('UNAVAILABLE', `cannot write here: ${(cause as Error).message}`, { cause })
  }
  process.stdout.write(isThere ? tellLines(names, paths) : tellNext(names, paths, found))
}

const listPath = 'reconcilers.ts'
const oneMore = 'nothing was written. For another kind type setpoint init example.dev/v1/DnsRecord'

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

function tellNext({ file, kind }: Names, paths: readonly string[], { type = 'module' }: AppManifest): string {
  const replaced = `
"type" in package.json was ${JSON.stringify(type)} and is "module" now: a .js file with require needs the name .cjs.
`
  return `wrote
${paths.map((path) => `  ${path}\n`).join('')}  package.json
${type === 'module' ? '' : replaced}
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

/** What is left to the person, whose files these are. */
function tellLines({ file, kind, variable }: Names, paths: readonly string[]): string {
  const deploy = 'deploy/app.ts'
  const aws = `
for AWS, in ${deploy}:

  new Controller(stack, '${kind}Controller', { controlPlane, reconciler: '${kind.toLowerCase()}' })
`
  return `wrote
${paths.map((path) => `  ${path}\n`).join('')}
Next, in ${listPath}, this line, and ${variable}Reconciler in the list:

  import { ${variable}Reconciler } from './${file}/reconciler.ts'
${existsSync(deploy) ? aws : ''}
and while npm run dev runs, in a second terminal:

  export KUBECONFIG=$PWD/.setpoint/kubeconfig
  kubectl apply -f ${file}/example.yaml
  kubectl wait --for=condition=Ready ${kind.toLowerCase()}/example
`
}
