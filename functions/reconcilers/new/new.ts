import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readNames, usage, UsageError, type Names } from './names.ts'
import { addToList, filesOf } from './templates.ts'

/**
 * `npm run new -- <group>/<version>/<Kind>`: writes a reconciler with its kind, its test and an example, and puts it
 * into the list of those that run. What it writes passes `npm test` as it is. Nothing that is there is written over: it
 * refuses before it has written anything, with one line on stderr and exit code 1. `--help` prints the usage.
 */
const root = join(import.meta.dirname, '../../..')
const list = join(root, 'functions/reconcilers/own.ts')

function writeNew(names: Names): void {
  const files = filesOf(names)
  expectUnused(names, Object.keys(files))
  const added = addToList(readFileSync(list, 'utf8'), names)
  if (added === undefined)
    throw new UsageError('functions/reconcilers/own.ts has no list `ownReconcilers` to add to any more')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { flag: 'wx' })
  }
  writeFileSync(list, added)
  format([list, ...Object.keys(files)])
  console.log(summaryText(names, Object.keys(files)))
}

function expectUnused({ kind, file }: Names, paths: readonly string[]): void {
  const present = [dirname(paths[0] ?? ''), ...paths].find((path) => existsSync(join(root, path)))
  if (present !== undefined) throw new UsageError(`${present} is there already: nothing was written`)
  // Controllers, and their queues, are called after the kind.
  const kinds = new RegExp(`\\bkind: '${kind}'`, 'i')
  const others = globSync('functions/reconcilers/**/*.ts', { cwd: root })
  const holder = others.find((path) => !path.includes('/new/') && kinds.test(readFileSync(join(root, path), 'utf8')))
  if (holder !== undefined)
    throw new UsageError(`${holder} has a kind ${kind} already: nothing was written for ${file}`)
}

/** Long names make long lines. */
function format(paths: readonly string[]): void {
  const formatter = join(root, 'node_modules/oxfmt/bin/oxfmt')
  const { status, stderr } = spawnSync(process.execPath, [formatter, ...paths], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`oxfmt: ${stderr}`)
}

function summaryText({ file, kind }: Names, paths: readonly string[]): string {
  return `wrote
${paths.map((path) => `  ${path}`).join('\n')}
and added it to functions/reconcilers/own.ts. Next:

  npm test -- test/reconcilers/${file}
  npm start (again, if it runs), and kubectl apply -f examples/${file}.yaml

docs/guide.md goes on from here, to make a ${kind} what it is to be.`
}

try {
  const args = process.argv.slice(2)
  if (args.includes('--help') || args.includes('-h')) console.log(usage)
  else writeNew(readNames(args))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
