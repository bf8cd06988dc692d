/**
 * `npm run build`: the packages as others install them, in `dist/` or a directory that is named: JavaScript, types and
 * source maps, because Node strips no types below node_modules. `npm pack ./dist/setpoint` or `npm publish` does the
 * rest. What an earlier build left there is replaced; a directory that holds anything else is refused.
 */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installable, type Manifest } from './manifest.ts'
import { findModules, nameCompiled, nameImports } from './modules.ts'
import { packages, type PackagePlan } from './packages.ts'
import { billOfMaterials } from './sbom.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const [directory = join(root, 'dist'), ...more] = process.argv.slice(2)
if (directory === '' || directory.startsWith('-') || more.length > 0)
  end('usage: npm run build -- [directory]', directory === '--help' ? 0 : 1)
if (!isReplaceable())
  end(`${directory} holds other things than an earlier build: name a directory that is new or empty`, 1)

rmSync(directory, { recursive: true, force: true })
const scratch = mkdtempSync(join(tmpdir(), 'setpoint-build-'))
try {
  compile()
  const owners = new Map<string, string>()
  for (const plan of packages) writePackage(plan, owners)
} finally {
  rmSync(scratch, { recursive: true })
}
console.log(`the packages are in ${packages.map(({ name }) => join(directory, name)).join(', ')}`)

function end(message: string, code: number): never {
  process.stdout.write(`${message}\n`)
  process.exit(code)
}

/** It goes with all that is in it. A checkout has development dependencies in its manifest, a package has none. */
function isReplaceable(): boolean {
  if (!existsSync(directory)) return true
  return readdirSync(directory).every((entry) => {
    const manifest = join(directory, entry, 'package.json')
    if (!packages.some(({ name }) => name === entry) || !existsSync(manifest)) return false
    const { name, devDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Partial<Manifest>
    return name === entry && devDependencies === undefined
  })
}

function compile(): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = ['--project', join(root, 'tsconfig.build.json'), '--outDir', scratch]
  const { status } = spawnSync(process.execPath, [tsc, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

/** Writes one package, and notes which modules are its own. */
function writePackage(plan: PackagePlan, owners: Map<string, string>): void {
  const { name, entries, programs, forwards = {} } = plan
  const modules = findModules(scratch, Object.values(entries), programs, new Set(owners.keys()))
  for (const path of modules.own) owners.set(path, name)
  const ownerElsewhere = (path: string): string | undefined => {
    const owner = owners.get(path)
    return owner === name ? undefined : owner
  }
  for (const path of modules.own) writeModule(path, join(directory, name), ownerElsewhere)
  for (const [entry, forwarded] of Object.entries(forwards))
    for (const extension of ['.js', '.d.ts'])
      writeFileSync(join(directory, name, `${entry}${extension}`), `export * from '${forwarded}'\n`)
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const manifest = installable(own, plan, modules.imported)
  writeFileSync(join(directory, name, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(directory, name, 'sbom.cdx.json'), billOfMaterials(manifest, join(root, 'package-lock.json')))
  for (const [folder, from] of Object.entries(plan.files ?? {}))
    cpSync(join(root, from), join(directory, name, folder), {
      recursive: true,
      filter: (file) => !file.endsWith('.md'),
    })
  for (const file of ['LICENSE', 'NOTICE']) copyFileSync(join(root, file), join(directory, name, file))
  writeFileSync(join(directory, name, 'CHANGELOG.md'), withoutLinks(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')))
  copyFileSync(join(import.meta.dirname, `${name}.md`), join(directory, name, 'README.md'))
}

/** A package has none of the documents that it links to. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1')
}

function writeModule(path: string, into: string, ownerElsewhere: (path: string) => string | undefined): void {
  mkdirSync(dirname(join(into, path)), { recursive: true })
  const named = (file: string): string => nameImports(readFileSync(join(scratch, file), 'utf8'), path, ownerElsewhere)
  writeFileSync(join(into, `${path}.js`), named(`${path}.js`))
  writeFileSync(join(into, `${path}.d.ts`), nameCompiled(named(`${path}.d.ts`)))
  copyFileSync(join(scratch, `${path}.js.map`), join(into, `${path}.js.map`))
}
