import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { buildSync } from 'esbuild'

/** What a package has of the compiled tree. Paths are relative to its root. */
export interface Modules {
  /** Paths without extension. */
  readonly own: ReadonlySet<string>
  /** Packages of others that its code imports by name. */
  readonly imported: readonly string[]
}

/**
 * The modules that entries and programs reach, and for entries what their types reach as well, without those that other
 * packages have.
 */
export function findModules(
  root: string,
  entries: readonly string[],
  programs: readonly string[],
  others: ReadonlySet<string>,
): Modules {
  const { inputs } = buildSync({
    absWorkingDir: root,
    entryPoints: [...entries, ...programs].map((path) => `${path}.js`),
    bundle: true,
    packages: 'external',
    // What bundles a function puts the list of reconcilers, traces and the vault in their places.
    external: ['#reconcilers', '#tracing', '#vault'],
    format: 'esm',
    platform: 'node',
    target: 'node22',
    outdir: 'nowhere',
    write: false,
    metafile: true,
    logLevel: 'silent',
  }).metafile
  const reached = Object.keys(inputs).map((file) => file.replace(/\.js$/, ''))
  const own = new Set([...reached, ...findTypes(root, entries)].filter((path) => !others.has(path)))
  const imports = [...own].flatMap((path) => inputs[`${path}.js`]?.imports ?? [])
  const names = imports.filter(({ external, path }) => external === true && !/^(node:|#)/.test(path))
  return { own, imported: [...new Set(names.map(({ path }) => packageOf(path)))].sort() }
}

/** Modules that declarations import, some of which have no code. */
function findTypes(root: string, entries: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [...entries]
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue
    found.add(path)
    const text = readFileSync(join(root, `${path}.d.ts`), 'utf8')
    const from = posix.dirname(path)
    for (const [, specifier = ''] of text.matchAll(/['"](\.{1,2}\/[^'"]+)\.(?:js|ts)['"]/g))
      open.push(posix.join(from, specifier))
  }
  return found
}

/** Of a package or one of its subpaths. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** A relative import, as the compiler writes it: what stands before its path, its quote, its path, its extension. */
const relativeImport = /((?:from|import)\s*\(?\s*)(['"])(\.{1,2}\/[^'"]+)\.(js|ts)\2/g

/** The text of a module or its declarations with what it imports from other packages named as those export it. */
export function nameImports(text: string, path: string, ownerOf: (path: string) => string | undefined): string {
  return text.replaceAll(relativeImport, (whole, before: string, quote: string, specifier: string) => {
    const target = posix.join(posix.dirname(path), specifier)
    const owner = ownerOf(target)
    return owner === undefined ? whole : `${before}${quote}${owner}/internal/${target}${quote}`
  })
}

/** Declarations that name modules as they are run. The compiler does this for modules, and not for declarations. */
export function nameCompiled(declarations: string): string {
  return declarations.replaceAll(relativeImport, '$1$2$3.js$2')
}
