import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { buildSync, type BuildOptions, type BuildResult, type Metafile, type OutputFile } from 'esbuild'
import { callBuiltins } from './builtin-modules.ts'
import { thirdPartyNotices } from './notices.ts'

/**
 * How all code for Lambda is bundled: one ES module with the AWS SDK in it, which imports faster than the copy the
 * runtime has. Names are not shortened, since logs show those of functions and classes, and to name each one again
 * while the program runs takes longer than to read the longer text. The text is ASCII, for one other character makes
 * Node decode and compile all of it as UTF-16. esbuild escapes texts, but no regular expressions.
 */
const bundleOptions = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  minifySyntax: true,
  minifyWhitespace: true,
  mainFields: ['module', 'main'],
  // An optional peer of pg, looked for and done without.
  external: ['pg-native'],
  // CommonJS packages call `require`, which ES modules do not have.
  banner: {
    js: `const require=(name)=>globalThis.process.getBuiltinModule(name)??globalThis.process.getBuiltinModule('module').createRequire(import.meta.url)(name);`,
  },
  logLevel: 'silent',
} as const satisfies BuildOptions

/** Bundles a module given by its text, for running it here. Throws what esbuild found wrong. */
export function bundleText(text: string, directory: string): string {
  const built = buildSync({
    ...bundleOptions,
    stdin: { contents: text, resolveDir: directory, loader: 'ts' },
    write: false,
  })
  return built.outputFiles[0]?.text ?? ''
}

/**
 * Of RE2 only `RE2JS.compile` is used, when a pattern is first asked for, and most starts of a function ask for none.
 * It is a fifth of the bundle of `reconcile`, and so it has a file of its own, which is read then. Since patterns are
 * compiled within a validation, which does not wait, it comes by a `require`.
 */
const lateRe2 = 're2js.cjs'

function writeCallOfRe2(scratch: string): string {
  const file = join(scratch, callOfRe2)
  const compile = `(...args) => require('./${lateRe2}').RE2JS.compile(...args)`
  writeFileSync(file, `export const RE2JS = { compile: ${compile} }\n`)
  return file
}

const callOfRe2 = 'call-of-re2.mjs'

/**
 * Beside a bundle that calls it, and as the module that imports it finds it: the packages of an app need not see each
 * other's. Gives the files that are in it.
 */
function writeRe2(directory: string, importer: string): readonly string[] {
  const { metafile } = buildSync({
    ...bundleOptions,
    format: 'cjs',
    banner: {},
    metafile: true,
    stdin: { contents: `export { RE2JS } from 're2js'`, resolveDir: dirname(importer) },
    outfile: join(directory, lateRe2),
  })
  return Object.keys(metafile.inputs)
}

/** The files of a build that import one of this name. */
function findImporters({ inputs }: Metafile, name: string): readonly string[] {
  return Object.entries(inputs).flatMap(([file, { imports }]) =>
    imports.some(({ path }) => path.endsWith(name)) ? [file] : [],
  )
}

/**
 * A build in which RE2 comes late, and who asks for it. A reconciler that imports RE2 may want more of it than the
 * framework does: then it is in the bundle as it is.
 */
function buildWithLateRe2(
  build: (alias: Readonly<Record<string, string>>) => Built,
  scratch: string,
): Built & { readonly importer?: string | undefined } {
  const late = tryBuild(() => build({ re2js: writeCallOfRe2(scratch) }))
  const [importer, ...others] = late === undefined ? [] : findImporters(late.metafile, callOfRe2)
  return late === undefined || others.length > 0 ? build({}) : { ...late, importer }
}

type Built = BuildResult<{ metafile: true; write: false }>

/** Undefined where something is imported that only the whole of RE2 has. */
function tryBuild(build: () => Built): Built | undefined {
  try {
    return build()
  } catch (error) {
    if (String(error).includes(callOfRe2)) return undefined
    throw error
  }
}

/** Modules that most functions do without. */
export interface BundleParts {
  readonly tracing?: string | undefined
  readonly vault?: string | undefined
}

/**
 * Writes `index.mjs` with the exports of `entry`, and the parts that it imports at once or with their first use. The
 * text stands in the place of the module `#reconcilers`, and the files, if they are given, in those of `#tracing` and
 * `#vault`. Beside them are the licences of what is in them.
 */
export function writeBundle(
  entry: string,
  reconcilers: string,
  directory: string,
  { tracing, vault }: BundleParts = {},
): void {
  const scratch = mkdtempSync(join(tmpdir(), 'setpoint-bundle-'))
  try {
    const module = join(scratch, 'reconcilers.mjs')
    writeFileSync(module, reconcilers)
    const none = join(scratch, 'none.mjs')
    writeFileSync(none, 'export const openAwsTraces = undefined, openAwsVault = undefined\n')
    const home = dirname(resolve(entry))
    const builtins = callBuiltins()
    const partMark = `part-${randomUUID()}-`
    const parts = { '#reconcilers': module, '#tracing': tracing ?? none, '#vault': vault ?? none }
    const build = (alias: Readonly<Record<string, string>>): Built =>
      buildSync({
        ...bundleOptions,
        // Texts name CommonJS modules by their paths from there.
        absWorkingDir: home,
        metafile: true,
        write: false,
        define: { SETPOINT_SCHEMAS_CHECKED: 'true' },
        // What is imported with its first use has a file of its own, which no start has to read.
        splitting: true,
        entryPoints: [{ in: resolve(entry), out: 'index' }],
        outdir: directory,
        outExtension: { '.js': '.mjs' },
        chunkNames: `${partMark}[hash]`,
        external: [...bundleOptions.external, ...builtins.options.external, `./${lateRe2}`],
        alias: { ...alias, ...parts, ...builtins.options.alias },
      })
    const { metafile, outputFiles, importer } = buildWithLateRe2(build, scratch)
    for (const [name, text] of namePartsInOrder(outputFiles, partMark))
      writeFileSync(join(directory, name), builtins.writeInto(text))
    const inputs = Object.keys(metafile.inputs).map((input) => resolve(home, input))
    const late = importer === undefined ? [] : writeRe2(directory, resolve(home, importer))
    writeFileSync(join(directory, 'THIRD-PARTY-NOTICES.txt'), thirdPartyNotices([...inputs, ...late]))
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

/**
 * The files under their names. esbuild names a part by the paths of what is in it, which differ from one build to the
 * next and from one machine to another. Here it gets a number, in the order in which parts are imported: so the same
 * code is the same bundle, and a deployment changes the functions only whose code has changed. No code can have the
 * mark in it by chance.
 */
function namePartsInOrder(files: readonly OutputFile[], mark: string): ReadonlyMap<string, string> {
  const partName = new RegExp(`${mark}[A-Z0-9]{8}`, 'g')
  const textOf = new Map(files.map(({ path, text }) => [basename(path, '.mjs'), text]))
  const numbered = new Map([['index', 'index']])
  // A map takes what is added while it is walked.
  for (const name of numbered.keys())
    for (const [part] of (textOf.get(name) ?? '').matchAll(partName))
      if (!numbered.has(part)) numbered.set(part, `part-${numbered.size}`)
  const rename = (text = ''): string => text.replace(partName, (part) => numbered.get(part) ?? part)
  return new Map([...numbered].map(([name, number]) => [`${number}.mjs`, rename(textOf.get(name))]))
}
