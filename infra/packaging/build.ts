/**
 * `npm run build`: the package as others install it, in `dist/` or a directory that is named: JavaScript and its types,
 * because Node strips no types below node_modules. `npm pack ./dist` or `npm publish ./dist` does the rest. What an
 * earlier build left there is replaced; a directory that holds anything else is refused.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installable, type Manifest } from './manifest.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const [directory = join(root, 'dist'), ...more] = process.argv.slice(2)
if (directory === '' || directory.startsWith('-') || more.length > 0)
  end('usage: npm run build -- [directory]', directory === '--help' ? 0 : 1)
if (!isReplaceable())
  end(`${directory} holds other things than an earlier build: name a directory that is new or empty`, 1)

rmSync(directory, { recursive: true, force: true })
compile()
for (const file of files('**/*.d.ts')) rewrite(file)
// Whoever installs the package brings reconcilers of their own.
for (const path of ['reconcilers', 'reconcilers.js', 'reconcilers.d.ts'])
  rmSync(join(directory, 'functions', path), { recursive: true, force: true })
for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md']) copyFileSync(join(root, file), join(directory, file))
writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
console.log(`the package is in ${directory}`)

function end(message: string, code: number): never {
  process.stdout.write(`${message}\n`)
  process.exit(code)
}

/** It goes with all that is in it. A checkout has development dependencies in its manifest, a package has none. */
function isReplaceable(): boolean {
  if (!existsSync(directory) || readdirSync(directory).length === 0) return true
  const found = join(directory, 'package.json')
  if (!existsSync(found)) return false
  const { name, devDependencies } = JSON.parse(readFileSync(found, 'utf8')) as Partial<Manifest>
  return name === 'setpoint' && devDependencies === undefined
}

function compile(): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = ['--project', join(root, 'tsconfig.build.json'), '--outDir', directory]
  const { status } = spawnSync(process.execPath, [tsc, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

function files(pattern: string): readonly string[] {
  return globSync(pattern, { cwd: directory }).map((file) => join(directory, file))
}

/** The compiler rewrites what modules import, but not what declarations do. */
function rewrite(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/(from |import\()(['"]\.[^'"]*)\.ts(['"])/g, '$1$2.js$3'))
}

function manifest(): Manifest {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  return installable(
    own,
    files('**/*.js').map((file) => readFileSync(file, 'utf8')),
  )
}
